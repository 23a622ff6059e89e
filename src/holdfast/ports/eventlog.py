"""EventLog: what happened, append-only."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from holdfast.domain.event import Event
    from holdfast.ports.filters import EventFilter
else:
    Protocol = object


class EventLog(Protocol):
    """The events of every session, in the order they were received."""

    def append_events(self, events: Sequence[Event]) -> int:
        """Keep events; returns how many were new. One with a (session, key) already kept is skipped."""
        ...

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        """(position, event) pairs in order of position; positions grow and are never used again.

        Whoever has read up to a position goes on after it: an event never appears below one that could be read already,
        also where several write at once.
        """
        ...
