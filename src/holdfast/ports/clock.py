"""Clock: the only source of time and of new ids for the core."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and makes ids."""

    def now(self) -> datetime:
        """Return the time in aware UTC, at least a microsecond later than the last answer."""

    def elapsed_s(self) -> float:
        """Return monotonic seconds, for deadlines only."""

    def new_id(self) -> str:
        """Return a new UUID version 7."""
