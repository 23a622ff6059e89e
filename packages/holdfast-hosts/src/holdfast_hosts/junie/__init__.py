"""Junie, JetBrains' agent in the IDE and on the command line: hooks, MCP server, guidelines.

A hook's output reaches the model as plain text, on a prompt and before a tool. Any output of a Stop hook would keep the
task from ending, so silence is no output. The payload's `cwd` is Junie's own folder, `project_path` the project.

Sources: junie.jetbrains.com/docs/junie-cli-hooks.html, a third party's measurements of 3110.7; 2026-11-21. Not run
here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.payloads import fields_of
from holdfast.hosts.sdk.programs import hook_command, hook_edit, server_edit
from holdfast.ports.host import Host, HostMarks, HostProfile, InstallPlan, RulesTarget
from holdfast_hosts._plain import render_plain

GUIDELINES = (".junie/AGENTS.md", "AGENTS.md", ".junie/guidelines.md")
"""Junie reads the first of these that exists."""
TAKES_TEXT = frozenset({"UserPromptSubmit", "PreToolUse"})
HOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("SessionStart", "", {"timeout": 10}),
    ("UserPromptSubmit", "", {"timeout": 5}),
    ("PreToolUse", "Bash|Read|Edit|Write", {"timeout": 5}),
    ("Stop", "", {"timeout": 10}),
    ("SessionEnd", "", {"timeout": 5}),
)
"""Hook, matcher and handler's keys; there is none after a tool or before a compaction."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter. Option `config_dir`: the value of JUNIE_HOME, instead of `~/.junie`."""
    return Junie(options.get("config_dir", ""))


class Junie(Adapter):
    """The adapter for Junie; implements `ports.host.Host`."""

    name = "junie"
    folders = (".junie",)
    keeps_transcripts = True

    @property
    def profile(self) -> HostProfile:
        """What Junie can do and where."""
        return HostProfile(
            title="JetBrains Junie",
            mcp="~/.junie/mcp/mcp.json",
            hooks="~/.junie/config.json",
            moments=("prompt", "before_file", "before_command"),
            transcripts="~/.junie/sessions",
            grows_by_lines=False,
            transcript_files=(".junie/sessions/*/events.jsonl",),
            transcript_marks=(('{"kind":"UserPromptEvent"', '"prompt":'),),
            rules=(RulesTarget(file=".junie/guidelines.md", first_of=GUIDELINES),),
            notes=("Junie's hooks get no results of tools: failures are read from its transcripts.",),
            marks=HostMarks(folder="JUNIE_HOME"),
            sources=("junie.jetbrains.com/docs/junie-cli-hooks.html, 2026-11-21", "not run"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with the project's folder."""
        translated = dict(fields_of(payload))
        return translated | {"cwd": translated.get("project_path") or translated.get("cwd")}

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the briefing's text, or a blank line."""
        return render_plain(call, briefing, TAKES_TEXT)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits of the user's two files."""
        check_scope(self.name, scope)
        root = self.root(home)
        command_line = hook_command(command, self.name, "--plain")
        edits = [hook_edit(os.path.join(root, "config.json"), command_line, hook) for hook in HOOKS]
        edits.append(server_edit(os.path.join(root, "mcp", "mcp.json"), command, self.name))
        return InstallPlan(host=self.name, scope=scope, edits=tuple(edits), notes=self.profile.notes)
