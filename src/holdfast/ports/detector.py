"""Detector: finds candidates in a window of events. Pure: the same window gives the same candidates."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol

    from holdfast.domain.candidate import Candidate
    from holdfast.domain.event import Event
else:
    Protocol = object


class Detector(Protocol):
    """One way of finding lessons."""

    id: str
    """`name/version`; the version grows whenever the detector would judge the same window differently."""

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Candidates in a session's events, oldest first. Files in events are relative to the project's root.

        `learning/learn` calls it with a whole session so far and drops what it has learnt before, so it need not
        remember anything.
        """
        ...


class Judge(Protocol):
    """A detector that also knows how likely it is that an engineer would keep what others found."""

    def calibrate(self, window: Sequence[Event], candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates in order; those that are `to_judge` with a calibrated probability as their confidence."""
        ...
