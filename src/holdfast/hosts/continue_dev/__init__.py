"""Continue (VS Code, JetBrains, `cn`): our MCP server in the user's `config.yaml`, path-scoped rules; no active hooks.

`cn` reads only `config.yaml`; the extensions also read block files under `mcpServers/`, which are used if there is no
`config.yaml` yet. `cn` has code for Claude Code's hooks that nothing calls (1.5.47), so none are registered.

Sources: `cn` 1.5.47 run with a mock model, docs.continue.dev on MCP and rules; 2026-11-22.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.programs import OUR_MARKS, SERVER_NAME, server_words
from holdfast.ports.host import ConfigEdit, Host, HostMarks, HostProfile, InstallPlan, OwnFile, RulesTarget


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter. Option `config_dir`: the value of CONTINUE_GLOBAL_DIR, instead of `~/.continue`."""
    return Continue(options.get("config_dir", ""))


class Continue(Adapter):
    """The adapter for Continue; implements `ports.host.Host`."""

    name = "continue-dev"
    folders = (".continue",)
    keeps_transcripts = True

    @property
    def profile(self) -> HostProfile:
        """What Continue can do and where."""
        return HostProfile(
            title="Continue",
            mcp="~/.continue/config.yaml",
            transcripts="~/.continue/sessions",
            grows_by_lines=False,
            transcript_files=(".continue/sessions/*.json",),
            transcript_marks=(('{"sessionId":"', '"workspaceDirectory":', '"history":['),),
            rules=(
                RulesTarget(
                    file=".continue/rules/holdfast-{slug}.md",
                    front_matter="---\nname: {description}\nglobs: {globs}\nalwaysApply: false\n---\n",
                    always="---\nname: {description}\nalwaysApply: true\n---\n",
                    globs="list",
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            notes=(
                "Continue has no hooks: lessons come through MCP tools (agent mode only) and `holdfast rules sync`; "
                "`holdfast backfill` learns from its sessions.",
            ),
            marks=HostMarks(folder="CONTINUE_GLOBAL_DIR", client_names=("continue-client",)),
            sources=("docs.continue.dev, MCP and rules, 2026-11-21",),
        )

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the server in the user's `config.yaml`, or else in a block file of our own (JSON is YAML too)."""
        check_scope(self.name, scope)
        program, *arguments = server_words(command, self.name)
        server = {"name": SERVER_NAME, "type": "stdio", "command": program, "args": arguments}
        root = self.root(home)
        config = os.path.join(root, "config.yaml")
        edit: ConfigEdit | OwnFile
        if os.path.exists(config):
            edit = ConfigEdit(file=config, path=("mcpServers",), value=server, **OUR_MARKS)
        else:
            block = {"name": SERVER_NAME, "version": "0.0.1", "schema": "v1", "mcpServers": [server]}
            file = os.path.join(root, "mcpServers", "holdfast.yaml")
            edit = OwnFile(file=file, text=json.dumps(block, indent=2) + "\n", **OUR_MARKS)
        return InstallPlan(host=self.name, scope=scope, edits=(edit,), notes=self.profile.notes)
