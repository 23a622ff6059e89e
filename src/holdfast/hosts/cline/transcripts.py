"""Turns Cline's sessions (`~/.cline/data/sessions`) and the tasks of its older versions into events.

Sources: Cline CLI 3.0.65 run; the public repository cline/cline for tasks; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.cline import outcome
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.clineshown import SHOWN, read_shown
from holdfast.hosts.sdk.clinetasks import HISTORY, read_task, task_folders
from holdfast.hosts.sdk.files import find_files, instant, oldest_first, read_json, try_json, written_at
from holdfast.hosts.sdk.messages import blocks_of, tell_message
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import TranscriptReplay

MESSAGES = ".messages.json"


def find(host: Adapter, home: str) -> list[str]:
    """Return sessions and tasks."""
    own = os.path.join(home, ".cline", "data")
    folders = [os.path.join(own, "tasks"), *task_folders(home, "saoudrizwan.claude-dev")]
    tasks = [path for folder in folders for path in find_files(folder, (f"/{HISTORY}",))]
    known = {os.path.dirname(path) for path in tasks}
    shown = (path for folder in folders for path in find_files(folder, (f"/{SHOWN}",)))
    tasks += (path for path in shown if os.path.dirname(path) not in known)
    return oldest_first([*find_files(os.path.join(own, "sessions"), (MESSAGES,)), *tasks])


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of a session or a task. Raises OSError, or HostConfigError for a huge file."""
    if os.path.basename(path) == SHOWN:
        history = os.path.join(os.path.dirname(path), HISTORY)
        yield from read_task(host, history, new_id) if os.path.isfile(history) else read_shown(host, path, new_id)
        return
    if not path.endswith(MESSAGES):
        yield from read_task(host, path, new_id)
        return
    history_fields = fields_of(read_json(path))
    about = try_json(path.removesuffix(MESSAGES) + ".json")
    session = text_of(about.get("session_id")) or os.path.basename(path).removesuffix(MESSAGES)
    telling = TranscriptReplay(host, session, new_id)
    telling.stand(
        at=instant(about.get("started_at")) or written_at(path), model=text_of(about.get("model")),
        cwd=text_of(about.get("workspace_root")) or text_of(about.get("cwd")),
    )  # fmt: skip
    messages = history_fields.get("messages")
    for message in map(fields_of, messages if isinstance(messages, list) else ()):
        telling.stand(at=instant(message.get("ts")))
        yield from tell_message(telling, message.get("role"), [_judged(b) for b in blocks_of(message.get("content"))])
    yield from telling.close_all()


def _judged(block: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a result block in Anthropic's shape: its text, and whether it is a failure."""
    if block.get("type") != "tool_result":
        return block
    text, failed = outcome(block.get("content"))
    return {**block, "content": text, "is_error": failed or block.get("is_error") is True}
