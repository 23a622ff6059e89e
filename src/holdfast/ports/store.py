"""Store: where events, lessons and the log are kept."""

from __future__ import annotations

from holdfast.domain.vocabulary import EventKind, LessonId, LessonKind, ProjectId, SessionId, State
from holdfast.errors import LessonNotFoundError
from holdfast.lean.records import Frozen
from holdfast.ports.search import Search

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from typing import Protocol, Self, TypeVar

    from holdfast.domain.event import Event
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
    from holdfast.domain.vocabulary import LessonId

    LogRecord = Delivery | Outcome | Checkpoint | Change
    L = TypeVar("L", Delivery, Outcome, Checkpoint, Change)
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
    """Only events the store received after this position; `Store.find_events` returns positions with events."""
    limit: int = 10_000


class LessonFilter(Frozen):
    """Which lessons, newest first; all given conditions hold together."""

    project: ProjectId = ""  # type: ignore[assignment]
    """Lessons of this project and of the user; empty with all_projects false: the user's own."""
    all_projects: bool = False
    states: tuple[State, ...] = ()
    """Empty: every state but forgotten."""
    kinds: tuple[LessonKind, ...] = ()
    id_suffix: str = ""
    """The end of an id, as people type it."""
    topic_key: str = ""
    duplicate_key: str = ""
    """`text.words.duplicate_key` of the insight: normalised words; equal keys may be duplicates."""
    path: str = ""
    """Anchored to this file."""
    staged: bool = False
    """Only those staged on a branch."""
    without_vector: str = ""
    """Lessons that have no vector of this embedder yet."""
    as_of: datetime | None = None
    limit: int = 1_000
    offset: int = 0


class LogFilter(Frozen):
    """Which log records, newest first; all given conditions hold together."""

    project: ProjectId = ""  # type: ignore[assignment]
    """Empty: every project."""
    session: SessionId = ""  # type: ignore[assignment]
    lesson: LessonId = ""  # type: ignore[assignment]
    limit: int = 1_000


class Problem(Frozen):
    """Something wrong with the store and the command that mends it."""

    what: str
    mend: str = ""


class Extent(Frozen):
    """How much a store holds."""

    lessons: int = 0
    """Current lessons, tombstones not counted."""
    versions: int = 0
    """Lesson versions ever written; erasing does not lower it."""
    events: int = 0
    """Events ever received; erasing does not lower it."""


class Store(Search, Protocol):
    """A backend. Each call is one transaction: all of it or nothing. Opened and closed by `with`.

    Every method may raise StoreLockedError, StoreCorruptError, StoreReadOnlyError or StoreFullError.
    A row that cannot be read is left out of every answer, counted by `left_out`, and named by `check`.
    Text given to a store is already redacted. NUL characters and lone surrogates are replaced, never an error.
    """

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

    def append_events(self, events: Sequence[Event]) -> int:
        """Keep events; returns how many were new. One with a (session, key) already kept is skipped."""
        ...

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        """(position, event) pairs in order of position; positions grow and are never used again."""
        ...

    def put(
        self,
        lessons: Sequence[Lesson],
        expected: Mapping[LessonId, datetime | None],
        change: Change | None = None,
    ) -> None:
        """Write a version of each lesson and the record of the change, all in one transaction.

        `expected` maps an id to the `recorded_at` of the version it replaces (None: there is none). That version is
        closed at the new one's `recorded_at`. A change whose id is kept already replaces the record of that id, so
        that a long import can extend its one record batch by batch.

        Raises StaleWriteError, writing nothing, when the expected version is not the current one, and when a lesson
        with a new id states the rule of another living lesson: candidate, active or quarantined, of the same scope
        level, project and kind, with an equal `text.words.duplicate_key`. Later versions of a known lesson are
        not compared: a lesson that is brought back may state what another one says by now.
        """
        ...

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        """The lessons in the order asked, as known at that instant.

        Raises LessonNotFoundError for an unknown id, and for a lesson whose row is damaged.
        """
        ...

    def find(self, where: LessonFilter) -> list[Lesson]:
        """Lessons that fit, newest first, ties by id."""
        ...

    def record(self, entries: Sequence[LogRecord]) -> None:
        """Append to the log; a record whose id is already there is skipped."""
        ...

    def find_records(self, kind: type[L], where: LogFilter) -> list[L]:
        """Log records of that type, newest first; of changes and checkpoints that is the one received last."""
        ...

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]], only: bool = False) -> int:
        """Keep unit vectors of lessons' current versions; a revised lesson's old vector is gone with its text.

        With none to keep it answers how many lessons `LessonFilter.without_vector` would find, else 0. With `only`,
        vectors of every other embedder are erased; stopped half-way, the rest goes with the next such call.
        """
        ...

    def mark(self, key: str, value: str | None = None) -> str:
        """A small named value: sets it when given; returns what is kept now, or an empty string."""
        ...

    def edit_mark(self, key: str, edit: Callable[[str], str]) -> str:
        """Set a mark to what `edit` makes of its value, and return that.

        Nobody else writes in between, so that an edit is never lost. `edit` must not call the store.
        """
        ...

    def purge(
        self, ids: Sequence[LessonId], events_before: datetime | None = None, change: Change | None = None
    ) -> dict[str, int]:
        """Erase the lessons, every version, their text, vectors and log records; rows erased by table.

        The events that a version quotes lose their raw texts, and its rule and quotes are taken out of the other
        events, checkpoints and deliveries of the sessions it was seen in.

        With `events_before` also the raw texts of events that happened before it; that they happened stays known.
        The record of the change, if there is one, is kept in the same transaction.
        """
        ...

    def check(self) -> list[Problem]:
        """What is wrong with the file, its rows and its indexes; empty when sound. Changes nothing."""
        ...

    def left_out(self) -> int:
        """How many damaged rows were left out of answers since the store was opened."""
        ...

    def set_aside(self) -> dict[str, int]:
        """Move every damaged row, byte for byte, to where no question finds it; rows moved, by table.

        Nothing is deleted: a later version of Holdfast, or a person, may still make sense of it.
        """
        ...

    def extent(self) -> Extent:
        """How much there is and ever was: what a witness compares to notice that a store was lost or emptied."""
        ...

    def write_copy(self, path: str) -> None:
        """Write everything there is, as of one instant, into a new file that a store of this backend can open."""
        ...

    def take_copy(self, path: str) -> None:
        """Replace everything there is by what a file of `write_copy` holds: all of it or nothing.

        The copy has the current schema: open it once to bring an older one up to date.
        """
        ...


def get_readable(store: Store, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
    """Those of the lessons that can be read, in the order asked: one that is damaged or was erased is no error."""
    try:
        return store.get(ids, as_of)
    except LessonNotFoundError:
        found: list[Lesson] = []
        for lesson in ids:
            try:
                found += store.get([lesson], as_of)
            except LessonNotFoundError:
                continue
        return found


def damage_words(store: Store) -> str:
    """What a reader has to know of rows that were left out; empty for none."""
    count = store.left_out()
    return f"{count} damaged {'row' if count == 1 else 'rows'} left out: holdfast doctor" if count else ""
