"""Store: everything a backend keeps, as the sum of its parts. Their filters and answers can be imported from here."""

from __future__ import annotations

from holdfast.ports.activity import Activity
from holdfast.ports.erasure import Erasure
from holdfast.ports.eventlog import EventLog
from holdfast.ports.filters import EventFilter, LessonFilter, LogFilter
from holdfast.ports.lessonstore import LessonStore, damage_words, get_readable
from holdfast.ports.search import Search
from holdfast.ports.statestore import StateStore
from holdfast.ports.storecare import Extent, Problem, StoreCare
from holdfast.ports.vectors import Vectors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol, Self
else:
    Protocol = object

__all__ = [
    "EventFilter", "Extent", "LessonFilter", "LogFilter", "Problem", "Store", "damage_words", "get_readable",
]  # fmt: skip


class Store(EventLog, LessonStore, Search, Activity, Vectors, StateStore, Erasure, StoreCare, Protocol):
    """A backend. Each call is one transaction: all of it or nothing, and what it reads is of one instant.

    Opened and closed by `with`. The threads of a server share one store and call it at the same time.

    Every method may raise StoreLockedError, StoreCorruptError, StoreReadOnlyError or StoreFullError.
    A row that cannot be read is left out of every answer, counted by `left_out`, and named by `check`.
    Text given to a store is already redacted, and of any length, keys and paths included. NUL characters and lone
    surrogates are replaced, never an error, in records as in questions.
    """

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...
