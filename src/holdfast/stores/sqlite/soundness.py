"""Checks that the file is sound and that its indexes agree with the rows; sets damaged rows aside; copies the file.

A row set aside is copied, byte for byte, to the table `set_aside` before it leaves its own table.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.errors import StoreCorruptError, StoreLockedError
from holdfast.ports.store import Problem
from holdfast.stores._shared.derived import SEARCHABLE
from holdfast.stores.sqlite import eventlog, sessions
from holdfast.stores.sqlite.connection import HINTS, Connection, translate
from holdfast.stores.sqlite.lessons import drop_rows
from holdfast.stores.sqlite.rows import DAMAGED, record_of

MEND = "restore a backup, or `holdfast export` what can be read and import it into a new store"

SET_ASIDE = "holdfast doctor --mend"

_COUNTS = {
    "a searchable lesson has no full text": (
        "SELECT count(*) FROM lessons l WHERE l.retracted_at IS NULL AND l.state IN {states}"
        " AND l.row NOT IN (SELECT rowid FROM lesson_text)"
    ),
    "full text of a lesson that is not current": (
        "SELECT count(*) FROM lesson_text t WHERE t.rowid NOT IN"
        " (SELECT row FROM lessons WHERE retracted_at IS NULL AND state IN {states})"
    ),
    "an anchor of a lesson that is not current": (
        "SELECT count(*) FROM anchors WHERE lesson NOT IN (SELECT row FROM lessons WHERE retracted_at IS NULL)"
    ),
    "a token of a lesson that is not current": (
        "SELECT count(*) FROM tokens WHERE lesson NOT IN (SELECT row FROM lessons WHERE retracted_at IS NULL)"
    ),
    "a facet of a lesson that is not current": (
        "SELECT count(*) FROM facets WHERE lesson NOT IN (SELECT row FROM lessons WHERE retracted_at IS NULL)"
    ),
    "a vector of a lesson that is not current": (
        "SELECT count(*) FROM vectors WHERE lesson NOT IN (SELECT row FROM lessons WHERE retracted_at IS NULL)"
    ),
    "a version recorded after it was retracted": (
        "SELECT count(*) FROM lessons WHERE retracted_at IS NOT NULL AND retracted_at <= recorded_at"
    ),
}

DOCUMENTS: dict[str, tuple[str, type[Any]]] = {
    "lessons": ("row", Lesson),
    "events": ("position", Event),
    **{table: ("position", kind) for kind, (table, _) in eventlog.TABLES.items()},
}
"""Tables that hold documents: the column that numbers the rows, and the type of the record."""
NAP_S = 0.05
"""How long a copy waits before it tries a locked database again."""


def check(connection: Connection) -> list[Problem]:
    """Return the problems found by SQLite's own check, by the full text's check, and by comparing indexes with rows."""
    try:
        with connection.reading() as sql:
            broken = _integrity(sql)
            if broken:
                return broken
            problems = _damaged(sql) + _counts(sql)
        with connection.writing() as sql:  # the full text's check has the form of an insert but writes nothing
            return _full_text(sql) + problems
    except StoreCorruptError as exc:
        return [Problem(what=str(exc), mend=MEND)]


def _integrity(sql: sqlite3.Connection) -> list[Problem]:
    lines = [line for (line,) in sql.execute("PRAGMA integrity_check(20)")]
    return [] if lines == ["ok"] else [Problem(what=f"integrity check: {line}", mend=MEND) for line in lines]


def _damaged(sql: sqlite3.Connection) -> list[Problem]:
    words = [f"{len(rows)} in {table}" for table, rows in find_damaged(sql).items()]
    return (
        [Problem(what=f"damaged rows, left out of every answer: {', '.join(words)}", mend=SET_ASIDE)] if words else []
    )


def _full_text(sql: sqlite3.Connection) -> list[Problem]:
    try:
        sql.execute("INSERT INTO lesson_text (lesson_text) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as exc:
        if getattr(exc, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
            raise
        return [Problem(what=f"the full-text index does not match the lessons: {exc}", mend=MEND)]
    return []


def _counts(sql: sqlite3.Connection) -> list[Problem]:
    states = "('" + "', '".join(SEARCHABLE) + "')"
    counted = [(what, *sql.execute(query.format(states=states)).fetchone()) for what, query in _COUNTS.items()]
    return [Problem(what=f"{what} ({count} times)", mend=MEND) for what, count in counted if count]


def find_damaged(sql: sqlite3.Connection) -> dict[str, list[int]]:
    """Return the numbers of the rows that cannot be read, by table; tables without any are left out."""
    damaged = {table: list(_damaged_rows(sql, table)) for table in DOCUMENTS}
    return {table: rows for table, rows in damaged.items() if rows}


def set_aside(sql: sqlite3.Connection) -> dict[str, int]:
    """Move the damaged rows to the table `set_aside`; return the number of rows moved, by table."""
    damaged = find_damaged(sql)
    for table, rows in damaged.items():
        column, _ = DOCUMENTS[table]
        for row in rows:
            sql.execute(
                "INSERT INTO set_aside (source, row, columns, doc)"
                f" SELECT ?, {column}, {_columns_as_json(sql, table)}, CAST(doc AS BLOB) FROM {table}"
                f" WHERE {column} = ?",
                (table, row),
            )
            if table == "lessons":
                drop_rows(sql, row)
            sql.execute(f"DELETE FROM {table} WHERE {column} = ?", (row,))
    if "events" in damaged:
        sessions.rebuild(sql)
    return {table: len(rows) for table, rows in damaged.items()}


def _damaged_rows(sql: sqlite3.Connection, table: str) -> Iterator[int]:
    column, kind = DOCUMENTS[table]
    identity = "NULL" if table == "events" else "id"
    for row, id_, doc in sql.execute(f"SELECT {column}, {identity}, doc FROM {table} ORDER BY {column}"):
        try:
            record: Any = record_of(kind, doc)
        except DAMAGED:
            yield row
            continue
        if id_ is not None and record.id != id_:
            yield row


def _columns_as_json(sql: sqlite3.Connection, table: str) -> str:
    """Return SQL for the row's other columns as a JSON object, with every value in hexadecimal."""
    names = [name for _, name, *_ in sql.execute(f"PRAGMA table_info({table})") if name != "doc"]
    return "json_object(" + ", ".join(f"'{name}', hex({name})" for name in names) + ")"


