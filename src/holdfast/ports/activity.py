"""Activity: the log of what Holdfast did: deliveries, outcomes, checkpoints, changes."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol, TypeVar

    from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
    from holdfast.ports.filters import LogFilter

    LogRecord = Delivery | Outcome | Checkpoint | Change
    L = TypeVar("L", Delivery, Outcome, Checkpoint, Change)
else:
    Protocol = object


class Activity(Protocol):
    """Log records of four types, each with an id of its own."""

    def record(self, entries: Sequence[LogRecord]) -> None:
        """Append to the log; a record whose id is already there is skipped."""
        ...

    def find_records(self, kind: type[L], where: LogFilter) -> list[L]:
        """Log records of that type, newest first; of changes and checkpoints that is the one received last."""
        ...
