"""Cursor, the editor and `cursor-agent`: hooks, MCP server, path-scoped rules.

The hooks file is read strictly: `version` and flat entries, only known events. The documentation promises context at a
session's start and after a tool; the program also takes it before a prompt and before a tool, so it is sent there too.
Output that is not JSON on a hook before a tool would block the tool. Cursor also runs the hooks of Claude Code's
settings; those stay silent in Cursor.

Its conversations are agent transcripts in `~/.cursor/projects`, and the editor's `state.vscdb`. A transcript's lines
have no times, folders or results. A person's words may begin with a time; the folder is found by the project's name,
which is its path with dashes. The editor's database has results and most times.

Sources: the bundle of @cursor/sdk 1.0.32, cursor.com/docs/hooks, measured reports and readers of others; 2026-11-21.
Not run here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.errors import HostConfigError
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import (
    VALUE_LIMIT,
    find_files,
    instant,
    open_foreign,
    parse_object,
    path_of_uri,
    read_lines,
    settings_folder,
    try_json,
    written_at,
)
from holdfast.hosts.sdk.hooks import within_limit
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, hook_command, server_edit
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, arguments_of, blocks_of, failure
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields
from holdfast.lean.texts import dumps
from holdfast.outside.sqlitefile import ForeignDatabase
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

DATABASE = "state.vscdb"
HOOK_TOOLS = {"Shell": "Bash", "StrReplace": "Edit"}
TOOLS = {
    **HOOK_TOOLS, "run_terminal_cmd": "Bash", "run_terminal_command_v2": "Bash",
    "edit_file": "Edit", "edit_file_v2": "Edit", "search_replace": "Edit", "write": "Write", "read_file": "Read",
    "read_file_v2": "Read", "grep": "Grep", "ripgrep": "Grep", "ripgrep_raw_search": "Grep", "glob_file_search": "Glob",
    "list_dir": "LS", "list_dir_v2": "LS",
}  # fmt: skip
FIELDS = (
    ("file_path", "target_file"), ("file_path", "relativeWorkspacePath"), ("file_path", "targetFile"),
    ("content", "contents"), ("pattern", "query"),
)  # fmt: skip
TIMESTAMP = re.compile(r"<timestamp>(?:\w+, )?(\w{3} \d{1,2}, \d{4}, \d{1,2}:\d{2} [AP]M) \(UTC([+-]\d+)?(?::(\d+))?\)")
DEPTH = 24


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Cursor()


class Cursor(Adapter):
    """The adapter for Cursor; implements `ports.host.Host`."""

    name = "cursor"
    folders = (".cursor",)

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
        translated["tool_name"] = HOOK_TOOLS.get(text_of(translated.get("tool_name")), translated.get("tool_name"))
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

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the editor's database, which knows most, and then the transcripts of agents."""
        database = os.path.join(settings_folder(home), "Cursor", "User", "globalStorage", DATABASE)
        projects = os.path.join(home, ".cursor", "projects")
        transcripts = [
            path for path in find_files(projects, (".jsonl",), ("subagents",)) if "agent-transcripts" in path
        ]
        return [database, *transcripts] if os.path.exists(database) else transcripts

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield the events of a transcript, or of a database's conversations. Raises OSError or HostConfigError."""
        if path.endswith(".jsonl"):
            return _read_lines(self, path, new_id)
        return _read_database(self, path, new_id)


def _first_folder(folders: object) -> str:
    return text_of(folders[0]) if isinstance(folders, list) and folders else ""


