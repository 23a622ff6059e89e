"""GitHub Copilot CLI, and Copilot's sessions in VS Code: hooks, MCP server, instructions.

Hooks are registered by their capitalised names, which makes the payload Claude Code's except for the arguments of
tools. Context is at the top of the answer; before a tool it is nested. An error would deny the tool, so the hook always
ends successfully. Context over 10 KB an event is dropped.

Its sessions are `~/.copilot/session-state/<id>/events.jsonl`.

Sources: Copilot CLI 1.0.102 run with a mock model, docs.github.com's hooks reference; 2026-11-21.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.copilotevents import RULES, as_hook, tell_events
from holdfast.hosts.sdk.files import find_files
from holdfast.hosts.sdk.hooks import render_nested, within_limit
from holdfast.hosts.sdk.payloads import PATCH_TOOL, fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, hook_command, server_edit
from holdfast.hosts.sdk.replay import TranscriptReplay
from holdfast.hosts.sdk.toolcalls import UNKNOWN_EXIT, exited, with_usual_fields, without_exit_line
from holdfast.lean.texts import dumps
from holdfast.ports.host import Headless, Host, HostMarks, HostProfile, InstallPlan, OwnFile

TAKES_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStart"})
NESTED = frozenset({"PreToolUse"})
CONTEXT_LIMIT = 9_000
"""Bytes of a briefing that are handed over: whole lines."""
TOOLS = {"bash": "Bash", "view": "Read", "create": "Write", "edit": "Edit", "grep": "Grep", "glob": "Glob"}
"""Its own names of tools, which some versions send to capitalised hooks too."""
HOOKS: tuple[tuple[str, str, int], ...] = (
    ("SessionStart", "", 10),
    ("UserPromptSubmit", "", 5),
    ("PreToolUse", "Read|Edit|Write|Bash|Grep|Glob|view|create|edit|bash|grep|glob|apply_patch", 5),
    ("PostToolUse", "", 5),
    ("PostToolUseFailure", "", 5),
    ("SubagentStart", "", 5),
    ("PreCompact", "", 10),
    ("Stop", "", 10),
    ("SessionEnd", "", 5),
)
"""Hook, matcher, seconds."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter. Option `config_dir`: the value of COPILOT_HOME, instead of `~/.copilot`."""
    return CopilotCli(options.get("config_dir", ""))


class CopilotCli(Adapter):
    """The adapter for GitHub Copilot CLI; implements `ports.host.Host`."""

    name = "copilot-cli"
    folders = (".copilot",)

    @property
    def profile(self) -> HostProfile:
        """What Copilot CLI can do and where."""
        return HostProfile(
            title="GitHub Copilot CLI",
            headless=Headless(
                program="copilot",
                arguments=(
                    "-s",
                    "--no-custom-instructions",
                    "--no-ask-user",
                    "--disable-builtin-mcps",
                    "--no-color",
                    "--disable-mcp-server",
                    "holdfast",
                    "--available-tools",
                    "none",
                    "-p",
                    "{prompt}",
                ),
            ),
            mcp="~/.copilot/mcp-config.json",
            hooks="~/.copilot/hooks/holdfast.json",
            moments=("session_start", "prompt", "before_file", "before_command", "after_failure"),
            transcripts="~/.copilot/session-state",
            transcript_files=("session-state/*/events.jsonl",),
            transcript_marks=(('"type":"session.start"', '"producer":"copilot-agent"', '"context":{"cwd":'),),
            rules=RULES,
            reads=("CLAUDE.md", "GEMINI.md", ".claude/rules/*.md"),
            notes=("Copilot's cloud agent reads neither file: it takes hooks from .github/hooks only.",),
            marks=HostMarks(
                started="COPILOT_CLI", started_rank=1, folder="COPILOT_HOME", client_names=("github-copilot",)
            ),
            context_file=".github/copilot-instructions.md",
            sources=("docs.github.com, hooks reference, 2026-11-21",),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of tools and their arguments."""
        translated = dict(fields_of(payload))
        tool = text_of(translated.get("tool_name"))
        translated["tool_name"] = tool = TOOLS.get(tool, tool)
        arguments = dict(fields_of(translated.get("tool_input")))
        if tool == PATCH_TOOL:
            patch = (
                text_of(translated.get("tool_input"))
                or text_of(arguments.get("input"))
                or text_of(arguments.get("patch"))
            )
            translated["tool_input"] = {"patch": patch}
        else:
            translated["tool_input"] = with_usual_fields(arguments)
        if "tool_result" in translated:
            translated |= _finished(
                tool, fields_of(translated["tool_result"]), text_of(translated.get("hook_event_name"))
            )
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's stdout: `additionalContext` at the top, or nested before a tool."""
        if call.name in NESTED or not briefing.text or call.name not in TAKES_CONTEXT:
            return render_nested(call, briefing, NESTED)
        limit = CONTEXT_LIMIT * len(briefing.text) // len(briefing.text.encode("utf-8", "replace"))
        return dumps({"additionalContext": within_limit(briefing.text, limit)})

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return a hooks file of our own, and the server in the user's file."""
        check_scope(self.name, scope)
        root = self.root(home)
        text = _hooks_file(hook_command(command, self.name))
        server = server_edit(os.path.join(root, "mcp-config.json"), command, self.name, type="local", tools=["*"])
        hooks = OwnFile(file=os.path.join(root, "hooks", "holdfast.json"), text=text, **OUR_MARKS)
        return InstallPlan(host=self.name, scope=scope, edits=(hooks, server), notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return sessions."""
        root = self.root(home)
        return find_files(os.path.join(root, "session-state"), ("/events.jsonl",))

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Return the events of a session's lines; without its first line, the session has its folder's name."""
        folder = os.path.basename(os.path.dirname(getattr(lines, "path", "")))
        return tell_events(TranscriptReplay(self, folder or session, new_id, as_hook(self.translate)), lines)


def _finished(tool: str, result: Mapping[str, Any], event: str) -> dict[str, Any]:
    """Return the result in Claude Code's shape; a command's exit code is in the last line of its text."""
    output = text_of(result.get("text_result_for_llm"))
    text, code = without_exit_line(output) if tool == "Bash" else (output, "")
    error = exited(code, text)
    if not error and result.get("result_type") in ("failure", "error"):
        error = text or "failed"
    if event == "PostToolUse" and error:
        return {"hook_event_name": "PostToolUseFailure", "error": error}
    unknown = UNKNOWN_EXIT if tool == "Bash" and not code else {}
    return {"tool_response": {"stdout": text, "content": text, **unknown}}


def _hooks_file(command: str) -> str:
    hooks = {
        name: [
            {"type": "command", **({"matcher": matcher} if matcher else {}), "command": command, "timeoutSec": seconds}
        ]
        for name, matcher, seconds in HOOKS
    }
    return json.dumps({"version": 1, "hooks": hooks}, indent=2) + "\n"
