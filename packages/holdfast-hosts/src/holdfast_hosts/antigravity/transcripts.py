"""Turns Antigravity's transcripts into events: `brain/<conversation>/.system_generated/logs/transcript.jsonl`.

The IDE and `agy` write the same form. The results of calls are in the steps after the calling step, in order; a call's
arguments are separate JSON texts. Sources: several independent readers, verified by them on agy 1.2; 2026-11-21. Not
run here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import find_files, instant, path_of_uri, read_lines, try_json, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, failure
from holdfast.lean.texts import loads

NOT_RESULTS = frozenset({"USER_INPUT", "PLANNER_RESPONSE", "CHECKPOINT", "SYSTEM_MESSAGE", "CONVERSATION_HISTORY"})
HEADER = re.compile(r"\A(?:(?:Created|Completed) At: [^\n]*\n)+\n?")
CODE = re.compile(r"exit code:? (\d{1,5})\b", re.IGNORECASE)


def find(host: Adapter, home: str) -> list[str]:
    """Return the transcripts of both."""
    root = os.path.join(home, ".gemini")
    folders = (os.path.join(root, name, "brain") for name in ("antigravity", "antigravity-cli"))
    return [path for folder in folders for path in find_files(folder, ("/logs/transcript.jsonl",))]


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of a conversation. Raises OSError."""
    plain = path.replace(os.sep, "/")
    session = plain.partition("/brain/")[2].partition("/")[0] or os.path.basename(os.path.dirname(path))
    telling = TranscriptReplay(host, session, new_id, lambda call: _judged(call, host.translate))
    telling.stand(at=written_at(path), cwd=_folder(plain.partition("/brain/")[0], session))
    waiting: list[str] = []
    for number, entry in enumerate(read_lines(path)):
        telling.stand(at=instant(entry.get("created_at")))
        yield from _step(telling, entry, waiting, number)


def _judged(
    payload: Mapping[str, Any], translate: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Return the call by Claude Code's names, with its output, which hooks do not get."""
    call = {"name": payload["tool_name"], "args": payload["tool_input"]}
    return {**translate({"toolCall": call, "error": payload["error"]}), "tool_response": payload["tool_response"]}


def _step(telling: TranscriptReplay, entry: Mapping[str, Any], waiting: list[str], number: int) -> Iterator[Event]:
    kind, content = text_of(entry.get("type")), text_of(entry.get("content"))
    if kind == "USER_INPUT" and entry.get("source") != "SYSTEM":
        yield from telling.prompt(content)
    elif kind == "PLANNER_RESPONSE":
        yield from telling.reply(content)
        calls = entry.get("tool_calls")
        waiting[:] = []
        for place, call in enumerate(map(fields_of, calls if isinstance(calls, list) else ())):
            waiting.append(f"{number}.{place}")
            telling.open(waiting[-1], text_of(call.get("name")), _arguments(fields_of(call.get("args"))))
    elif kind == "CHECKPOINT":
        yield from telling.compacted()
    elif kind not in NOT_RESULTS and waiting:
        yield from _answered(telling, waiting.pop(0), entry, HEADER.sub("", content))


def _answered(telling: TranscriptReplay, use: str, entry: Mapping[str, Any], output: str) -> Iterator[Event]:
    """Yield the events of a result. Hooks get no id of a call, so its key rests on the minute here too."""
    tool, arguments = telling.take(use)
    code = CODE.search(output[:400])
    error = failure(int(code[1]), output) if code else ""
    if entry.get("status") == "ERROR":
        error = error or output or "failed"
    response = {"stdout": output, "content": output, **({} if code else UNANSWERED)}
    yield from telling.call(tool, arguments, response, "", error)


def _arguments(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _plain(value) for name, value in arguments.items()}


def _plain(value: object) -> object:
    if not isinstance(value, str) or not value.startswith(('"', "[", "{")):
        return value
    try:
        return loads(value)
    except (InvalidValueError, RecursionError):
        return value


def _folder(root: str, session: str) -> str:
    """Return the conversation's folder, from what the IDE or the command line stores about conversations."""
    about = fields_of(try_json(os.path.join(root, "cache", "conversation_metadata.json")).get(session))
    folders = about.get("WorkspaceURIs") or about.get("workspaceUris")
    if isinstance(folders, list) and folders:
        return path_of_uri(text_of(folders[0]))
    last = try_json(os.path.join(root, "cache", "last_conversations.json"))
    return next((folder for folder, name in last.items() if session in (name, fields_of(name).get("id"))), "")
