"""What is derived from all lessons, kept in this process until memory changes: in a large one it takes a moment."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, TypeVar

from holdfast.domain.project import Location
from holdfast.domain.records import Change, Outcome
from holdfast.ports.services import Services
from holdfast.ports.store import LogFilter
from holdfast.reports.tuning import COUNTS_KEPT, COUNTS_KEPT_S

T = TypeVar("T")


class _KeptCounts:
    """What was counted, by what it was counted of; the threads of a server share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._counts: dict[Hashable, tuple[object, float, Any]] = {}

    def get(self, key: Hashable, mark: object, now_s: float) -> tuple[Any] | None:
        """Return the value of the key in a tuple, if it was counted under an equal mark and not long ago."""
        known = self._counts.get(key)
        if known is None or known[0] != mark or now_s - known[1] > COUNTS_KEPT_S:
            return None
        return (known[2],)

    def put(self, key: Hashable, mark: object, now_s: float, value: Any) -> None:
        """Keep a value; the oldest is dropped when there are many."""
        with self._lock:
            self._counts.pop(key, None)
            self._counts[key] = mark, now_s, value
            while len(self._counts) > COUNTS_KEPT:
                self._counts.pop(next(iter(self._counts)))


_KEPT = _KeptCounts()


def kept_count(services: Services, location: Location, what: Hashable, count: Callable[[], T]) -> T:
    """Return what `count` answers about the project's lessons, or what it answered since memory changed last.

    `what` tells the counts of one project apart. The value must not be changed.
    """
    return kept_answer(services, location, what, newest_change(services), count)


def newest_change(services: Services) -> str:
    """Return the id of the newest change of memory, of any project; empty if there is none."""
    return next((change.id for change in services.store.find_records(Change, LogFilter(limit=1))), "")


def newest_judgement(services: Services, location: Location) -> str:
    """Return the ids of the newest change of memory and of what newly came of a lesson of the project."""
    outcomes = services.store.find_records(Outcome, LogFilter(project=location.project.id, limit=1))
    return " ".join((newest_change(services), *(outcome.id for outcome in outcomes)))


def kept_answer(services: Services, location: Location, what: Hashable, mark: object, count: Callable[[], T]) -> T:
    """Return what `count` answers, or what it answered not long ago under an equal mark.

    A mark is what the answer was derived from, or ids that change with it. Read it before, so that a change in between
    makes the answer anew. Where readers see different lessons, `what` says which. The value must not be changed.
    """
    key = services.store.content(), location.project.id, what
    now_s = services.clock.elapsed_s()
    if (known := _KEPT.get(key, mark, now_s)) is not None:
        value: T = known[0]
        return value
    value = count()
    _KEPT.put(key, mark, now_s, value)
    return value
