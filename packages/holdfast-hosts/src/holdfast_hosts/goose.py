"""Goose: an MCP extension in its YAML configuration, hooks that only listen, rules.

Hooks come as an Open Plugins folder. Their output never reaches the model, so lessons come through the MCP server and
the rules files. Tool hooks carry no output.

Sources: goose's documentation on hooks and extensions, measured reports of others on 1.46 to 1.49; 2026-11-21. Not run
here.

Turns Goose's sessions into events: the database `sessions.db`.

Sources: the public repository of Goose, session storage and message content; others' readers; 2026-11-21. Not run here.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast._version import __version__
from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import VALUE_LIMIT, instant, open_foreign, settings_folder
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, SERVER_NAME, hook_command, server_words
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields
from holdfast.lean.texts import loads
from holdfast.ports.host import ConfigEdit, Host, HostProfile, InstallPlan, OwnFile, RulesTarget

HOOKS = (
    ("SessionStart", 10), ("UserPromptSubmit", 5), ("PostToolUse", 5), ("PostToolUseFailure", 5), ("Stop", 10),
    ("SessionEnd", 5),
)  # fmt: skip
"""Hook and seconds. Without a matcher a hook receives every tool; `*` would be invalid."""
SHELLS = frozenset({"developer__shell", "shell"})
EDITORS = frozenset({"developer__text_editor", "text_editor"})
COMMANDS = {"view": "Read", "write": "Write", "create": "Write", "str_replace": "Edit"}
"""Commands of the text editor, in Claude Code's tools."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Goose()


class Goose(Adapter):
    """The adapter for Goose; implements `ports.host.Host`."""

    name = "goose"

    @property
    def profile(self) -> HostProfile:
        """What Goose can do and where."""
        return HostProfile(
            title="Goose",
            mcp="~/.config/goose/config.yaml",
            hooks="~/.agents/plugins/holdfast/hooks/hooks.json",
            transcripts="~/.local/share/goose/sessions/sessions.db",
            grows_by_lines=False,
            transcript_files=("goose*sessions/sessions.db",),
            rules=(RulesTarget(file="AGENTS.md"),),
            notes=("Goose's hooks only listen: lessons come through the MCP tools and `holdfast rules sync`.",),
            sources=("goose's documentation, hooks and config files, 2026-11-21", "not run"),
        )

    def find(self, home: str) -> str:
        """Return its configuration folder, or an empty string."""
        folder = os.path.dirname(_config(home))
        return folder if os.path.isdir(folder) else ""

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of fields and tools."""
        translated = dict(fields_of(payload))
        translated["hook_event_name"] = translated.get("event")
        translated["cwd"] = translated.get("working_dir")
        translated["prompt"] = translated.get("message")
        translated["tool_use_id"] = translated.get("tool_call_id")
        arguments = with_usual_fields(fields_of(translated.get("tool_input")))
        tool = text_of(translated.get("tool_name"))
        if tool in EDITORS:
            tool = COMMANDS.get(text_of(arguments.pop("command", "")), tool)
        return translated | {"tool_input": arguments, "tool_name": "Bash" if tool in SHELLS else tool}

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return an empty object, which cannot be read as a decision."""
        return "{}"

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the extension in the user's file, and a plug-in folder of our own."""
        check_scope(self.name, scope)
        program, *arguments = server_words(command, self.name)
        extension = {
            "enabled": True, "type": "stdio", "name": SERVER_NAME, "description": "Memory of this project",
            "cmd": program, "args": arguments, "envs": {}, "env_keys": [], "timeout": 300,
        }  # fmt: skip
        root = os.path.join(home, ".agents", "plugins", "holdfast")
        edits = (
            ConfigEdit(file=_config(home), path=("extensions",), key=SERVER_NAME, value=extension, **OUR_MARKS),
            OwnFile(file=os.path.join(root, "plugin.json"), text=_manifest(), ours='"name": "holdfast"'),
            OwnFile(
                file=os.path.join(root, "hooks", "hooks.json"),
                text=_hooks(hook_command(command, self.name)),
                **OUR_MARKS,
            ),
        )
        return InstallPlan(host=self.name, scope=scope, edits=edits, notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the database if it exists; on macOS too it is in `~/.local/share`."""
        if sys.platform == "win32":
            root = os.path.join(settings_folder(home), "Block", "goose", "data")
        else:
            root = os.path.join(home, ".local", "share", "goose")
        path = os.path.join(root, "sessions", "sessions.db")
        return [path] if os.path.exists(path) else []

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of all sessions. Raises OSError or HostConfigError."""
        with open_foreign(path) as opened:
            sessions = list(opened.rows("SELECT id, working_dir, created_at FROM sessions ORDER BY created_at, id"))
            for session, folder, created in sessions:
                telling = TranscriptReplay(
                    self, str(session), new_id, lambda payload: self.translate(_as_hook(payload))
                )
                telling.stand(at=instant(created), cwd=text_of(folder))
                rows = opened.rows(
                    "SELECT role, content_json, created_timestamp FROM messages"
                    f" WHERE session_id = ? AND length(content_json) < {VALUE_LIMIT} ORDER BY created_timestamp, id",
                    session,
                )
                for role, content, at in rows:
                    telling.stand(at=instant(at))
                    yield from _message(telling, role, _parts(content))


def _config(home: str) -> str:
    if sys.platform == "win32":
        return os.path.join(settings_folder(home), "Block", "goose", "config", "config.yaml")
    return os.path.join(home, ".config", "goose", "config.yaml")


def _manifest() -> str:
    manifest = {"name": "holdfast", "version": __version__, "description": "Holdfast listens to sessions"}
    return json.dumps(manifest, indent=2) + "\n"


def _hooks(command: str) -> str:
    hooks = {name: [{"hooks": [{"type": "command", "command": command, "timeout": s}]}] for name, s in HOOKS}
    return json.dumps({"hooks": hooks}, indent=2) + "\n"


def _as_hook(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the call in the form of Goose's hooks; its developer tools have names without the extension."""
    name = text_of(payload["tool_name"])
    named = {"event": payload["hook_event_name"], "tool_name": name, "tool_call_id": payload["tool_use_id"]}
    return {**payload, **named}


def _parts(content: object) -> list[Mapping[str, Any]]:
    try:
        parts = loads(text_of(content))
    except (InvalidValueError, RecursionError):
        return []
    return [fields_of(part) for part in parts] if isinstance(parts, list) else []


def _message(telling: TranscriptReplay, role: object, parts: list[Mapping[str, Any]]) -> Iterator[Event]:
    text = "\n".join(text_of(part.get("text")) for part in parts if part.get("type") == "text")
    if role == "user":
        yield from telling.prompt(text)
    elif role == "assistant":
        yield from telling.reply(text)
    for part in parts:
        if part.get("type") == "toolRequest":
            call = fields_of(part.get("toolCall"))
            call = fields_of(call.get("value")) or call
            telling.open(text_of(part.get("id")), text_of(call.get("name")), call.get("arguments"))
        elif part.get("type") == "toolResponse":
            yield from _answered(telling, text_of(part.get("id")), fields_of(part.get("toolResult")))


def _answered(telling: TranscriptReplay, use: str, result: Mapping[str, Any]) -> Iterator[Event]:
    value = result.get("value", result)
    output = response_text(value)
    failed = result.get("status") == "error" or fields_of(value).get("isError") is True
    error = (text_of(result.get("error")) or output or "failed") if failed else ""
    # A shell's exit status is not reported, and a call that is marked as done may have failed.
    yield from telling.close(use, {"stdout": output, "content": output, **UNANSWERED}, error)
