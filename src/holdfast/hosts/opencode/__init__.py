"""opencode: a plug-in file of ours in JavaScript, MCP server, rules.

The plug-in sends events in Claude Code's shape and reads `{"context": ...}`. Nothing can be delivered before a tool
runs, so a file's lessons come with the result of reading it. No event ends a session; an idle session ends a turn.

Its sessions are in `opencode.db`, those of older versions in JSON files.

Sources: opencode 1.18.34 run with a mock model, the types of its plug-in package 1.18.33; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import (
    VALUE_LIMIT,
    find_files,
    first_there,
    instant,
    open_foreign,
    parse_object,
    read_json,
    try_json,
)
from holdfast.hosts.sdk.hooks import plugin_file, render_context
from holdfast.hosts.sdk.payloads import PATCH_TOOL, fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, SERVER_NAME, server_words
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay
from holdfast.hosts.sdk.toolcalls import UNKNOWN_EXIT, exited
from holdfast.ports.host import ConfigEdit, Headless, Host, HostProfile, InstallPlan, RulesTarget

TOOLS = {
    "bash": "Bash", "read": "Read", "edit": "Edit", "write": "Write", "grep": "Grep", "glob": "Glob", "list": "LS",
    "todowrite": "TodoWrite", "patch": PATCH_TOOL,
}  # fmt: skip
FIELDS = (("file_path", "filePath"), ("old_string", "oldString"), ("new_string", "newString"), ("patch", "patchText"))

Part = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A message and one of its parts."""
DATABASE = "opencode.db"
PARTS = f"""
SELECT message.data, part.data FROM part JOIN message ON message.id = part.message_id
WHERE part.session_id = ? AND length(part.data) < {VALUE_LIMIT} ORDER BY message.time_created, message.id, part.id
"""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Opencode()


