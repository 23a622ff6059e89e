"""Kiro, IDE and CLI: hooks in a file of our own, MCP server, steering files.

A hook's output reaches the agent as plain text, at a session's start and on a prompt only, so silence is no output.
Sources: kiro.dev/docs on hooks, MCP and steering; measured reports of others on IDE 1.2 and CLI 3; 2026-11-21. Not run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, hook_command, server_edit
from holdfast.hosts.sdk.toolcalls import with_usual_fields
from holdfast.ports.host import Host, HostProfile, InstallPlan, OwnFile, RulesTarget
from holdfast_hosts._plain import render_plain

TAKES_TEXT = frozenset({"SessionStart", "UserPromptSubmit"})
TOOLS = {
    "execute_bash": "Bash", "execute_cmd": "Bash", "shell": "Bash", "fs_read": "Read", "read": "Read",
    "fs_write": "Write", "write": "Write", "str_replace": "Edit",
}  # fmt: skip
TRIGGERS = (("SessionStart", "", 10), ("UserPromptSubmit", "", 5), ("PostToolUse", ".*", 5), ("Stop", "", 10))
"""Trigger, matcher, seconds. There is no trigger before a compaction or at a session's end."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Kiro()


class Kiro(Adapter):
    """The adapter for Kiro; implements `ports.host.Host`."""

    name = "kiro"
    folders = (".kiro",)
    keeps_transcripts = True
    tells_end = False

    @property
    def profile(self) -> HostProfile:
        """What Kiro can do and where."""
        return HostProfile(
            title="Kiro",
            mcp="~/.kiro/settings/mcp.json",
            hooks="~/.kiro/hooks/holdfast.json",
            moments=("session_start", "prompt"),
            transcripts="~/.kiro/sessions",
            grows_by_lines=False,
            transcript_files=(".kiro/sessions/*.jsonl",),
            rules=(
                RulesTarget(
                    file=".kiro/steering/holdfast-{slug}.md",
                    front_matter="---\ninclusion: fileMatch\nfileMatchPattern: {globs}\n---\n",
                    always="---\ninclusion: always\n---\n",
                    globs="list",
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            notes=("Custom agents in .kiro/agents see the server only with includeMcpJson.",),
            sources=("kiro.dev/docs, hooks, MCP, steering, 2026-11-21", "not run"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of tools and their arguments."""
        translated = dict(fields_of(payload))
        tool = text_of(translated.get("tool_name"))
        arguments = with_usual_fields(fields_of(translated.get("tool_input")))
        tool = "Edit" if TOOLS.get(tool) == "Write" and "old_string" in arguments else TOOLS.get(tool, tool)
        return translated | {"tool_name": tool, "tool_input": arguments}

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the briefing's text, or a blank line."""
        return render_plain(call, briefing, TAKES_TEXT)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return a hooks file of our own, and the server in the user's file."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".kiro")
        action = {"type": "command", "command": hook_command(command, self.name, "--plain")}
        hooks = [
            {"name": f"holdfast-{trigger.lower()}", "trigger": trigger, **({"matcher": matcher} if matcher else {}),
             "action": action, "timeout": seconds}
            for trigger, matcher, seconds in TRIGGERS
        ]  # fmt: skip
        text = json.dumps({"version": "v1", "hooks": hooks}, indent=2) + "\n"
        own = OwnFile(file=os.path.join(root, "hooks", "holdfast.json"), text=text, **OUR_MARKS)
        edits = (own, server_edit(os.path.join(root, "settings", "mcp.json"), command, self.name))
        return InstallPlan(host=self.name, scope=scope, edits=edits, notes=self.profile.notes)
