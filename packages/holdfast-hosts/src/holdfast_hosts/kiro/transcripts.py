"""Turns Kiro's sessions into events, of its command line (`~/.kiro/sessions/cli`) and of the editor.

Neither has the results of tools. Sources: others' measured notes of September 2026; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import find_files, instant, read_lines, try_json, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import TranscriptReplay
from holdfast.hosts.sdk.toolcalls import response_text


def find(host: Adapter, home: str) -> list[str]:
    """Return sessions of both."""
    return find_files(os.path.join(home, ".kiro", "sessions"), (".jsonl",))


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of a session. Raises OSError."""
    in_editor = os.path.basename(path) == "messages.jsonl"
    folder = os.path.dirname(path)
    header = os.path.join(folder, "session.json") if in_editor else path.removesuffix(".jsonl") + ".json"
    about = try_json(header)
    name = os.path.basename(folder).removeprefix("sess_") if in_editor else os.path.basename(header)
    telling = TranscriptReplay(host, text_of(about.get("id")) or name.removesuffix(".json"), new_id)
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
