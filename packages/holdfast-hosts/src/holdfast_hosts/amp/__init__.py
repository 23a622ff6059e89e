"""Amp: a plug-in file of ours in TypeScript, MCP server, rules.

The plug-in answers at a turn's start, and adds to a tool's result. Amp reports neither compactions nor a session's end,
and keeps its threads on its server.

Sources: the Amp CLI of November 2026 (`amp plugins show-docs`, `amp mcp add` run); 2026-11-21. The plug-in was run with
a stand-in for Amp's interface, not in Amp.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.hooks import plugin_file, render_context
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import server_edit
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields
from holdfast.ports.host import Host, HostProfile, InstallPlan, RulesTarget

TOOLS = {"edit_file": "Edit", "create_file": "Write", "shell_command": "Bash"}
FAILED = ("error", "failed")


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Amp()


class Amp(Adapter):
    """The adapter for Amp; implements `ports.host.Host`."""

    name = "amp"
    folders = (".config/amp", ".local/share/amp")
    keeps_transcripts = True
    tells_end = False
    late = True

    @property
    def profile(self) -> HostProfile:
        """What Amp can do and where."""
        return HostProfile(
            title="Amp",
            mcp="~/.config/amp/settings.json",
            hooks="~/.config/amp/plugins/holdfast.ts",
            transcripts="~/.local/share/amp/threads (builds before April 2026)",
            grows_by_lines=False,
            transcript_files=("amp/threads/*.json",),
            transcript_marks=(('"id":"T-', '"messages":[', '"env":{"initial":{'),),
            moments=("session_start", "prompt", "before_file", "after_failure"),
            rules=(RulesTarget(file="AGENTS.md"),),
            reads=("CLAUDE.md",),
            notes=("A file's lessons come when it has been read. Amp keeps its threads on its server.",),
            sources=("Amp CLI, November 2026: amp plugins show-docs, amp mcp add, 2026-11-21",),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of tools and arguments; a failed call becomes a failure."""
        translated = dict(fields_of(payload))
        tool = text_of(translated.get("tool_name"))
        translated["tool_name"] = TOOLS.get(tool, tool)
        arguments = with_usual_fields(fields_of(translated.get("tool_input")))
        translated["tool_input"] = arguments | ({"command": arguments["cmd"]} if "cmd" in arguments else {})
        if translated.get("status") in FAILED:
            translated |= {
                "hook_event_name": "PostToolUseFailure",
                "error": response_text(translated.get("tool_response")) or "failed",
            }
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return what the plug-in reads."""
        return render_context(briefing)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the plug-in, a file of our own, and the server in the user's settings."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".config", "amp")
        edits = (
            plugin_file(os.path.join(root, "plugins", "holdfast.ts"), self.name, __file__, command),
            server_edit(os.path.join(root, "settings.json"), command, self.name, ("amp.mcpServers",)),
        )
        return InstallPlan(host=self.name, scope=scope, edits=edits, notes=self.profile.notes)
