"""Copies of an organisation's memory: a SQLite file, which opens anywhere, written from and taken into this database.

A copy has what a person's own memory has: events, every version of each lesson, vectors, the log, states. What a team's
server stores beside it (members, tokens, audit log, documents) is not in it: back up the database for that.
"""

from __future__ import annotations

import os
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.errors import StoreError
from holdfast.stores._shared.rows import DAMAGED, micros, record_of
from holdfast.stores.postgresql import derived, eventlog
from holdfast.stores.postgresql.lessons import VERSIONS, insert_row, lesson_or_none, version_columns
from holdfast.stores.postgresql.placement import MOVING
from holdfast.stores.postgresql.rows import key
from holdfast.stores.postgresql.tenant import Sql, Tenant
from holdfast.stores.postgresql.vectors import put_vectors
from holdfast.stores.sqlite.connection import Connection, translate
from holdfast.stores.sqlite.lessons import insert_version
from holdfast.stores.sqlite.sessions import rebuild
from holdfast.stores.sqlite.vectors import pack

READ_AT_ONCE = 1_000
WAIT_S = 30.0
TABLES = (
    "counters", "events", "lessons", *derived.TABLES, "words", "postings", "vectors", "turns", "turn_postings",
    "turns_indexed", "sessions", "session_branches", "sessions_summed", "facets",
    *(table for table, _ in eventlog.TABLES.values()), "change_lessons", "state", "state_rows",
    "set_aside",
)  # fmt: skip
"""The tables of a store, which a copy replaces."""
VERSION_COLUMNS = (
    "id", "recorded_at", "retracted_at", "owner", "state", "kind", "branch", "path_prefix", "pinned", "salience",
    "valid_from", "valid_to", "topic_key", "duplicate_key", "doc",
)  # fmt: skip
"""Columns of a version that both backends have, in SQLite's order."""


def write_copy(tenant: Tenant, path: str) -> None:
    """Write the organisation's memory of one instant into a new SQLite file. Raises StoreError."""
    if os.path.exists(path):
        raise StoreError(f"{path} is there already")
    with _opened(path) as lite, tenant.reading():
        tenant.read(lambda sql: _write_events(sql, lite))
        rows = tenant.read(lambda sql: _write_versions(sql, lite))
        tenant.read(lambda sql: _write_vectors(sql, lite, rows))
        tenant.read(lambda sql: _write_others(sql, lite))


def take_copy(tenant: Tenant, path: str) -> None:
    """Replace the organisation's memory by that of the file, in one transaction. Raises StoreError.

    It waits for those who write, and others wait for it: else what they write would stay beside the copy.
    """
    with _opened(path) as lite:

        def work(sql: Sql) -> None:
            sql.execute("SELECT pg_advisory_xact_lock(%s, %s)", (MOVING, sql.org))  # writers have it shared
            for table in TABLES:
                sql.execute(f"DELETE FROM {table} WHERE org = %s", (sql.org,))
            _take_events(sql, lite)
            _take_versions(sql, lite)
            _take_others(sql, lite)

        tenant.write(work)


@contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    """Open the file in one write transaction, with the current schema."""
    connection = Connection(path, WAIT_S)
    connection.open()
    try:
        with connection.writing(durable=True) as lite:
            yield lite
    except sqlite3.Error as exc:
        raise translate(exc, path) from exc
    finally:
        connection.close()


