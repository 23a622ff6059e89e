"""Kiro, IDE and CLI: hooks in a file of our own, MCP server, steering files.

A hook's output reaches the agent as plain text, at a session's start and on a prompt only, so silence is no output.
Sources: kiro.dev/docs on hooks, MCP and steering; measured reports of others on IDE 1.2 and CLI 3; 2026-11-21. Not run.

Turns Kiro's sessions into events, of its command line (`~/.kiro/sessions/cli`) and of the editor.

Neither has the results of tools. Sources: others' measured notes of September 2026; 2026-11-21.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import find_files, instant, read_lines, try_json, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, hook_command, server_edit
from holdfast.hosts.sdk.replay import TranscriptReplay
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields
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

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return sessions of both."""
        return find_files(os.path.join(home, ".kiro", "sessions"), (".jsonl",))

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a session. Raises OSError."""
        in_editor = os.path.basename(path) == "messages.jsonl"
        folder = os.path.dirname(path)
        header = os.path.join(folder, "session.json") if in_editor else path.removesuffix(".jsonl") + ".json"
        about = try_json(header)
        name = os.path.basename(folder).removeprefix("sess_") if in_editor else os.path.basename(header)
        telling = TranscriptReplay(self, text_of(about.get("id")) or name.removesuffix(".json"), new_id)
        telling.stand(at=written_at(path), cwd=_folder(about))
        yield from _tell(telling, read_lines(path))


def _folder(about: Mapping[str, Any]) -> str:
    folders = about.get("workspacePaths")
    first = text_of(folders[0]) if isinstance(folders, list) and folders else ""
    return first or text_of(about.get("directory")) or text_of(about.get("cwd"))


def _tell(telling: TranscriptReplay, lines: Iterator[Mapping[str, Any]]) -> Iterator[Event]:
    """Yield the events; pieces of the agent's words with one id are one reply."""
    reply, of = "", ""
    for entry in lines:
        by, words, at, name = _said(entry)
        if reply and (by != "assistant" or name != of or not name):
            yield from telling.reply(reply)
            reply = ""
        telling.stand(at=at)
        if by == "user":
            yield from telling.prompt(words)
        elif by == "assistant":
            reply, of = reply + words, name
    yield from telling.reply(reply)


def _said(entry: Mapping[str, Any]) -> tuple[str, str, Any, str]:
    """Return the speaker, the words, the time and the message's id; no speaker for other lines."""
    fields = fields_of(entry.get("data"))
    kind = text_of(entry.get("kind"))
    if kind in ("Prompt", "AssistantMessage"):
        parts = fields.get("content")
        words = "".join(text_of(fields_of(part).get("data")) for part in parts) if isinstance(parts, list) else ""
        at = instant(fields_of(fields.get("meta")).get("timestamp"))
        return ("user" if kind == "Prompt" else "assistant"), words, at, text_of(fields.get("message_id"))
    fields = fields_of(entry.get("payload")) or entry
    role = text_of(fields.get("type")) or text_of(fields.get("role"))
    by = {"user": "user", "prompt": "user", "human": "user", "assistant": "assistant", "agent": "assistant"}.get(
        role, ""
    )
    return by, response_text(fields.get("content")), instant(entry.get("timestamp")), ""