class Opencode(Adapter):
    """The adapter for opencode; implements `ports.host.Host`."""

    name = "opencode"
    folders = (".config/opencode", ".local/share/opencode", ".opencode")
    tells_end = False
    late = True

    @property
    def profile(self) -> HostProfile:
        """What opencode can do and where."""
        return HostProfile(
            title="opencode",
            headless=Headless(program="opencode", arguments=("run", "--pure", "{prompt}")),
            mcp="~/.config/opencode/opencode.json",
            hooks="~/.config/opencode/plugins/holdfast.js",
            moments=("session_start", "prompt", "before_file", "after_failure", "after_compaction"),
            transcripts="~/.local/share/opencode/opencode.db",
            grows_by_lines=False,
            transcript_files=("opencode.db", "storage/session/*/ses_*.json"),
            rules=(RulesTarget(file="AGENTS.md"),),
            reads=("CLAUDE.md",),
            notes=(
                "A file's lessons come when it has been read. Restart opencode: it loads plug-ins when it starts.",
                "With a plug-in, opencode installs npm packages beside its configuration at its next start. That start "
                "takes longer and needs the network; uninstall leaves those files, since they are opencode's.",
            ),
            sources=("the types of its plug-in package 1.18.33",),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of tools and arguments; a failed command becomes a failure."""
        translated = dict(fields_of(payload))
        tool = text_of(translated.get("tool_name"))
        translated["tool_name"] = TOOLS.get(tool, tool)
        arguments = dict(fields_of(translated.get("tool_input")))
        translated["tool_input"] = arguments | {name: arguments[own] for name, own in FIELDS if own in arguments}
        translated["prompt"] = without_quotes(text_of(translated.get("prompt")))
        answer = fields_of(translated.get("tool_response"))
        code = answer.get("exit")
        if tool == "bash" and code is None:
            translated["tool_response"] = {**answer, **UNKNOWN_EXIT}
        if tool == "bash" and isinstance(code, int) and code > 0:
            translated |= {
                "hook_event_name": "PostToolUseFailure",
                "error": exited(str(code), text_of(answer.get("stdout"))),
            }
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return what the plug-in reads."""
        return render_context(briefing)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the plug-in, a file of our own, and the server in the user's configuration."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".config", "opencode")
        config = first_there(tuple(os.path.join(root, name) for name in ("opencode.json", "opencode.jsonc")))
        server = {"type": "local", "command": server_words(command, self.name), "enabled": True, "timeout": 30_000}
        edits = (
            plugin_file(os.path.join(root, "plugins", "holdfast.js"), self.name, __file__, command),
            ConfigEdit(file=config, path=("mcp",), key=SERVER_NAME, value=server, **OUR_MARKS, comments=True),
        )
        return InstallPlan(host=self.name, scope=scope, edits=edits, notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return older versions' session files, and then the database."""
        root = os.path.join(home, ".local", "share", "opencode")
        old = find_files(os.path.join(root, "storage", "session"), (".json",))
        database = os.path.join(root, DATABASE)
        return [*old, database] if os.path.exists(database) else old

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield the events of a database's sessions, or of one session's file. Raises OSError or HostConfigError."""
        if not path.endswith(".json"):
            yield from _read_database(self, path, new_id)
            return
        about = fields_of(read_json(path))
        session = text_of(about.get("id"))
        storage = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        folder = text_of(about.get("directory"))
        if not folder:
            project = os.path.join(storage, "project", os.path.basename(os.path.dirname(path)) + ".json")
            folder = text_of(try_json(project).get("worktree"))
        telling = TranscriptReplay(self, session, new_id)
        telling.stand(at=instant(fields_of(about.get("time")).get("created")), cwd=folder)
        yield from _tell(telling, _parts_in_files(storage, session))


def without_quotes(prompt: str) -> str:
    """Return the user's words without the quotation marks that `opencode run` puts around an argument with blanks."""
    inside = prompt.strip()[1:-1]
    is_quoted = prompt.strip() == f'"{inside}"' and '"' not in inside.replace('\\"', "")
    return inside.replace('\\"', '"') if is_quoted and inside else prompt


def _read_database(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    with open_foreign(path) as opened:
        sessions = list(opened.rows("SELECT id, directory, time_created FROM session ORDER BY time_created, id"))
        for session, folder, created in sessions:
            telling = TranscriptReplay(host, session, new_id)
            telling.stand(at=instant(created), cwd=text_of(folder))
            rows = opened.rows(PARTS, session)
            yield from _tell(telling, ((parse_object(message), parse_object(part)) for message, part in rows))


def _parts_in_files(storage: str, session: str) -> Iterator[Part]:
    for file in sorted(find_files(os.path.join(storage, "message", session), (".json",))):
        message = try_json(file)
        for piece in sorted(find_files(os.path.join(storage, "part", text_of(message.get("id"))), (".json",))):
            yield message, try_json(piece)


def _tell(telling: TranscriptReplay, parts: Iterable[Part]) -> Iterator[Event]:
    """Yield the events; the agent's words of a turn are one reply, as the plug-in sends them when idle."""
    reply: list[str] = []
    for message, part in parts:
        by_user = message.get("role") == "user"
        if by_user and reply:
            yield from telling.reply("\n".join(reply))
            reply = []
        _stand(telling, message, part)
        if part.get("type") == "text" and not part.get("synthetic"):
            if by_user:
                yield from telling.prompt(without_quotes(text_of(part.get("text"))))
            else:
                reply.append(text_of(part.get("text")))
        elif part.get("type") == "tool":
            yield from _call(telling, part)
        elif part.get("type") == "compaction":
            yield from telling.compacted()
    yield from telling.reply("\n".join(reply))


def _stand(telling: TranscriptReplay, message: Mapping[str, Any], part: Mapping[str, Any]) -> None:
    model = message.get("model")
    times = fields_of(fields_of(part.get("state")).get("time")) or fields_of(part.get("time"))
    created = instant(fields_of(message.get("time")).get("created"))
    telling.stand(
        at=instant(times.get("end") or times.get("start")) or (created and max(created, telling.at)),
        cwd=text_of(fields_of(message.get("path")).get("cwd")),
        model=text_of(message.get("modelID")) or text_of(fields_of(model).get("modelID")) or text_of(model),
    )


def _call(telling: TranscriptReplay, part: Mapping[str, Any]) -> Iterator[Event]:
    state = fields_of(part.get("state"))
    status = state.get("status")
    if status not in ("completed", "error"):
        return
    code = fields_of(state.get("metadata")).get("exit")
    output = text_of(state.get("output"))
    response = {"stdout": output, "content": output, "exit": code}
    if code is None and part.get("tool") == "bash":
        response |= UNANSWERED
    error = (text_of(state.get("error")) or "failed") if status == "error" else ""
    arguments, use = fields_of(state.get("input")), text_of(part.get("callID"))
    yield from telling.call(text_of(part.get("tool")), arguments, response, use, error)
