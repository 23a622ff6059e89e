"""Reads messages in the form of the model interfaces: a role, and text or blocks with calls and their results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import TranscriptReplay, failure
from holdfast.hosts.sdk.toolcalls import response_text
from holdfast.lean.texts import loads


def tell_message(telling: TranscriptReplay, role: object, content: object) -> Iterator[Event]:
    """Yield the events of one message: blocks `text`, `tool_use` and `tool_result`, or a plain text."""
    blocks = blocks_of(content)
    for block in blocks:
        if block.get("type") == "tool_result":
            yield from tell_result(telling, block)
    if role == "user":
        for block in blocks:
            if block.get("type") == "text" and not block.get("synthetic"):
                yield from telling.prompt(text_of(block.get("text")))
    elif role == "assistant":
        yield from telling.reply(
            "\n".join(text_of(block.get("text")) for block in blocks if block.get("type") == "text")
        )
        for block in blocks:
            if block.get("type") == "tool_use":
                telling.open(text_of(block.get("id")), text_of(block.get("name")), block.get("input"))


def tell_result(telling: TranscriptReplay, block: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events of a `tool_result` block."""
    text = response_text(block.get("content"))
    first, _, rest = text.partition("\n")
    code = first.removeprefix("Exit code: ").strip()
    error = failure(int(code), rest) if first != code and code.isdecimal() else ""
    if block.get("is_error") is True:
        error = error or text or "failed"
    yield from telling.close(text_of(block.get("tool_use_id")), {"stdout": text, "content": text}, error)


def open_calls(telling: TranscriptReplay, calls: object) -> None:
    """Open a message's calls in OpenAI's shape: `[{id, function: {name, arguments}}]`, or without `function`."""
    for call in calls if isinstance(calls, list) else ():
        fields = fields_of(call)
        function = fields_of(fields.get("function")) or fields
        telling.open(text_of(fields.get("id")), text_of(function.get("name")), arguments_of(function.get("arguments")))


def arguments_of(value: object) -> Mapping[str, Any]:
    """Return a call's arguments, from an object or its JSON text; empty for anything else."""
    if isinstance(value, str):
        try:
            return fields_of(loads(value))
        except (InvalidValueError, RecursionError):
            return {}
    return fields_of(value)


def blocks_of(content: object) -> list[Mapping[str, Any]]:
    """Return the blocks of a message's content; a plain text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [fields_of(block) for block in content] if isinstance(content, list) else []
