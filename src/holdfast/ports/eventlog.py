"""EventLog: what happened, append-only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.domain.event import Event
from holdfast.ports.filters import EventFilter


class EventLog(Protocol):
    """The events of every session, in the order they were received."""

    def append_events(self, events: Sequence[Event]) -> int:
        """Store events and return how many were new. An event whose (session, key) is already stored is skipped."""

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        """Return (position, event) pairs in order of position; positions grow and are never used again.

        A reader can continue after the last position it has read: a new event never appears below a position that was
        readable before, even if several processes write at once.
        """
