"""`SqliteStore`: the Store port on one SQLite file. `ports.store` documents every method.

Each call is one transaction, or part of the one that `reading` holds open. A lesson's derived rows change in the
transaction that changes the lesson. Indexes contain current versions only; a search about the past rebuilds them in
memory for that instant (`Past`).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.query import Query
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import RowFamily, StateFamily
from holdfast.domain.vocabulary import LessonId, ProjectId, State
from holdfast.lean.plain import render_instant
from holdfast.ports.store import (
    ErrorMatches,
    EventFilter,
    Extent,
    Facet,
    L,
    LessonFilter,
    LinkedMatch,
    LogFilter,
    LogRecord,
    PathMatch,
    PinnedMatch,
    Problem,
    RecentMatch,
    SessionFilter,
    SessionRow,
    SymbolMatch,
    TextMatches,
    TokenMatch,
    TriggerMatch,
    TurnMatches,
    VectorMatch,
    VersionSpan,
)
from holdfast.stores.sqlite import choosing, erase, eventlog, fulltext, matching, sessions, soundness
from holdfast.stores.sqlite import lessons as versions
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.rows import LeftOut, clean, micros
from holdfast.stores.sqlite.schema import build

if TYPE_CHECKING:  # numpy takes a tenth of a second to load, and few calls need vectors
    from holdfast.stores.sqlite.vectors import VectorIndexes


class SqliteStore:
    """A store on one file. Safe to share between threads."""

    def __init__(self, path: str, timeout_s: float = 30.0, *, upgrade: bool = True, frozen: bool = False) -> None:
        self.path = path
        self._connection = Connection(path, timeout_s, upgrade, frozen)
        self._left_out = LeftOut()
        self._vectors: VectorIndexes | None = None
        self._past = Past()
        self._content = object()

    def __enter__(self) -> Self:
        self._connection.open()
        return self

    def __exit__(self, *exc: object) -> None:
        self._forget_indexes()
        self._connection.close()

    @property
    def connection(self) -> Connection:
        """The connection, for what else is in the file."""
        return self._connection

    def reading(self) -> AbstractContextManager[object]:
        return self._connection.holding()

    def content(self) -> Hashable:
        return self._content

    @contextmanager
    def changing(self) -> Iterator[None]:
        try:
            with self._connection.changing():
                yield
        except BaseException:
            self._forget_indexes()  # they may have read rows that were taken back
            raise

    def append_events(self, events: Sequence[Event]) -> int:
        with self._connection.writing() as sql:
            return eventlog.append(sql, events)

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        with self._connection.reading() as sql:
            return eventlog.find_events(sql, where, self._left_out)

    def list_sessions(self, where: SessionFilter) -> list[SessionRow]:
        with self._connection.reading() as sql:
            return sessions.list_sessions(sql, where)

    def list_projects(self) -> list[ProjectId]:
        with self._connection.reading() as sql:
            return sessions.list_projects(sql)

    def put(
        self,
        lessons: Sequence[Lesson],
        expected: Mapping[LessonId, datetime | None],
        change: Change | None = None,
    ) -> None:
        # a person's lesson is flushed to the disk before the call returns
        durable = any(lesson.trust == "person" for lesson in lessons)
        with self._connection.writing(durable=durable) as sql:
            versions.put_versions(sql, lessons, expected)
            if change is not None:
                eventlog.put_change(sql, change)

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        with self._connection.reading() as sql:
            return versions.get_lessons(sql, ids, as_of, self._left_out)

    def current_versions(self, ids: Sequence[LessonId]) -> dict[LessonId, tuple[State, datetime]]:
        with self._connection.reading() as sql:
            return versions.current_versions(sql, ids)

    def find(self, where: LessonFilter) -> list[Lesson]:
        with self._connection.reading() as sql:
            return choosing.find_lessons(sql, where, self._left_out)

    def count_by(self, where: LessonFilter, facet: Facet, most: int) -> dict[str, int]:
        return self.count_facets(where, (facet,), most)[facet]

    def count_facets(self, where: LessonFilter, facets: Sequence[Facet], most: int) -> dict[Facet, dict[str, int]]:
        with self._connection.reading() as sql:
            return choosing.count_facets(sql, where, facets, most, self._left_out)

    def count_versions(self, project: ProjectId, since: datetime, step: timedelta, count: int) -> list[VersionSpan]:
        with self._connection.reading() as sql:
            return versions.count_versions(sql, project, since, step, count)

    def record(self, entries: Sequence[LogRecord]) -> None:
        with self._connection.writing() as sql:
            eventlog.record(sql, entries)

    def find_records(self, kind: type[L], where: LogFilter) -> list[L]:
        with self._connection.reading() as sql:
            return eventlog.find_records(sql, kind, where, self._left_out)

    def match_tokens(self, query: Query) -> list[TokenMatch]:
        with self._connection.reading() as sql:
            return matching.match_tokens(self._index(sql, query), query)

    def match_errors(self, query: Query, limit: int) -> ErrorMatches:
        if not query.error:
            return ErrorMatches()
        with self._connection.reading() as sql:
            return fulltext.match_errors(self._index(sql, query), query, limit)

    def match_text(self, query: Query, limit: int, neighbours: int) -> TextMatches:
        if not query.text:
            return TextMatches()
        with self._connection.reading() as sql:
            return fulltext.match_text(self._index(sql, query), query, limit, neighbours)

    def match_paths(self, query: Query, limit: int) -> list[PathMatch]:
        with self._connection.reading() as sql:
            return list(matching.match_paths(self._index(sql, query), query, limit))

    def match_symbols(self, query: Query, limit: int) -> list[SymbolMatch]:
        with self._connection.reading() as sql:
            return list(matching.match_symbols(self._index(sql, query), query, limit))

    def match_linked(self, query: Query, limit: int) -> list[LinkedMatch]:
        if not query.linked:
            return []
        with self._connection.reading() as sql:
            return matching.match_linked(self._index(sql, query), query, limit)

    def match_triggers(self, query: Query, limit: int) -> list[TriggerMatch]:
        if not (query.code or query.command or query.paths or query.symbols):
            return []
        with self._connection.reading() as sql:
            return matching.match_triggers(self._index(sql, query), query, limit)

    def match_occasions(self, query: Query, limit: int) -> list[LessonId]:
        with self._connection.reading() as sql:
            return matching.match_occasions(self._index(sql, query), query, limit)

    def match_vector(self, query: Query, limit: int) -> list[VectorMatch]:
        from holdfast.stores.sqlite.vectors import VectorIndexes

        with self._connection.reading() as live:
            sql = self._index(live, query)
            if query.as_of is not None:
                self._past.vectors = self._past.vectors or VectorIndexes()
                return self._past.vectors.match(sql, query, limit)
            self._vectors = self._vectors or VectorIndexes()
            return self._vectors.match(sql, query, limit)

    def list_recent(self, query: Query, limit: int) -> list[RecentMatch]:
        with self._connection.reading() as sql:
            return matching.list_recent(self._index(sql, query), query, limit)

    def list_pinned(self, query: Query, limit: int) -> list[PinnedMatch]:
        with self._connection.reading() as sql:
            return matching.list_pinned(self._index(sql, query), query, limit)

    def search_turns(self, query: Query, limit: int) -> TurnMatches:
        fulltext.catch_up(self._connection)
        with self._connection.reading() as sql:
            return fulltext.search_turns(sql, query, limit)

    def count_lessons(self, query: Query, most: int) -> int:
        with self._connection.reading() as sql:
            return matching.count_matching(self._index(sql, query), query, most)

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
        from holdfast.stores.sqlite.vectors import put_vectors

        with self._connection.writing() as sql:
            put_vectors(sql, embedder_id, vectors)

    def count_without_vector(self, embedder_id: str) -> int:
        where = LessonFilter(all_projects=True, without_vector=embedder_id)
        with self._connection.reading() as sql:
            return choosing.count_lessons(sql, where, self._left_out)

    def drop_other_vectors(self, embedder_id: str) -> None:
        while erase.erase_other_vectors(self._connection, embedder_id):
            pass

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        with self._connection.reading() as sql:
            return _read_state(sql, family, owner)

    def get_states(self, cells: Sequence[tuple[StateFamily, str]]) -> list[str]:
        with self._connection.reading() as sql:
            return [_read_state(sql, family, owner) for family, owner in cells]

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        value = clean(value)
        if self.get_state(family, owner) != value:
            with self._connection.writing() as sql:
                _write_state(sql, family, owner, value)

    def edit_state(self, family: StateFamily, owner: str, edit: Callable[[str], str]) -> str:
        with self._connection.writing() as sql:
            before = _read_state(sql, family, owner)
            value = clean(edit(before))
            if value != before:
                _write_state(sql, family, owner, value)
            return value

    def expire_states(self, now: datetime) -> int:
        with self._connection.writing() as sql:
            return erase.expire_states(sql, now)

    def get_rows(self, family: RowFamily, owner: str, keys: Sequence[str] | None = None) -> dict[str, str]:
        with self._connection.reading() as sql:
            return _read_rows(sql, family, owner, keys)

    def set_rows(self, family: RowFamily, owner: str, values: Mapping[str, str]) -> int:
        wanted = {clean(key): clean(value) for key, value in values.items()}
        if not wanted or _differing(self.get_rows(family, owner, [*wanted]), wanted) == {}:
            return 0
        with self._connection.writing() as sql:
            return _write_rows(sql, family, owner, wanted)

    def purge(self, ids: Sequence[LessonId], change: Change | None = None) -> dict[str, int]:
        with self._connection.writing(durable=True) as sql:
            erased = erase.purge(sql, ids)
            if change is not None:
                eventlog.put_change(sql, change)
        self._connection.checkpoint()  # erased text must not survive in the write-ahead log
        return erased

    def erase_event_texts(self, before: datetime) -> int:
        with self._connection.writing(durable=True) as sql:
            count = erase.drop_texts(sql, render_instant(before))
        self._connection.checkpoint()
        return count

    def check(self) -> list[Problem]:
        return soundness.check(self._connection)

    def left_out(self) -> int:
        return len(self._left_out)

    def set_aside(self) -> dict[str, int]:
        with self._connection.writing(durable=True) as sql:
            moved = soundness.set_aside(sql)
        self._left_out = LeftOut()
        return moved

    def extent(self) -> Extent:
        with self._connection.reading() as sql:
            (current,) = sql.execute(
                "SELECT count(*) FROM lessons WHERE retracted_at IS NULL AND state <> 'forgotten'"
            ).fetchone()
            last = dict(sql.execute("SELECT name, seq FROM sqlite_sequence WHERE name IN ('lessons', 'events')"))
        return Extent(lessons=current, versions=last.get("lessons", 0), events=last.get("events", 0))

    def write_copy(self, path: str) -> None:
        soundness.write_copy(self._connection, path)

    def take_copy(self, path: str) -> None:
        self._forget_indexes()
        soundness.take_copy(self._connection, path)
        self._left_out = LeftOut()
        self._content = object()

    def _index(self, sql: sqlite3.Connection, query: Query) -> sqlite3.Connection:
        """Return the database whose current lessons are those that the query is about."""
        return sql if query.as_of is None else self._past.sql(sql, query)

    def _forget_indexes(self) -> None:
        self._past.close()
        self._vectors = None


class Past:
    """The index of one instant, built on first use and kept until another instant is queried or a write happens.

    A question about the past pays for it (some 0.2 ms a lesson known then); the other retrievers of the same question
    use it again.
    """

    def __init__(self) -> None:
        self.vectors: VectorIndexes | None = None
        self._key: tuple[Any, ...] = ()
        self._made: sqlite3.Connection | None = None

    def sql(self, live: sqlite3.Connection, query: Query) -> sqlite3.Connection:
        """Return a database whose current lessons are those known and true at the query's instant, in its scope."""
        assert query.as_of is not None
        (version,) = live.execute("PRAGMA data_version").fetchone()
        key = (micros(query.as_of), query.all_projects, query.project, version, live.total_changes)
        if self._made is None or key != self._key:
            self.close()
            self._made, self._key = _snapshot(live, query), key
        return self._made

    def close(self) -> None:
        """Release the memory."""
        if self._made is not None:
            self._made.close()
        self._made = self.vectors = None