def _pages(sql: Sql, table: str, number: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """Yield all rows of the table in order of the column `number`, which comes first."""
    reading = f"SELECT {number}, {columns} FROM {table} WHERE org = %s AND {number} > %s ORDER BY {number} LIMIT %s"
    last = -1
    while rows := sql.execute(reading, (sql.org, last, READ_AT_ONCE)).fetchall():
        yield from rows
        last = rows[-1][0]


def _write_events(sql: Sql, lite: sqlite3.Connection) -> None:
    def full(row: tuple[Any, ...]) -> tuple[Any, ...]:
        try:
            event = record_of(Event, row[-1])
        except DAMAGED:
            return row
        return row[0], event.session, event.key, event.project, row[-1]

    rows = map(full, _pages(sql, "events", "position", "session, key, project, doc"))
    lite.executemany("INSERT INTO events (position, session, key, project, doc) VALUES (?, ?, ?, ?, ?)", rows)
    rebuild(lite)
    _set_sequence(lite, "events", eventlog.read_counters(sql, "events"))


def _write_versions(sql: Sql, lite: sqlite3.Connection) -> dict[int, int]:
    """Write every version, numbered from 1; return the new number of each current row."""
    current: dict[int, int] = {}
    number = 0
    names, slots = ", ".join(VERSION_COLUMNS), ", ".join("?" * (1 + len(VERSION_COLUMNS)))
    for number, (row, *values) in enumerate(_pages(sql, "lessons", "row", ", ".join(VERSION_COLUMNS)), start=1):
        version = dict(zip(VERSION_COLUMNS, values, strict=True))
        lesson = lesson_or_none(version["id"], version["retracted_at"], version["doc"])
        if lesson is not None and version["retracted_at"] is None:
            insert_version(lite, lesson, version["doc"], number)
            current[row] = number
            continue
        if lesson is not None:
            version |= _full_texts(lesson)
        lite.execute(f"INSERT INTO lessons (row, {names}) VALUES ({slots})", (number, *version.values()))
    _set_sequence(lite, "lessons", max(number, eventlog.read_counters(sql, VERSIONS)))
    return current


def _full_texts(lesson: Lesson) -> dict[str, Any]:
    """Return the texts that this database has as bounded keys."""
    return {
        "id": lesson.id, "owner": lesson.scope.owner, "branch": lesson.scope.branch,
        "path_prefix": lesson.scope.path_prefix, "topic_key": lesson.topic_key,
    }  # fmt: skip


def _write_vectors(sql: Sql, lite: sqlite3.Connection, rows: dict[int, int]) -> None:
    vectors = (
        (rows[row], embedder, *pack([float(part) for part in text.strip("[]").split(",")]))
        for row, embedder, text in _pages(sql, "vectors", "lesson", "embedder, embedding::text")
        if row in rows
    )
    lite.executemany("INSERT INTO vectors (lesson, embedder, scale, codes) VALUES (?, ?, ?, ?)", vectors)


def _write_others(sql: Sql, lite: sqlite3.Connection) -> None:
    for table, names in eventlog.TABLES.values():
        columns = ("id", "at", *names, "doc")
        _fill(lite, table, ("position", *columns), _pages(sql, table, "position", ", ".join(columns)))
    for table, columns in (
        ("change_lessons", ("lesson", "change")),
        ("state", ("family", "owner", "value", "updated_at")),
    ):
        rows = sql.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE org = %s", (sql.org,))
        _fill(lite, table, columns, rows)
    rows = sql.execute("SELECT family, owner, name, value FROM state_rows WHERE org = %s", (sql.org,))
    _fill(lite, "state_rows", ("family", "owner", "key", "value"), rows)
    aside = sql.execute("SELECT source, position, columns, doc FROM set_aside WHERE org = %s", (sql.org,))
    _fill(lite, "set_aside", ("source", "row", "columns", "doc"), aside)


def _fill(lite: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    slots = ", ".join("?" * len(columns))
    lite.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({slots})", rows)


def _set_sequence(lite: sqlite3.Connection, table: str, last: int) -> None:
    """Have the table number its next row after `last`, so that the copy's extent is that of the memory."""
    lite.execute("DELETE FROM sqlite_sequence WHERE name = ?", (table,))
    lite.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))


def _sequence(lite: sqlite3.Connection, table: str) -> int:
    row = lite.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return int(row[0]) if row else 0


def _take_events(sql: Sql, lite: sqlite3.Connection) -> None:
    eventlog.add_to_counter(sql, "events", _sequence(lite, "events"))  # the counters were erased with the rest
    rows = lite.execute("SELECT position, session, key, project, doc FROM events ORDER BY position")
    while some := rows.fetchmany(READ_AT_ONCE):
        eventlog.insert_rows(sql, [_event_row(*row) for row in some])


