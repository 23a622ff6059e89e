"""Continue (VS Code, JetBrains, `cn`): our MCP server as a block file of its own, path-scoped rules; no active hooks.

A block file under `mcpServers/` is read beside the user's configuration, which stays untouched. `cn` carries an engine
for Claude Code's hooks that nothing calls (1.5.47), so none are registered.

Sources: docs.continue.dev on MCP and rules, `cn` 1.5.47 inspected; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os

from holdfast.hosts._shared.adapter import Adapter, check_scope
from holdfast.hosts._shared.programs import OUR_MARKS, SERVER_NAME, server_words
from holdfast.ports.host import HostProfile, InstallPlan, OwnFile, RulesTarget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.ports.host import Host


def make(options: Mapping[str, str]) -> Host:
    """The adapter. Option `config_dir`: what CONTINUE_GLOBAL_DIR names instead of `~/.continue`."""
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
            mcp="~/.continue/mcpServers/holdfast.yaml",
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
                "Continue has no hooks: lessons come through MCP tools (agent mode only) and `holdfast rules sync`.",
            ),
            sources=("docs.continue.dev, MCP and rules, 2026-11-21", "cn 1.5.47 inspected", "not run"),
        )

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """A block file of our own: YAML, of which JSON is a part."""
        import json

        check_scope(self.name, scope)
        program, *arguments = server_words(command, self.name)
        server = {"name": SERVER_NAME, "type": "stdio", "command": program, "args": arguments}
        block = {"name": SERVER_NAME, "version": "0.0.1", "schema": "v1", "mcpServers": [server]}
        root = self.root(home)
        file = os.path.join(root, "mcpServers", "holdfast.yaml")
        edit = OwnFile(file=file, text=json.dumps(block, indent=2) + "\n", **OUR_MARKS)
        return InstallPlan(host=self.name, scope=scope, edits=(edit,), notes=self.profile.notes)
