"""Devin CLI, and Devin's local sessions in Devin Desktop: hooks in Claude Code's shape, MCP server, rules.

It also runs the hooks of Claude Code's settings; those stay silent in Devin. Hooks belong into its own configuration
file: paths in a plug-in's hooks are resolved against the project.

Sources: docs.devin.ai on hooks and MCP, several independent readers' reports; 2026-11-21. Not run here; the key of the
context that it takes is documented less surely than the rest.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.hooks import render_nested
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import hook_command, hook_edit, server_edit
from holdfast.hosts.sdk.toolcalls import with_usual_fields
from holdfast.ports.host import Host, HostMarks, HostProfile, InstallPlan, RulesTarget

TAKES_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"})
EVENTS = {"PostCompaction": "PreCompact"}
TOOLS = {"exec": "Bash", "edit": "Edit", "write": "Write", "read": "Read", "grep": "Grep", "glob": "Glob"}
HOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("SessionStart", "", {"timeout": 10}),
    ("UserPromptSubmit", "", {"timeout": 5}),
    ("PreToolUse", "exec|edit|write|read|grep|glob", {"timeout": 5}),
    ("PostToolUse", "", {"timeout": 5}),
    ("PostCompaction", "", {"timeout": 10}),
    ("Stop", "", {"timeout": 10}),
    ("SessionEnd", "", {"timeout": 5}),
)
"""Hook, matcher and handler's keys."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return DevinCli()


class DevinCli(Adapter):
    """The adapter for Devin CLI; implements `ports.host.Host`."""

    name = "devin-cli"
    folders = (".config/devin", ".local/share/devin")
    keeps_transcripts = True

    @property
    def profile(self) -> HostProfile:
        """What Devin CLI can do and where."""
        return HostProfile(
            title="Devin CLI",
            mcp="~/.config/devin/mcp_config.json",
            hooks="~/.config/devin/config.json",
            moments=("session_start", "prompt", "before_file", "before_command"),
            transcripts="~/.local/share/devin/cli/sessions.db",
            grows_by_lines=False,
            transcript_files=("devin*/sessions.db",),
            rules=(
                RulesTarget(
                    file=".devin/rules/holdfast-{slug}.md",
                    front_matter="---\ntrigger: glob\nglobs: {globs}\ndescription: {description}\n---\n",
                    always="---\ntrigger: always_on\ndescription: {description}\n---\n",
                    limit_chars=12_000,
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            reads=(".windsurf/rules/*.md",),
            marks=HostMarks(started="DEVIN_PROJECT_DIR", started_rank=4, client_names=("devin",)),
            sources=("docs.devin.ai, hooks and MCP, 2026-11-21", "not run"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of hooks and tools."""
        translated = dict(fields_of(payload))
        own, tool = text_of(translated.get("hook_event_name")), text_of(translated.get("tool_name"))
        translated["hook_event_name"] = EVENTS.get(own, own)
        translated["tool_name"] = TOOLS.get(tool, tool)
        translated["tool_input"] = with_usual_fields(fields_of(translated.get("tool_input")))
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's stdout."""
        return render_nested(call, briefing, TAKES_CONTEXT)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits of the user's two files."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".config", "devin")
        command_line = hook_command(command, self.name)
        edits = [hook_edit(os.path.join(root, "config.json"), command_line, hook) for hook in HOOKS]
        edits.append(server_edit(os.path.join(root, "mcp_config.json"), command, self.name))
        return InstallPlan(host=self.name, scope=scope, edits=tuple(edits), notes=self.profile.notes)
