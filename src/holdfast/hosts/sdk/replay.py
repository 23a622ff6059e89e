"""Replays a session from a transcript, with the same events and keys as the host's hooks made of it.

A reader reports what it finds (the folder, a prompt, a call, its result). Calls go through the adapter's own
`translate`, so one description of a host's tools serves hooks and transcripts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from holdfast.domain.event import Event
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.hooks import PARSERS, compaction_key, start_key
from holdfast.hosts.sdk.payloads import EventSource, clean, fields_of, persons_words, said, shorten, text_of
from holdfast.hosts.sdk.toolcalls import UNKNOWN_EXIT, response_text, summed_up
from holdfast.lean.texts import loads
from holdfast.text.speech import is_spoken

Translate = Callable[[Mapping[str, Any]], Mapping[str, Any]]


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of what a transcript tells before it has told any time."""

PENDING_LIMIT = 1_000
"""Calls without a result that are remembered; an older one was interrupted and never answered."""

UNANSWERED = UNKNOWN_EXIT
"""The response of a call of which only the call itself is known."""


def as_it_is(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the payload unchanged, for readers that name calls as Claude Code does."""
    return payload


def failure(code: object, output: str) -> str:
    """Return the error of a command that ended with that code, for `TranscriptReplay.call`; empty for 0 or no
    number."""
    if isinstance(code, bool) or not isinstance(code, int) or code == 0:
        return ""
    return f"Exit code {code}\n{output}" if code > 0 else output or f"ended with {code}"


class TranscriptReplay:
    """The events of one session, piece by piece. The start is reported once the folder is known."""

    def __init__(
        self, host: Adapter, session: str, new_id: Callable[[], str], translate: Translate | None = None
    ) -> None:
        """Make the replay; pass `translate` if a transcript's calls differ from the hooks' form of a payload."""
        self._translate = translate or host.translate
        self._source = EventSource(host.name, session, EPOCH, new_id)
        self._open: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self._started = False

    @property
    def at(self) -> datetime:
        """The time so far."""
        return self._source.at

    @property
    def cwd(self) -> str:
        """The folder so far."""
        return text_of(self._source.stamp.get("cwd"))

    def stand(self, at: datetime | None = None, **stamp: str) -> None:
        """Set what holds from here on: the time, `session`, `cwd`, `branch`, `model`. Empty values change nothing."""
        self._source.at = at or self._source.at
        self._source.stamp.update((name, value) for name, value in stamp.items() if value)

    def prompt(self, text: str) -> list[Event]:
        """Record a person's words, without the text that programs put around them; nothing if no person spoke."""
        words = clean(persons_words(text))
        events = said(self._source, "prompt", words, trust="person") if is_spoken(shorten(words)) else []
        return self._start() + events if events else []

    def reply(self, text: str) -> list[Event]:
        """Record the agent's words."""
        events = said(self._source, "reply", text)
        return self._start() + events if events else []

    def compacted(self, summary: str = "") -> list[Event]:
        """Record that the context was compacted here, with the summary if the transcript has it."""
        return [self._source.event("compaction", compaction_key(self._source.at)), *summed_up(self._source, summary)]

    def open(self, use: str, tool: str, arguments: object) -> None:
        """Record a call whose result comes later under that id."""
        if len(self._open) >= PENDING_LIMIT:
            del self._open[next(iter(self._open))]
        self._open[use] = (tool, fields_of(arguments))

    def opened(self, use: str) -> tuple[str, Mapping[str, Any]]:
        """Return tool and arguments of a call without a result yet; an empty name if there is no such call."""
        return self._open.get(use, ("", {}))

    def take(self, use: str) -> tuple[str, Mapping[str, Any]]:
        """Return the same as `opened`, and mark the call as answered."""
        return self._open.pop(use, ("", {}))

    def close(self, use: str, response: object, error: str = "") -> list[Event]:
        """Record the result of an open call; nothing for a call that is not open."""
        tool, arguments = self.take(use)
        return self.call(tool, arguments, response, use, error) if tool else []

    def close_all(self) -> list[Event]:
        """Record the calls that were never answered: edits as made, commands only as run."""
        return [event for use in list(self._open) for event in self.close(use, UNANSWERED)]

    def call(
        self, tool: str, arguments: Mapping[str, Any], response: object, use: str = "", error: str = ""
    ) -> list[Event]:
        """Record a call by the host's own names; `error` if it failed. Without an id its key rests on the minute."""
        payload: Mapping[str, Any] = {
            "hook_event_name": "PostToolUseFailure" if error else "PostToolUse", "tool_name": tool, "tool_use_id": use,
            "tool_input": arguments, "tool_response": response, "error": error,
        }  # fmt: skip
        return self.hook(self._translate(payload))

    def hook(self, payload: Mapping[str, Any]) -> list[Event]:
        """Return the events of a payload in Claude Code's shape."""
        parser = PARSERS.get(text_of(payload.get("hook_event_name")))
        events = list(parser(self._source, payload).get("events", ())) if parser else []
        return self._start() + events if events else []

    def _start(self) -> list[Event]:
        if self._started or not self.cwd:
            return []
        self._started = True
        return [self._source.event("session_start", start_key("startup", self._source.at), "startup")]


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
