"""Turns Cursor's conversations into events: agent transcripts in `~/.cursor/projects`, the editor's `state.vscdb`.

A transcript's lines have no times, folders or results. A person's words may begin with a time; the folder is found by
the project's name, which is its path with dashes. The editor's database has results and most times. Sources: the bundle
of @cursor/sdk 1.0.32 for names and folders, others' readers for both forms; 2026-11-21.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from holdfast.domain.event import Event
from holdfast.errors import HostConfigError
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.database import VALUE_LIMIT, ForeignDatabase, open_foreign
from holdfast.hosts.sdk.files import (
    find_files,
    instant,
    parse_object,
    path_of_uri,
    read_lines,
    try_json,
    written_at,
)
from holdfast.hosts.sdk.folders import settings_folder
from holdfast.hosts.sdk.messages import arguments_of, blocks_of
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, failure
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields

DATABASE = "state.vscdb"
TOOLS = {
    "Shell": "Bash", "StrReplace": "Edit", "run_terminal_cmd": "Bash", "run_terminal_command_v2": "Bash",
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


def find(host: Adapter, home: str) -> list[str]:
    """Return the editor's database, which knows most, and then the transcripts of agents."""
    database = os.path.join(settings_folder(home), "Cursor", "User", "globalStorage", DATABASE)
    projects = os.path.join(home, ".cursor", "projects")
    transcripts = [path for path in find_files(projects, (".jsonl",), ("subagents",)) if "agent-transcripts" in path]
    return [database, *transcripts] if os.path.exists(database) else transcripts


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield the events of a transcript, or of all conversations of a database. Raises OSError or HostConfigError."""
    if path.endswith(".jsonl"):
        return _read_lines(host, path, new_id)
    return _read_database(host, path, new_id)


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
