"""`SqliteStore`: the Store port on one SQLite file.

Invariants: a call is one transaction; a lesson's derived rows (`derived`) change in the transaction that changes the
lesson; indexes hold current versions only, and a search about the past rebuilds them in memory for that instant
(`past`). What is loaded here is what every hook needs; the rest is loaded when it is called.
"""

from __future__ import annotations

import time

from holdfast.lean.plain import render_instant
from holdfast.stores.sqlite import eventlog
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.rows import LeftOut, clean
from holdfast.stores.sqlite.search import SqliteSearch

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from typing import Self

    from holdfast.domain.event import Event
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.records import Change
    from holdfast.domain.statefamilies import StateFamily
    from holdfast.domain.vocabulary import LessonId
    from holdfast.ports.activity import L, LogRecord
    from holdfast.ports.filters import EventFilter, LessonFilter, LogFilter
    from holdfast.ports.storecare import Extent, Problem


class SqliteStore(SqliteSearch):
    """See `ports.store.Store` for what each method promises. Safe to share between threads."""

    def __init__(self, path: str, timeout_s: float = 30.0, *, upgrade: bool = True, frozen: bool = False) -> None:
        self.path = path
        self._connection = Connection(path, timeout_s, upgrade, frozen)
        self._left_out = LeftOut()

    def __enter__(self) -> Self:
        self._connection.open()
        return self

    def __exit__(self, *exc: object) -> None:
        if self._past is not None:
            self._past.close()
            self._past = None
        self._vectors = None
        self._connection.close()

    def append_events(self, events: Sequence[Event]) -> int:
        """Keep events; returns how many were new."""
        with self._connection.writing() as sql:
            return eventlog.append(sql, events)

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        """(position, event) pairs in order of position."""
        with self._connection.reading() as sql:
            return eventlog.find_events(sql, where, self._left_out)

    def put(
        self,
        lessons: Sequence[Lesson],
        expected: Mapping[LessonId, datetime | None],
        change: Change | None = None,
    ) -> None:
        """Write a version of each lesson and the change; a person's is flushed to the disk before this returns."""
        from holdfast.stores.sqlite import versions

        durable = any(lesson.trust == "person" for lesson in lessons)
        with self._connection.writing(durable=durable) as sql:
            versions.put(sql, lessons, expected)
            if change is not None:
                eventlog.put_change(sql, change)

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        """The lessons in the order asked, as known at that instant."""
        from holdfast.stores.sqlite.lessons import get

        with self._connection.reading() as sql:
            return get(sql, ids, as_of, self._left_out)

    def find(self, where: LessonFilter) -> list[Lesson]:
        """Lessons that fit, newest first, ties by id."""
        from holdfast.stores.sqlite.lessons import find

        with self._connection.reading() as sql:
            return find(sql, where, self._left_out)

    def record(self, entries: Sequence[LogRecord]) -> None:
        """Append to the log; a record whose id is already there is skipped."""
        with self._connection.writing() as sql:
            eventlog.record(sql, entries)

    def find_records(self, kind: type[L], where: LogFilter) -> list[L]:
        """Log records of that type, newest first."""
        with self._connection.reading() as sql:
            return eventlog.find_records(sql, kind, where, self._left_out)

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
        """Keep unit vectors of lessons' current versions, an id without one skipped."""
        from holdfast.stores.sqlite.vectors import write

        with self._connection.writing() as sql:
            write(sql, embedder_id, vectors)

    def count_without_vector(self, embedder_id: str) -> int:
        """How many lessons have no vector of that embedder."""
        from holdfast.stores.sqlite.vectors import count_waiting

        with self._connection.reading() as sql:
            return count_waiting(sql, embedder_id, self._left_out)

    def drop_other_vectors(self, embedder_id: str) -> None:
        """Erase the vectors of every other embedder, a few in each transaction."""
        from holdfast.stores.sqlite.vectors import erase_others

        while erase_others(self._connection, embedder_id):
            pass

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        """The owner's value; empty for none."""
        with self._connection.reading() as sql:
            return _read_state(sql, family, owner)

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        """Keep a value in the place of the owner's; nothing is written where it is the same."""
        value = clean(value)
        if self.get_state(family, owner) != value:
            with self._connection.writing() as sql:
                _write_state(sql, family, owner, value)

    def edit_state(self, family: StateFamily, owner: str, edit: Callable[[str], str]) -> str:
        """Set a value to what `edit` makes of it; nobody else writes in between."""
        with self._connection.writing() as sql:
            before = _read_state(sql, family, owner)
            value = clean(edit(before))
            if value != before:
                _write_state(sql, family, owner, value)
            return value

    def expire_states(self, now: datetime) -> int:
        """Erase the values whose family's days are over by then; returns how many."""
        from holdfast.stores.sqlite.states import expire

        with self._connection.writing() as sql:
            return expire(sql, now)

    def purge(self, ids: Sequence[LessonId], change: Change | None = None) -> dict[str, int]:
        """Erase the lessons and all that derives from them; rows erased by table."""
        from holdfast.stores.sqlite.erase import flush, purge

        with self._connection.writing(durable=True) as sql:
            erased = purge(sql, ids)
            if change is not None:
                eventlog.put_change(sql, change)
        flush(self._connection)
        return erased

    def erase_event_texts(self, before: datetime) -> int:
        """Erase the raw texts of events that happened before that instant; returns how many events had any."""
        from holdfast.stores.sqlite.erase import drop_texts, flush

        with self._connection.writing(durable=True) as sql:
            count = drop_texts(sql, render_instant(before))
        flush(self._connection)
        return count

    def check(self) -> list[Problem]:
        """What is wrong with the file; empty when sound. Changes nothing."""
        from holdfast.stores.sqlite.soundness import check

        return check(self._connection)

    def left_out(self) -> int:
        """How many damaged rows were left out of answers since the store was opened."""
        return len(self._left_out)

    def set_aside(self) -> dict[str, int]:
        """Move every damaged row to the table `set_aside`; rows moved, by table."""
        from holdfast.stores.sqlite.damage import set_aside

        with self._connection.writing(durable=True) as sql:
            moved = set_aside(sql)
        self._left_out = LeftOut()
        return moved

    def extent(self) -> Extent:
        """How much there is and ever was."""
        from holdfast.ports.storecare import Extent

        with self._connection.reading() as sql:
            (current,) = sql.execute(
                "SELECT count(*) FROM lessons WHERE retracted_at IS NULL AND state <> 'forgotten'"
            ).fetchone()
            last = dict(sql.execute("SELECT name, seq FROM sqlite_sequence WHERE name IN ('lessons', 'events')"))
        return Extent(lessons=current, versions=last.get("lessons", 0), events=last.get("events", 0))

    def write_copy(self, path: str) -> None:
        """Write everything into a new SQLite file, as of one instant."""
        from holdfast.stores.sqlite.copying import write_copy

        write_copy(self._connection, path)

    def take_copy(self, path: str) -> None:
        """Replace everything by what a file of `write_copy` holds."""
        from holdfast.stores.sqlite.copying import take_copy

        if self._past is not None:
            self._past.close()
        self._past = self._vectors = None
        take_copy(self._connection, path)
        self._left_out = LeftOut()


def _read_state(sql: sqlite3.Connection, family: StateFamily, owner: str) -> str:
    row = sql.execute("SELECT value FROM state WHERE family = ? AND owner = ?", (family.name, clean(owner))).fetchone()
    return row[0] if row else ""


def _write_state(sql: sqlite3.Connection, family: StateFamily, owner: str, value: str) -> None:
    """Keep the value, with the time; an empty one is kept no more."""
    if value:
        row = (family.name, clean(owner), value, time.time_ns() // 1000)
        sql.execute("INSERT OR REPLACE INTO state (family, owner, value, updated_at) VALUES (?, ?, ?, ?)", row)
    else:
        sql.execute("DELETE FROM state WHERE family = ? AND owner = ?", (family.name, clean(owner)))
