"""Turns Amp's threads into events.

Builds before April 2026 kept them as files in `~/.local/share/amp/threads`; `amp threads export` writes the same form.
Source: others' readers of both; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import find_files, instant, path_of_uri, read_json, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, blocks_of, failure, tell_message
from holdfast.hosts.sdk.toolcalls import response_text


def find(host: Adapter, home: str) -> list[str]:
    """Return the threads that are kept in files."""
    return find_files(os.path.join(home, ".local", "share", "amp", "threads"), (".json",))


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of a thread. Raises OSError or HostConfigError."""
    thread = fields_of(read_json(path))
    telling = TranscriptReplay(host, text_of(thread.get("id")) or os.path.basename(path).removesuffix(".json"), new_id)
    trees = fields_of(fields_of(thread.get("env")).get("initial")).get("trees")
    tree = fields_of(trees[0]) if isinstance(trees, list) and trees else {}
    branch = text_of(fields_of(tree.get("repository")).get("ref")).removeprefix("refs/heads/")
    telling.stand(at=instant(thread.get("created")) or written_at(path), branch=branch)
    telling.stand(cwd=path_of_uri(text_of(tree.get("uri"))))
    messages = thread.get("messages")
    for message in map(fields_of, messages if isinstance(messages, list) else ()):
        yield from _message(telling, message)


def _message(telling: TranscriptReplay, message: Mapping[str, Any]) -> Iterator[Event]:
    at = fields_of(message.get("meta")).get("sentAt") or fields_of(message.get("usage")).get("timestamp")
    telling.stand(at=instant(at))
    blocks = blocks_of(message.get("content"))
    for block in blocks:
        if block.get("type") == "tool_result":
            yield from _answered(telling, block)
    rest = [block for block in blocks if block.get("type") != "tool_result"]
    yield from tell_message(telling, message.get("role"), rest)


def _answered(telling: TranscriptReplay, block: Mapping[str, Any]) -> Iterator[Event]:
    use = text_of(block.get("toolUseID")) or text_of(block.get("tool_use_id"))
    run = fields_of(block.get("run"))
    result = run.get("result", block.get("content"))
    fields = fields_of(result)
    output = text_of(fields.get("output")) or response_text(result)
    code = fields.get("exitCode")
    error = failure(code, output)
    if run.get("status") == "error":
        error = response_text(run.get("error")) or output or "failed"
    response = {"stdout": output, "content": output, **({} if isinstance(code, int) else UNANSWERED)}
    if run.get("status", "done") in ("done", "error"):
        yield from telling.close(use, response, error)
