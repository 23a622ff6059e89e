"""Turns Goose's sessions into events: the database `sessions.db`.

Sources: the public repository of Goose, session storage and message content; others' readers; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import VALUE_LIMIT, instant, open_foreign, settings_folder
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay
from holdfast.hosts.sdk.toolcalls import response_text
from holdfast.lean.texts import loads


def find(host: Adapter, home: str) -> list[str]:
    """Return the database if it exists; on macOS too it is in `~/.local/share`."""
    if sys.platform == "win32":
        root = os.path.join(settings_folder(home), "Block", "goose", "data")
    else:
        root = os.path.join(home, ".local", "share", "goose")
    path = os.path.join(root, "sessions", "sessions.db")
    return [path] if os.path.exists(path) else []


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of all sessions. Raises OSError or HostConfigError."""
    with open_foreign(path) as opened:
        sessions = list(opened.rows("SELECT id, working_dir, created_at FROM sessions ORDER BY created_at, id"))
        for session, folder, created in sessions:
            telling = TranscriptReplay(host, str(session), new_id, lambda payload: host.translate(_as_hook(payload)))
            telling.stand(at=instant(created), cwd=text_of(folder))
            rows = opened.rows(
                "SELECT role, content_json, created_timestamp FROM messages"
                f" WHERE session_id = ? AND length(content_json) < {VALUE_LIMIT} ORDER BY created_timestamp, id",
                session,
            )
            for role, content, at in rows:
                telling.stand(at=instant(at))
                yield from _message(telling, role, _parts(content))


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
