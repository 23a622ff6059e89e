"""Turns opencode's sessions into events: `opencode.db`, and the JSON files of its older versions.

Sources: opencode 1.18.34 run with a mock model, 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.opencode import without_quotes
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.database import VALUE_LIMIT, open_foreign
from holdfast.hosts.sdk.files import find_files, instant, parse_object, read_json, try_json
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay

Part = tuple[Mapping[str, Any], Mapping[str, Any]]
"""A message and one of its parts."""

DATABASE = "opencode.db"
PARTS = f"""
SELECT message.data, part.data FROM part JOIN message ON message.id = part.message_id
WHERE part.session_id = ? AND length(part.data) < {VALUE_LIMIT} ORDER BY message.time_created, message.id, part.id
"""


def find(host: Adapter, home: str) -> list[str]:
    """Return older versions' session files, and then the database."""
    root = os.path.join(home, ".local", "share", "opencode")
    old = find_files(os.path.join(root, "storage", "session"), (".json",))
    database = os.path.join(root, DATABASE)
    return [*old, database] if os.path.exists(database) else old


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield the events of a database's sessions, or of one session's file. Raises OSError or HostConfigError."""
    if not path.endswith(".json"):
        yield from _read_database(host, path, new_id)
        return
    about = fields_of(read_json(path))
    session = text_of(about.get("id"))
    storage = os.path.dirname(os.path.dirname(os.path.dirname(path)))
    folder = text_of(about.get("directory"))
    if not folder:
        project = os.path.join(storage, "project", os.path.basename(os.path.dirname(path)) + ".json")
        folder = text_of(try_json(project).get("worktree"))
    telling = TranscriptReplay(host, session, new_id)
    telling.stand(at=instant(fields_of(about.get("time")).get("created")), cwd=folder)
    yield from _tell(telling, _parts_in_files(storage, session))


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