def _as_claude(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    arguments = with_usual_fields(fields_of(payload["tool_input"]))
    arguments |= {name: arguments[own] for name, own in FIELDS if own in arguments and name not in arguments}
    return {**payload, "tool_name": TOOLS.get(payload["tool_name"], payload["tool_name"]), "tool_input": arguments}


def _read_lines(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    telling = TranscriptReplay(host, os.path.basename(path).removesuffix(".jsonl"), new_id, _as_claude)
    slug = path.replace(os.sep, "/").partition("/agent-transcripts/")[0].rpartition("/")[2]
    telling.stand(at=written_at(path), cwd=folder_of_slug(slug))
    for entry in read_lines(path):
        message = fields_of(entry.get("message"))
        blocks = blocks_of(message.get("content"))
        texts = [text_of(block.get("text")) for block in blocks if block.get("type") == "text"]
        if entry.get("role") == "user":
            for text in texts:
                telling.stand(at=_time_in(text))
                yield from telling.prompt(text)
        elif entry.get("role") == "assistant":
            yield from telling.reply("\n".join(texts))
            for block in blocks:
                if block.get("type") == "tool_use":
                    arguments = fields_of(block.get("input"))
                    yield from telling.call(text_of(block.get("name")), arguments, UNANSWERED)


def _time_in(text: str) -> datetime | None:
    """Return the time at the beginning of a prompt, such as `Sunday, Jul 26, 2026, 1:06 PM (UTC+3)`."""
    match = TIMESTAMP.search(text[:200])
    if not match:
        return None
    try:
        at = datetime.strptime(match[1], "%b %d, %Y, %I:%M %p").replace(tzinfo=UTC)
    except ValueError:
        return None
    hours = int(match[2] or 0)
    return at - timedelta(hours=hours, minutes=int(match[3] or 0) * (-1 if hours < 0 else 1))


def folder_of_slug(slug: str, root: str = "") -> str:
    """Return the existing folder for a project's name: its path, with dashes for all except letters and digits.

    Empty if there is none; the first in order of names if there are several.
    """
    if root or os.name != "nt":
        return _descend(root or "/", slug, DEPTH)
    drive, _, rest = slug.partition("-")
    return _descend(f"{drive}:\\", rest, DEPTH) if len(drive) == 1 else ""


def _descend(folder: str, slug: str, depth: int) -> str:
    if not slug:
        return folder
    try:
        names = sorted(os.listdir(folder)) if depth else []
    except OSError:
        return ""
    for name in names:
        part = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
        path = os.path.join(folder, name)
        if part and (slug == part or slug.startswith(part + "-")) and os.path.isdir(path):
            match = _descend(path, slug[len(part) + 1 :], depth - 1)
            if match:
                return match
    return ""


def _read_database(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    folders = _folders(os.path.join(os.path.dirname(os.path.dirname(path)), "workspaceStorage"))
    with open_foreign(path) as opened:
        rows = opened.rows(
            "SELECT key, value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'"
            f" AND length(value) < {VALUE_LIMIT}"
        )
        for key, value in list(rows):
            composer = parse_object(value)
            session = key.partition(":")[2]
            telling = TranscriptReplay(host, session, new_id, _as_claude)
            folder = folders.get(session) or _own_folder(composer)
            telling.stand(at=instant(composer.get("createdAt")), cwd=folder)
            for bubble in _bubbles(opened, session, composer):
                yield from _bubble(telling, bubble)


def _bubbles(opened: ForeignDatabase, session: str, composer: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of a conversation in order, which it names or contains."""
    heads = composer.get("fullConversationHeadersOnly")
    for head in heads if isinstance(heads, list) else ():
        key = f"bubbleId:{session}:{text_of(fields_of(head).get('bubbleId'))}"
        for (value,) in opened.rows("SELECT value FROM cursorDiskKV WHERE key = ?", key):
            yield parse_object(value)
    whole = composer.get("conversation")
    yield from map(fields_of, whole if isinstance(whole, list) and not heads else ())


def _bubble(telling: TranscriptReplay, bubble: Mapping[str, Any]) -> Iterator[Event]:
    telling.stand(
        at=instant(bubble.get("createdAt")) or instant(fields_of(bubble.get("timingInfo")).get("clientStartTime"))
    )
    if bubble.get("type") == 1:
        yield from telling.prompt(text_of(bubble.get("text")))
    elif bubble.get("type") == 2:
        yield from telling.reply(text_of(bubble.get("text")))
        called = fields_of(bubble.get("toolFormerData"))
        if called.get("status") in ("completed", "error"):
            yield from _called(telling, called)


def _called(telling: TranscriptReplay, called: Mapping[str, Any]) -> Iterator[Event]:
    arguments = arguments_of(called.get("rawArgs")) or arguments_of(called.get("params"))
    result = arguments_of(called.get("result"))
    output = text_of(result.get("output")) or response_text(result) or text_of(called.get("result"))[:1_000]
    code = result.get("exitCodeV2", result.get("exitCode"))
    error = failure(code, output) or (output or "failed" if called.get("status") == "error" else "")
    response = {"stdout": output, "content": output, **({} if isinstance(code, int) else UNANSWERED)}
    use = text_of(called.get("toolCallId"))
    yield from telling.call(text_of(called.get("name")), arguments, response, use, error)


def _folders(storage: str) -> dict[str, str]:
    """Return the folder of each conversation that a workspace's own database lists."""
    folders: dict[str, str] = {}
    for file in find_files(storage, (f"/{DATABASE}",)):
        folder = path_of_uri(text_of(try_json(os.path.join(os.path.dirname(file), "workspace.json")).get("folder")))
        for session in _listed(file) if folder else ():
            folders[session] = folder
    return folders


def _listed(file: str) -> list[str]:
    try:
        with open_foreign(file) as opened:
            rows = list(opened.rows("SELECT value FROM ItemTable WHERE key = 'composer.composerData'"))
    except (OSError, HostConfigError):
        return []
    composers = parse_object(rows[0][0]).get("allComposers") if rows else None
    return [text_of(fields_of(entry).get("composerId")) for entry in composers] if isinstance(composers, list) else []


def _own_folder(composer: Mapping[str, Any]) -> str:
    """Return the folder that a conversation itself names."""
    uri = fields_of(fields_of(composer.get("workspaceIdentifier")).get("uri"))
    return text_of(uri.get("fsPath"))
