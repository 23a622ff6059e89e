"""Turns Gemini CLI's chats into events: `~/.gemini/tmp/<project>/chats/session-*.jsonl`, older ones `.json`.

A line may set fields of the session (`$set`), take messages back (`$rewindTo`), or replace a message with its id;
results of tools arrive that way. So a chat is assembled first and then replayed. Sources: Gemini CLI 0.61.0 run with a
mock API, 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import (
    find_files,
    instant,
    read_json,
    read_lines,
    try_json,
    written_at,
)
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import TranscriptReplay
from holdfast.hosts.sdk.toolcalls import response_text

Chat = tuple[dict[str, Any], list[Mapping[str, Any]]]


def find(host: Adapter, home: str) -> list[str]:
    """Return the chats of all projects."""
    files = find_files(os.path.join(home, ".gemini", "tmp"), (".jsonl", ".json"), ("tool-outputs", "logs"))
    return [path for path in files if os.path.basename(os.path.dirname(path)) == "chats"]


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of a chat. Raises OSError, or HostConfigError for a huge file."""
    if path.endswith(".jsonl"):
        about, messages = _put_together(read_lines(path))
    else:
        about = dict(fields_of(read_json(path)))
        messages = _objects(about.get("messages"))
    session = text_of(about.get("sessionId")) or os.path.basename(path).partition(".")[0]
    telling = TranscriptReplay(host, session, new_id, lambda payload: host.translate(_as_hook(payload)))
    telling.stand(at=instant(about.get("startTime")) or written_at(path), cwd=_folder(path))
    for message in messages:
        yield from _message(telling, message)


def _as_hook(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    response = fields_of(payload["tool_response"])
    return {**payload, "hook_event_name": "AfterTool", "tool_response": {**response, "error": payload["error"]}}


def _put_together(lines: Iterable[Mapping[str, Any]]) -> Chat:
    """Return the session's own fields, and its messages as they are after the last line."""
    about: dict[str, Any] = {}
    messages: dict[str, Mapping[str, Any]] = {}
    for entry in lines:
        if "$set" in entry:
            about.update(fields_of(entry["$set"]))
            if isinstance(about.get("messages"), list):
                messages = {_id(message): message for message in _objects(about.pop("messages"))}
        elif "$rewindTo" in entry:
            ids = list(messages)
            to = text_of(entry["$rewindTo"])
            for name in ids[ids.index(to) :] if to in messages else ():
                del messages[name]
        elif "type" in entry:
            messages[_id(entry) or str(len(messages))] = entry
        else:
            about.update(entry)
    return about, list(messages.values())


def _message(telling: TranscriptReplay, message: Mapping[str, Any]) -> Iterator[Event]:
    telling.stand(at=instant(message.get("timestamp")), model=text_of(message.get("model")))
    content = response_text(message.get("content"))
    if message.get("type") == "user":
        yield from telling.prompt(content)
    elif message.get("type") == "gemini":
        yield from telling.reply(content)
        for call in _objects(message.get("toolCalls")):
            yield from _call(telling, call)


def _call(telling: TranscriptReplay, call: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events of a call. Hooks get no id of a call, so its key rests on the minute here too."""
    answers = [
        fields_of(fields_of(part.get("functionResponse")).get("response")) for part in _objects(call.get("result"))
    ]
    output = "\n".join(filter(None, (response_text(answer.get("output")) for answer in answers)))
    error = next(filter(None, (response_text(answer.get("error")) for answer in answers)), "")
    if call.get("status") == "error":
        error = error or output or "failed"
    if call.get("status") == "cancelled":
        return
    telling.stand(at=instant(call.get("timestamp")))
    yield from telling.call(text_of(call.get("name")), fields_of(call.get("args")), {"llmContent": output}, "", error)


def _folder(path: str) -> str:
    """Return the project's folder: named in its folder of chats, or in the list of projects by that folder's name."""
    root = os.path.dirname(os.path.dirname(path))
    try:
        with open(os.path.join(root, ".project_root"), encoding="utf-8", errors="replace") as stream:
            return stream.read(4_096).strip()
    except OSError:
        listed = try_json(os.path.join(os.path.dirname(os.path.dirname(root)), "projects.json"))
        folders = fields_of(listed.get("projects"))
        name = os.path.basename(root)
        return next((folder for folder, short in folders.items() if name in (short, _hashed(folder))), "")


def _hashed(folder: str) -> str:
    return sha256(folder.encode()).hexdigest()


def _id(message: Mapping[str, Any]) -> str:
    return text_of(message.get("id"))


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [fields_of(element) for element in value] if isinstance(value, list) else []
