"""`SqliteStore`: the Store port on one SQLite file.

Each call is one transaction. A lesson's derived rows (`derived`) change in the transaction that changes the lesson.
Indexes contain current versions only; a search about the past rebuilds them in memory for that instant (`past`).
This module imports only what every hook needs; methods import the rest when they are called.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Self

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import StateFamily
from holdfast.domain.vocabulary import LessonId, State
from holdfast.lean.plain import render_instant
from holdfast.ports.filters import EventFilter, LessonFilter, LogFilter
from holdfast.stores.sqlite import eventlog
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.lessons import current_versions, find, get
from holdfast.stores.sqlite.rows import LeftOut, clean
from holdfast.stores.sqlite.search import SqliteSearch

if TYPE_CHECKING:
    import sqlite3

    from holdfast.ports.activity import L, LogRecord
    from holdfast.ports.storecare import Extent, Problem


class SqliteStore(SqliteSearch):
    """See `ports.store.Store` for the contract of each method. Safe to share between threads."""

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
        """Store events and return how many were new."""
        with self._connection.writing() as sql:
            return eventlog.append(sql, events)

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        """Return (position, event) pairs in order of position."""
        with self._connection.reading() as sql:
            return eventlog.find_events(sql, where, self._left_out)

    def put(
        self,
        lessons: Sequence[Lesson],
        expected: Mapping[LessonId, datetime | None],
        change: Change | None = None,
    ) -> None:
        """Write a version of each lesson and the change; flush a person's lesson to the disk before returning."""
        from holdfast.stores.sqlite import versions

        durable = any(lesson.trust == "person" for lesson in lessons)
        with self._connection.writing(durable=durable) as sql:
            versions.put(sql, lessons, expected)
            if change is not None:
                eventlog.put_change(sql, change)

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        """Return the lessons in the order of the ids, as known at that instant."""
        with self._connection.reading() as sql:
            return get(sql, ids, as_of, self._left_out)

    def current_versions(self, ids: Sequence[LessonId]) -> dict[LessonId, tuple[State, datetime]]:
        """Return the state and the time of recording of each lesson's current version; leave out unknown ids."""
        with self._connection.reading() as sql:
            return current_versions(sql, ids)

    def find(self, where: LessonFilter) -> list[Lesson]:
        """Return the lessons that match, newest first, ties by id."""
        with self._connection.reading() as sql:
            return find(sql, where, self._left_out)

    def record(self, entries: Sequence[LogRecord]) -> None:
        """Append records to the log; skip a record whose id is already there."""
        with self._connection.writing() as sql:
            eventlog.record(sql, entries)

    def find_records(self, kind: type[L], where: LogFilter) -> list[L]:
        """Return log records of that type, newest first."""
        with self._connection.reading() as sql:
            return eventlog.find_records(sql, kind, where, self._left_out)

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
        """Store unit vectors of lessons' current versions; skip ids that have no current version."""
        from holdfast.stores.sqlite.vectors import write

        with self._connection.writing() as sql:
            write(sql, embedder_id, vectors)

    def count_without_vector(self, embedder_id: str) -> int:
        """Count the lessons without a vector of that embedder."""
        from holdfast.stores.sqlite.vectors import count_waiting

        with self._connection.reading() as sql:
            return count_waiting(sql, embedder_id, self._left_out)

    def drop_other_vectors(self, embedder_id: str) -> None:
        """Erase the vectors of every other embedder, a few in each transaction."""
        from holdfast.stores.sqlite.vectors import erase_others

        while erase_others(self._connection, embedder_id):
            pass

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        """Return the owner's value; empty if there is none."""
        with self._connection.reading() as sql:
            return _read_state(sql, family, owner)

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        """Replace the owner's value; write nothing if it is the same."""
        value = clean(value)
        if self.get_state(family, owner) != value:
            with self._connection.writing() as sql:
                _write_state(sql, family, owner, value)

    def edit_state(self, family: StateFamily, owner: str, edit: Callable[[str], str]) -> str:
        """Replace a value by what `edit` makes of it; nobody else writes in between."""
        with self._connection.writing() as sql:
            before = _read_state(sql, family, owner)
            value = clean(edit(before))
            if value != before:
                _write_state(sql, family, owner, value)
            return value

    def expire_states(self, now: datetime) -> int:
        """Erase the values older than their family's days; return how many."""
        from holdfast.stores.sqlite.states import expire

        with self._connection.writing() as sql:
            return expire(sql, now)

    def purge(self, ids: Sequence[LessonId], change: Change | None = None) -> dict[str, int]:
        """Erase the lessons and everything derived from them; return the number of rows erased by table."""
        from holdfast.stores.sqlite.erase import flush, purge

        with self._connection.writing(durable=True) as sql:
            erased = purge(sql, ids)
            if change is not None:
                eventlog.put_change(sql, change)
        flush(self._connection)
        return erased

    def erase_event_texts(self, before: datetime) -> int:
        """Erase the raw texts of events that happened before that instant; return how many events had any."""
        from holdfast.stores.sqlite.erase import drop_texts, flush

        with self._connection.writing(durable=True) as sql:
            count = drop_texts(sql, render_instant(before))
        flush(self._connection)
        return count

    def check(self) -> list[Problem]:
        """Return the faults of the file; empty when it is sound. Changes nothing."""
        from holdfast.stores.sqlite.soundness import check

        return check(self._connection)

    def left_out(self) -> int:
        """Return how many damaged rows were left out of answers since the store was opened."""
        return len(self._left_out)

    def set_aside(self) -> dict[str, int]:
        """Move every damaged row to the table `set_aside`; return the number of rows moved, by table."""
        from holdfast.stores.sqlite.damage import set_aside

        with self._connection.writing(durable=True) as sql:
            moved = set_aside(sql)
        self._left_out = LeftOut()
        return moved

    def extent(self) -> Extent:
        """Return the store's size now and ever."""
        from holdfast.ports.storecare import Extent

        with self._connection.reading() as sql:
            (current,) = sql.execute(
                "SELECT count(*) FROM lessons WHERE retracted_at IS NULL AND state <> 'forgotten'"
            ).fetchone()
            last = dict(sql.execute("SELECT name, seq FROM sqlite_sequence WHERE name IN ('lessons', 'events')"))
        return Extent(lessons=current, versions=last.get("lessons", 0), events=last.get("events", 0))

    def write_copy(self, path: str) -> None:
        """Write a snapshot of the whole store into a new SQLite file."""
        from holdfast.stores.sqlite.copying import write_copy

        write_copy(self._connection, path)

    def take_copy(self, path: str) -> None:
        """Replace the whole store by the content of a file from `write_copy`."""
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
    """Write the value with the machine's time; an empty value deletes the row."""
    if value:
        row = (family.name, clean(owner), value, time.time_ns() // 1000)
        sql.execute("INSERT OR REPLACE INTO state (family, owner, value, updated_at) VALUES (?, ?, ?, ?)", row)
    else:
        sql.execute("DELETE FROM state WHERE family = ? AND owner = ?", (family.name, clean(owner)))
