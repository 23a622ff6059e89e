"""Finds rows whose documents cannot be read, and sets them aside.

A row set aside is copied, byte for byte, to the table `set_aside` before it leaves its own table. The rows derived from
a lesson version (its full text, anchors, tokens, vectors) are deleted with it; they can be rebuilt.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.stores.sqlite import derived, eventlog
from holdfast.stores.sqlite.rows import DAMAGED, record_of

DOCUMENTS: dict[str, tuple[str, type[Any]]] = {
    "lessons": ("row", Lesson),
    "events": ("position", Event),
    **{table: ("position", kind) for kind, (table, _) in eventlog.TABLES.items()},
}
"""Tables that hold documents: the column that numbers the rows, and the type of the record."""


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
                derived.drop(sql, row)
            sql.execute(f"DELETE FROM {table} WHERE {column} = ?", (row,))
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