def _snapshot(live: sqlite3.Connection, query: Query) -> sqlite3.Connection:
    made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    build(made)
    known, known_args = versions.known_then(query.as_of)
    true, true_args = versions.true_then(query.as_of)
    scope, scope_args = ("1", []) if query.all_projects else ("l.owner IN ('', ?)", [clean(query.project)])
    rows = live.execute(
        f"SELECT l.row, l.id, l.doc FROM lessons l WHERE {known} AND {true} AND {scope} ORDER BY l.row",
        (*known_args, *true_args, *scope_args),
    )
    made.execute("BEGIN")
    for row, id_, doc in rows:
        lesson = versions.lesson_or_none(id_, None, doc)
        if lesson is None:
            continue
        versions.insert_version(made, lesson, doc, row)
        made.executemany(
            "INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, ?, ?, ?)",
            live.execute("SELECT lesson, embedder, scale, codes FROM vectors WHERE lesson = ?", (row,)),
        )
    made.execute("COMMIT")
    return made


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


KEYS_AT_ONCE = 500
"""Keys in one statement: an older SQLite takes 999 parameters."""


def _read_rows(sql: sqlite3.Connection, family: RowFamily, owner: str, keys: Sequence[str] | None) -> dict[str, str]:
    query = "SELECT key, value FROM state_rows WHERE family = ? AND owner = ?"
    of = (family.name, clean(owner))
    if keys is None:
        return dict(sql.execute(f"{query} ORDER BY key", of))
    wanted, rows = sorted({clean(key) for key in keys}), dict[str, str]()
    for start in range(0, len(wanted), KEYS_AT_ONCE):
        some = wanted[start : start + KEYS_AT_ONCE]
        rows.update(sql.execute(f"{query} AND key IN ({', '.join('?' * len(some))}) ORDER BY key", (*of, *some)))
    return rows


def _write_rows(sql: sqlite3.Connection, family: RowFamily, owner: str, values: Mapping[str, str]) -> int:
    """Write what differs; the look is repeated here, because another process may have written since the first."""
    of = (family.name, clean(owner))
    changed = _differing(_read_rows(sql, family, owner, [*values]), values)
    sql.executemany(
        "INSERT OR REPLACE INTO state_rows (family, owner, key, value) VALUES (?, ?, ?, ?)",
        [(*of, key, value) for key, value in changed.items() if value],
    )
    sql.executemany(
        "DELETE FROM state_rows WHERE family = ? AND owner = ? AND key = ?",
        [(*of, key) for key, value in changed.items() if not value],
    )
    return len(changed)


def _differing(present: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in wanted.items() if present.get(key, "") != value}
