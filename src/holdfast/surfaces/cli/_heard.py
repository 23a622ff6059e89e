"""What of a transcript hooks told already, where nothing in common but the thing itself shows it.

Prompts, replies and calls with an id have the same key in both. A call without an id is keyed by its minute, and a
transcript may know another minute, or none; so it is known by what was run or written, as often as that was told.
"""

from __future__ import annotations

import posixpath
from collections import Counter
from typing import TYPE_CHECKING

from holdfast.ports.store import EventFilter
from holdfast.service.redact import redact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.event import Event
    from holdfast.domain.vocabulary import SessionId
    from holdfast.service.memory import Memory

KINDS = frozenset({"tool_result", "tool_failure", "file_edit"})
BY_MINUTE = "result:2"
"""Start of a key that rests on a time; keys of ids do not begin with a year."""


class Heard:
    """The calls of the session that is being read, by what they did."""

    def __init__(self, memory: Memory | None) -> None:
        self._memory = memory
        self._session: SessionId | None = None
        self._told: Counter[tuple[str, ...]] = Counter()

    def sift(self, batch: Sequence[Event]) -> list[Event]:
        """The events of one session that may be new."""
        if self._memory is None or not any(_is_by_minute(event) for event in batch):
            return list(batch)
        if batch[0].session != self._session:
            self._session = batch[0].session
            self._told = Counter(_deed(event) for event in self._kept(batch[0].session))
        return [event for event in batch if not (_is_by_minute(event) and self._take(_deed(event)))]

    def _take(self, deed: tuple[str, ...]) -> bool:
        if self._told[deed] <= 0:
            return False
        self._told[deed] -= 1
        return True

    def _kept(self, session: SessionId) -> list[Event]:
        assert self._memory is not None
        found = self._memory.parts.store.find_events(EventFilter(session=session))
        return [event for _, event in found if event.kind in KINDS]


def _is_by_minute(event: Event) -> bool:
    return event.kind in KINDS and event.key.startswith(BY_MINUTE)


def _deed(event: Event) -> tuple[str, ...]:
    """What a call did: an edit is its two texts, a command its words, a look its file and pattern."""
    if event.kind == "file_edit":
        return ("edit", redact(event.old).strip(), redact(event.new).strip())
    if event.command:
        return ("command", redact(event.command).strip())
    files = event.files[:1]
    pattern = event.text.partition("\n")[0] if files else event.text
    return ("look", event.tool, posixpath.basename(files[0].replace("\\", "/")) if files else "", redact(pattern))
