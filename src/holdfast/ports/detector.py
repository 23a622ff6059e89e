"""Detector: finds candidates in a window of events. Pure: the same window gives the same candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event


class Detector(Protocol):
    """One way of finding lessons."""

    id: str
    """`name/version`; raise the version whenever the detector would judge the same window differently."""

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return candidates from a session's events, oldest first. Files in events are relative to the project's root.

        The detector need not remember anything: `learning/learn` passes the whole session so far and drops candidates
        that it decided on before.
        """
