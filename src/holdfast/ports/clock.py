"""Clock: the only source of time and of new ids for the core."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime
    from typing import Protocol
else:
    Protocol = object


class Clock(Protocol):
    """Tells the time and makes ids."""

    def now(self) -> datetime:
        """Aware UTC, strictly later than the answer before (by at least a microsecond)."""
        ...

    def elapsed_s(self) -> float:
        """Monotonic seconds, for deadlines only."""
        ...

    def new_id(self) -> str:
        """A fresh UUID version 7."""
        ...
