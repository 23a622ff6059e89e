"""Store: everything a backend stores, as the sum of smaller ports. Their filters and answers are exported here, too."""

from __future__ import annotations

from typing import Protocol, Self

from holdfast.ports.activity import Activity
from holdfast.ports.erasure import Erasure
from holdfast.ports.eventlog import EventLog
from holdfast.ports.filters import EventFilter, LessonFilter, LogFilter
from holdfast.ports.lessonstore import LessonStore, damage_words, get_readable
from holdfast.ports.search import Search
from holdfast.ports.statestore import StateStore
from holdfast.ports.storecare import Extent, Problem, StoreCare
from holdfast.ports.vectors import Vectors

__all__ = [
    "EventFilter", "Extent", "LessonFilter", "LogFilter", "Problem", "Store", "damage_words", "get_readable",
]  # fmt: skip


class Store(EventLog, LessonStore, Search, Activity, Vectors, StateStore, Erasure, StoreCare, Protocol):
    """A backend. Each call is one transaction: it writes all or nothing, and all its reads see one instant.

    Use it in a `with` statement. The threads of a server share one store and call it at the same time.

    Every method may raise StoreLockedError, StoreCorruptError, StoreReadOnlyError or StoreFullError.
    A row that cannot be read is left out of every answer, counted by `left_out`, and reported by `check`.
    Callers redact text before they store it. A text may have any length, and so may keys and paths. NUL characters and
    lone surrogates are replaced and raise no error, in records and in queries.
    """

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...
