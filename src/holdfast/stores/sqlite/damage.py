"""Rows whose documents cannot be read: finding them, and setting them aside.

A row set aside is copied, byte for byte, to the table `set_aside` before it leaves its own table. What derives from a
lesson version (its full text, anchors, tokens, vectors) goes with it and can be made again.
"""

from __future__ import annotations

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.stores.sqlite import derived, eventlog
from holdfast.stores.sqlite.rows import DAMAGED, record_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from typing import Any

    from holdfast.lean.records import Frozen

DOCUMENTS: dict[str, tuple[str, type[Frozen]]] = {
    "lessons": ("row", Lesson),
    "events": ("position", Event),
    **{table: ("position", kind) for kind, (table, _) in eventlog.TABLES.items()},
}
"""Tables that hold documents: the column that numbers the rows, and the record of a document."""


def find_damaged(sql: sqlite3.Connection) -> dict[str, list[int]]:
    """Numbers of the rows that cannot be read, by table; tables with none left out."""
    damaged = {table: list(_damaged_rows(sql, table)) for table in DOCUMENTS}
    return {table: rows for table, rows in damaged.items() if rows}


def set_aside(sql: sqlite3.Connection) -> dict[str, int]:
    """Move the damaged rows to the table `set_aside`; rows moved, by table."""
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
    """SQL for the row's other columns as a JSON object; bytes that are no text are written in hexadecimal."""
    names = [name for _, name, *_ in sql.execute(f"PRAGMA table_info({table})") if name != "doc"]
    return "json_object(" + ", ".join(f"'{name}', hex({name})" for name in names) + ")"
