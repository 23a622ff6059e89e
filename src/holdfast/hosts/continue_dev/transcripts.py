"""Turns Continue's sessions into events: `~/.continue/sessions/<id>.json`.

Source: Continue cn 1.5.47's bundle, sessions; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import find_files, path_of_uri, read_json, written_at
from holdfast.hosts.sdk.messages import open_calls
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import TranscriptReplay
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields

TOOLS = {
    "builtin_run_terminal_command": "Bash", "run_terminal_command": "Bash", "Bash": "Bash", "Read": "Read",
    "builtin_read_file": "Read", "read_file": "Read", "builtin_edit_existing_file": "Edit",
    "edit_existing_file": "Edit", "single_find_and_replace": "Edit", "multi_edit": "MultiEdit",
    "builtin_create_new_file": "Write", "create_new_file": "Write", "builtin_grep_search": "Grep",
    "grep_search": "Grep", "file_glob_search": "Glob",
}  # fmt: skip


def find(host: Adapter, home: str) -> list[str]:
    """Return sessions, without the file that lists them."""
    files = find_files(os.path.join(home, ".continue", "sessions"), (".json",))
    return [path for path in files if os.path.basename(path) != "sessions.json"]


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield the events of a session, all with the time when its file was written. Raises OSError or HostConfigError."""
    fields = fields_of(read_json(path))
    session = text_of(fields.get("sessionId")) or os.path.basename(path).removesuffix(".json")
    telling = TranscriptReplay(host, session, new_id, _as_claude)
    telling.stand(at=written_at(path), cwd=path_of_uri(text_of(fields.get("workspaceDirectory"))))
    history = fields.get("history")
    for step in map(fields_of, history if isinstance(history, list) else ()):
        yield from _step(telling, step)


def _as_claude(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    arguments = with_usual_fields(fields_of(payload["tool_input"]))
    for name, own in (("file_path", "filepath"), ("new_string", "changes"), ("content", "contents")):
        arguments.setdefault(name, arguments.get(own))
    return {**payload, "tool_name": TOOLS.get(payload["tool_name"], payload["tool_name"]), "tool_input": arguments}


def _step(telling: TranscriptReplay, step: Mapping[str, Any]) -> Iterator[Event]:
    message = fields_of(step.get("message"))
    content = response_text(message.get("content"))
    if message.get("role") == "user":
        yield from telling.prompt(content)
    elif message.get("role") == "assistant":
        yield from telling.reply(content)
        open_calls(telling, message.get("toolCalls"))
        states = step.get("toolCallStates")
        for state in map(fields_of, states if isinstance(states, list) else ()):
            yield from _answered(telling, state)
    elif message.get("role") == "tool":
        yield from telling.close(text_of(message.get("toolCallId")), {"stdout": content, "content": content})


def _answered(telling: TranscriptReplay, state: Mapping[str, Any]) -> Iterator[Event]:
    use = text_of(state.get("toolCallId"))
    items = state.get("output")
    parts = (text_of(fields_of(item).get("content")) for item in items) if isinstance(items, list) else ()
    output = "\n".join(filter(None, parts))
    if state.get("status") in ("errored", "error"):
        yield from telling.close(use, "", output or "failed")
    elif state.get("status") == "done":
        yield from telling.close(use, {"stdout": output, "content": output})
