"""A session told again from a transcript: the same events, with the same keys, as the host's hooks made of it.

A reader says what it finds (the folder, a prompt, a call, its result); calls go through the adapter's own `translate`,
so that one description of a host's tools serves hooks and transcripts alike.
"""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.hosts._shared.hooks import PARSERS, compaction_key, start_key
from holdfast.hosts._shared.payloads import Source, clean, fields_of, said, shorten, text_of
from holdfast.hosts._shared.toolcalls import UNKNOWN_EXIT, summed_up
from holdfast.hosts._shared.wrapping import persons_words
from holdfast.text.speech import is_spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from holdfast.domain.event import Event
    from holdfast.hosts._shared.adapter import Adapter

    Translate = Callable[[Mapping[str, Any]], Mapping[str, Any]]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of what a transcript tells before it has told any time."""

PENDING_LIMIT = 1_000
"""Calls without a result that are remembered; an older one was interrupted and never answered."""

UNANSWERED = UNKNOWN_EXIT
"""The response of a call of which nothing is known but that it was made."""


def as_it_is(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the payload unchanged, for readers that name calls as Claude Code does."""
    return payload


def failure(code: object, output: str) -> str:
    """The error of a command that ended with that code, as `Retelling.call` takes it; empty for 0 or no number."""
    if isinstance(code, bool) or not isinstance(code, int) or code == 0:
        return ""
    return f"Exit code {code}\n{output}" if code > 0 else output or f"ended with {code}"


class Retelling:
    """The events of one session, piece by piece; nothing is told before its folder or its words are known."""

    def __init__(
        self, host: Adapter, session: str, new_id: Callable[[], str], translate: Translate | None = None
    ) -> None:
        """`translate` where a transcript tells calls otherwise than the hooks: from this module's form of a payload."""
        self._translate = translate or host.translate
        self._source = Source(host.name, session, EPOCH, new_id)
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
        """What holds from here on: the time, `session`, `cwd`, `branch`, `model`; what is empty stays as it was."""
        self._source.at = at or self._source.at
        self._source.stamp.update((name, value) for name, value in stamp.items() if value)

    def prompt(self, text: str) -> list[Event]:
        """Record a person's words without the text that programs put around them; nothing when no person spoke."""
        words = clean(persons_words(text))
        events = said(self._source, "prompt", words, trust="person") if is_spoken(shorten(words)) else []
        return self._start() + events if events else []

    def reply(self, text: str) -> list[Event]:
        """Record the agent's words."""
        events = said(self._source, "reply", text)
        return self._start() + events if events else []

    def compacted(self, summary: str = "") -> list[Event]:
        """The context was summed up here, in these words where the transcript has them."""
        return [self._source.event("compaction", compaction_key(self._source.at)), *summed_up(self._source, summary)]

    def open(self, use: str, tool: str, arguments: object) -> None:
        """Record a call whose result comes later under that id."""
        if len(self._open) >= PENDING_LIMIT:
            del self._open[next(iter(self._open))]
        self._open[use] = (tool, fields_of(arguments))

    def opened(self, use: str) -> tuple[str, Mapping[str, Any]]:
        """Tool and arguments of a call without a result yet; an empty name for another one."""
        return self._open.get(use, ("", {}))

    def take(self, use: str) -> tuple[str, Mapping[str, Any]]:
        """Like `opened`, and the call counts as answered."""
        return self._open.pop(use, ("", {}))

    def close(self, use: str, response: object, error: str = "") -> list[Event]:
        """Record the result of an open call; nothing for a call that is not open."""
        tool, arguments = self.take(use)
        return self.call(tool, arguments, response, use, error) if tool else []

    def close_all(self) -> list[Event]:
        """The calls that were never answered: edits are told, of commands only that they ran."""
        return [event for use in list(self._open) for event in self.close(use, UNANSWERED)]

    def call(
        self, tool: str, arguments: Mapping[str, Any], response: object, use: str = "", error: str = ""
    ) -> list[Event]:
        """A call by the host's own names; `error` when it failed. Without an id its key rests on the minute."""
        payload: Mapping[str, Any] = {
            "hook_event_name": "PostToolUseFailure" if error else "PostToolUse", "tool_name": tool, "tool_use_id": use,
            "tool_input": arguments, "tool_response": response, "error": error,
        }  # fmt: skip
        return self.hook(self._translate(payload))

    def hook(self, payload: Mapping[str, Any]) -> list[Event]:
        """The events of a payload in Claude Code's shape."""
        parser = PARSERS.get(text_of(payload.get("hook_event_name")))
        events = list(parser(self._source, payload).get("events", ())) if parser else []
        return self._start() + events if events else []

    def _start(self) -> list[Event]:
        if self._started or not self.cwd:
            return []
        self._started = True
        return [self._source.event("session_start", start_key("startup", self._source.at), "startup")]