def write_copy(connection: Connection, path: str) -> None:
    """Write a snapshot of the whole database into a new file. Raises StoreError."""
    with connection.turns:
        try:
            # VACUUM leaves out free pages, which can still hold erased words; the driver's `backup` copies them.
            connection.sql.execute("VACUUM INTO ?", (path,))
        except sqlite3.Error as exc:
            raise translate(exc, connection.path) from exc


def take_copy(connection: Connection, path: str) -> None:
    """Replace the whole database by the copy, in one transaction. On StoreError nothing has changed.

    Other processes may have the database open: for them it is one large write.
    """
    with connection.turns:
        connection.lock()
        try:
            _copy_pages(connection, path)
        except sqlite3.Error as exc:
            raise translate(exc, connection.path) from exc
        finally:
            connection.unlock()
    connection.checkpoint()


def _copy_pages(connection: Connection, path: str) -> None:
    deadline = time.monotonic() + connection.timeout_s

    def stop_waiting(status: int, remaining: int, total: int) -> None:
        """Stop at the deadline: the driver itself retries for ever while the database is locked."""
        if time.monotonic() > deadline and status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise StoreLockedError(f"{connection.path} is locked by another process", hint=HINTS[StoreLockedError])

    source = sqlite3.connect(path, isolation_level=None)
    try:
        source.backup(connection.sql, progress=stop_waiting, sleep=NAP_S)
    finally:
        source.close()
