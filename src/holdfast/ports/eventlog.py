"""EventLog: what happened, append-only."""

from __future__ import annotations

from holdfast.domain.vocabulary import EventKind, ProjectId, SessionId
from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from holdfast.domain.event import Event
else:
    Protocol = object


class EventFilter(Frozen):
    """Which events; all given conditions hold together. Answers are in the order the store received them."""

    project: ProjectId = ""  # type: ignore[assignment]
    session: SessionId = ""  # type: ignore[assignment]
    kind: EventKind | None = None
    """Only events of that kind that said something: a prompt or a reply. Asked of one session."""
    last: int = 0
    """Only the last so many; 0: from the first on."""
    after: int = 0
    """Only events the store received after this position; `EventLog.find_events` returns positions with events."""
    limit: int = 10_000


class EventLog(Protocol):
    """The events of every session, in the order they were received."""

    def append_events(self, events: Sequence[Event]) -> int:
        """Keep events; returns how many were new. One with a (session, key) already kept is skipped."""
        ...

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        """(position, event) pairs in order of position; positions grow and are never used again."""
        ...
