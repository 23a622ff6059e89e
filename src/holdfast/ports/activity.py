"""Activity: the log of what Holdfast did, namely its deliveries, outcomes, checkpoints and changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.ports.filters import LogFilter

LogRecord = Delivery | Outcome | Checkpoint | Change
L = TypeVar("L", Delivery, Outcome, Checkpoint, Change)


class Activity(Protocol):
    """Log records of four types, each with an id of its own."""

    def record(self, entries: Sequence[LogRecord]) -> None:
        """Append records to the log; skip a record whose id is already there."""

    def find_records(self, kind: type[L], where: LogFilter) -> list[L]:
        """Return log records of that type, newest first; changes and checkpoints are ordered by when they arrived."""