def _event_row(position: int, session: str, name: str, project: str, doc: str) -> tuple[Any, ...]:
    try:
        event = record_of(Event, doc)
    except DAMAGED:
        return position, key(session), key(name), key(project), 0, False, doc.replace("\0", "")
    return position, key(session), key(name), key(project), micros(event.at), eventlog.has_text(event), doc


def _take_versions(sql: Sql, lite: sqlite3.Connection) -> None:
    reading = lite.execute(f"SELECT row, {', '.join(VERSION_COLUMNS)} FROM lessons ORDER BY row")
    owners: dict[str, int] = {}
    while some := reading.fetchmany(READ_AT_ONCE):
        for number, (old_row, *values) in zip(eventlog.row_numbers(sql, len(some)), some, strict=True):
            version = dict(zip(VERSION_COLUMNS, values, strict=True))
            _take_version(sql, lite, old_row, number, version)
            owners[version["owner"]] = owners.get(version["owner"], 0) + 1
    erased = _sequence(lite, "lessons") - sum(owners.values())
    owners[""] = owners.get("", 0) + max(0, erased)
    for owner, count in sorted(owners.items()):
        eventlog.add_to_counter(sql, VERSIONS, count, owner)


def _take_version(sql: Sql, lite: sqlite3.Connection, old_row: int, row: int, version: dict[str, Any]) -> None:
    retracted, doc = version["retracted_at"], version["doc"]
    lesson = lesson_or_none(key(version["id"]), retracted, doc)
    if lesson is None:  # damaged: its row is taken as it is, for `check` and `set_aside`
        texts = {name: key(version[name]) for name in ("id", "owner", "branch", "path_prefix", "topic_key")}
        texts["duplicate_key"] = key(version["duplicate_key"])
        damaged = version | texts | {"level": "project", "pinned": bool(version["pinned"]), "files": []}
        insert_row(sql, row, damaged | {"doc": doc.replace("\0", "")})
        return
    insert_row(sql, row, version_columns(lesson, doc) | {"retracted_at": retracted})
    derived.index_rows(sql, row, lesson, key(lesson.scope.owner))
    if retracted is not None:
        derived.close_rows(sql, row)
        return
    for embedder, scale, codes in lite.execute(
        "SELECT embedder, scale, codes FROM vectors WHERE lesson = ?", (old_row,)
    ).fetchall():
        put_vectors(sql, embedder, {lesson.id: [code * scale for code in array("b", codes)]})


def _take_others(sql: Sql, lite: sqlite3.Connection) -> None:
    for table, names in eventlog.TABLES.values():
        columns = ("id", "at", *names, "doc")
        rows = lite.execute(f"SELECT {', '.join(columns)} FROM {table} ORDER BY position").fetchall()
        numbers = eventlog.row_numbers(sql, len(rows))
        keyed = [(number, *_keyed(columns, row)) for number, row in zip(numbers, rows, strict=True)]
        _insert(sql, table, ("position", *columns), keyed)
    for table, columns in (
        ("change_lessons", ("lesson", "change")),
        ("state", ("family", "owner", "value", "updated_at")),
    ):
        rows = lite.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()
        _insert(sql, table, columns, [_keyed(columns, row) for row in rows])
    entries = lite.execute("SELECT family, owner, key, value FROM state_rows").fetchall()
    named = [(family, key(owner), key(name), name, value) for family, owner, name, value in entries]
    _insert(sql, "state_rows", ("family", "owner", "key", "name", "value"), named)
    aside = lite.execute("SELECT source, row, columns, CAST(doc AS TEXT) FROM set_aside").fetchall()
    _insert(sql, "set_aside", ("source", "position", "columns", "doc"), aside)


def _keyed(columns: Sequence[str], row: Sequence[Any]) -> tuple[Any, ...]:
    whole = ("at", "doc", "value", "updated_at")
    return tuple(value if name in whole else key(value) for name, value in zip(columns, row, strict=True))


def _insert(sql: Sql, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    slots = ", ".join(["%s"] * (1 + len(columns)))
    statement = f"INSERT INTO {table} (org, {', '.join(columns)}) VALUES ({slots}) ON CONFLICT DO NOTHING"
    sql.executemany(statement, [(sql.org, *row) for row in rows])
