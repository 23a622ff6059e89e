"""Cursor, the editor and `cursor-agent`: hooks, MCP server, path-scoped rules.

The hooks file is read strictly: `version` and flat entries, only known events. The documentation promises context at a
session's start and after a tool; the program also takes it before a prompt and before a tool, so it is sent there too.
Output that is not JSON on a hook before a tool would block the tool. Cursor also runs the hooks of Claude Code's
settings; those stay silent in Cursor.

Sources: the bundle of @cursor/sdk 1.0.32, cursor.com/docs/hooks, measured reports of others; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.hooks import within_limit
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.lean.texts import dumps
from holdfast.ports.host import (
    ConfigEdit,
    Headless,
    Host,
    HostMarks,
    HostPackage,
    HostProfile,
    InstallPlan,
    RulesTarget,
)

TAKES_CONTEXT = frozenset({"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "postToolUseFailure"})
EVENTS = {
    "sessionStart": "SessionStart", "beforeSubmitPrompt": "UserPromptSubmit", "preToolUse": "PreToolUse",
    "postToolUse": "PostToolUse", "postToolUseFailure": "PostToolUseFailure", "afterFileEdit": "PostToolUse",
    "preCompact": "PreCompact", "afterAgentResponse": "SubagentStop", "stop": "Stop", "sessionEnd": "SessionEnd",
}  # fmt: skip
"""Its hooks in Claude Code's names. A reply differs from a turn's end, so it has a name that ends no turn."""

TOOLS = {"Shell": "Bash", "StrReplace": "Edit"}
HOOKS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sessionStart", {"timeout": 10}),
    ("beforeSubmitPrompt", {"timeout": 5}),
    ("preToolUse", {"matcher": "Read|Write|Grep|Shell", "timeout": 5}),
    ("postToolUse", {"matcher": "Read|Grep|Shell", "timeout": 5}),
    ("postToolUseFailure", {"timeout": 5}),
    ("afterFileEdit", {"timeout": 5}),
    ("preCompact", {"timeout": 10}),
    ("afterAgentResponse", {"timeout": 5}),
    ("stop", {"timeout": 10}),
    ("sessionEnd", {"timeout": 5}),
)
"""Hook and its entry's keys. `afterFileEdit` reports what an edit changed, so `postToolUse` leaves edits out."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Cursor()


class Cursor(Adapter):
    """The adapter for Cursor; implements `ports.host.Host`."""

    name = "cursor"
    folders = (".cursor",)
    keeps_transcripts = True

    @property
    def profile(self) -> HostProfile:
        """What Cursor can do and where."""
        return HostProfile(
            title="Cursor",
            headless=Headless(
                program="cursor-agent", arguments=("-p", "--output-format", "text", "--mode", "ask", "{prompt}")
            ),
            mcp="~/.cursor/mcp.json",
            hooks="~/.cursor/hooks.json",
            moments=("session_start", "prompt", "before_file", "before_command", "after_failure"),
            transcripts="~/.cursor/projects",
            grows_by_lines=False,
            transcript_files=("agent-transcripts/*.jsonl", "state.vscdb"),
            rules=(
                RulesTarget(
                    file=".cursor/rules/holdfast-{slug}.mdc",
                    front_matter="---\ndescription: {description}\nglobs: {globs}\nalwaysApply: false\n---\n",
                    always="---\ndescription: {description}\nglobs:\nalwaysApply: true\n---\n",
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            reads=("CLAUDE.md",),
            notes=("Approve the MCP server when Cursor asks. `cursor-agent -p` fires fewer hooks than the editor.",),
            marks=HostMarks(started="CURSOR_VERSION", started_rank=2),
            # Cursor goes on after any exit code except 2, and puts a here-document or a pipe around the command.
            package=HostPackage(
                layout="plugin", manifest=".cursor-plugin/plugin.json", hooks=HOOKS, hook_host="cursor", flat=True
            ),
            sources=("@cursor/sdk 1.0.32, 2026-11-21", "cursor.com/docs/hooks, 2026-11-21", "not run"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of hooks, fields and tools."""
        translated = dict(fields_of(payload))
        own = text_of(translated.get("hook_event_name"))
        translated["hook_event_name"] = EVENTS.get(own, "-")
        translated["session_id"] = text_of(translated.get("conversation_id")) or translated.get("session_id")
        translated["cwd"] = text_of(translated.get("cwd")) or _first_folder(translated.get("workspace_roots"))
        translated["tool_name"] = TOOLS.get(text_of(translated.get("tool_name")), translated.get("tool_name"))
        arguments = dict(fields_of(translated.get("tool_input")))
        arguments.setdefault("file_path", arguments.get("path"))
        translated["tool_input"] = arguments
        translated["last_assistant_message"] = translated.get("text")
        if own == "postToolUse":
            output = text_of(translated.get("tool_output"))
            translated["tool_response"] = {"stdout": output, "content": output}
        elif own == "postToolUseFailure":
            translated["error"] = translated.get("error_message")
        elif own == "afterFileEdit":
            edited = {"file_path": translated.get("file_path"), "edits": translated.get("edits")}
            translated |= {"tool_name": "MultiEdit", "tool_input": edited}
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's stdout: `additional_context` if the hook takes it."""
        if not briefing.text or call.name not in TAKES_CONTEXT:
            return "{}"
        return dumps({"additional_context": within_limit(briefing.text)})

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits of the user's two files."""
        from holdfast.hosts.sdk.programs import OUR_MARKS, hook_command, server_edit

        check_scope(self.name, scope)
        file = os.path.join(home, ".cursor", "hooks.json")
        command_line = hook_command(command, self.name)
        edits = [
            ConfigEdit(file=file, path=("hooks", name), value={"command": command_line, **keys}, **OUR_MARKS)
            for name, keys in HOOKS
        ]
        edits.append(ConfigEdit(file=file, path=(), key="version", value=1, shared=True))
        edits.append(server_edit(os.path.join(home, ".cursor", "mcp.json"), command, self.name))
        return InstallPlan(host=self.name, scope=scope, edits=tuple(edits), notes=self.profile.notes)


def _first_folder(folders: object) -> str:
    return text_of(folders[0]) if isinstance(folders, list) and folders else ""
