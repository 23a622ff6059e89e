"""Other programs' SQLite files, as importers read them: only sound ones, and a table whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from holdfast.errors import InvalidValueError
from holdfast.outside.sqlitefile import ForeignDatabase, open_database
from holdfast.ports.importer import CERTAIN, NO, Source

MAGIC = b"SQLite format 3\0"


def sure_of_table(source: Source, table: str, columns: Sequence[str]) -> int:
    """`CERTAIN` when the file is a database that has the table with those columns, else `NO`."""
    if not source.head.startswith(MAGIC):
        return NO
    try:
        status = os.stat(source.path)
        tables = _tables(source.path, status.st_mtime_ns, status.st_size)
    except (OSError, InvalidValueError):
        return NO
    return CERTAIN if set(columns) <= tables.get(table, frozenset()) else NO


def read_rows(source: Source, table: str, required: Sequence[str], wanted: Sequence[str]) -> list[dict[str, Any]]:
    """All rows of a table as the columns that are required and wanted; a wanted one that is not there is None.

    All are read before the first is returned, so that a damaged file gives nothing rather than a part. Raises
    InvalidValueError for a file that is no sound database or has not the required columns.
    """
    with _open_sound(source.path) as database:
        there = database.columns(table)
        missing = [name for name in required if name not in there]
        if missing:
            raise InvalidValueError(
                f"{source.label}: its table {table!r} has no {', '.join(missing)}",
                hint="another program's file, or a version that is not known yet",
            )
        names = [*required, *(name for name in wanted if name in there)]
        order = "id" if "id" in there else "rowid"
        listed = ", ".join(f'"{name}"' for name in names)
        rows = list(database.rows(f'SELECT {listed} FROM "{table}" ORDER BY {order}'))
    empty: Mapping[str, Any] = dict.fromkeys(wanted)
    return [{**empty, **dict(zip(names, row, strict=True))} for row in rows]


@contextmanager
def _open_sound(path: str) -> Iterator[ForeignDatabase]:
    """The database as it is now. Raises OSError, or InvalidValueError for a file that is no sound database."""

    def refuse(reason: str) -> InvalidValueError:
        return InvalidValueError(f"{path} {reason}", hint="nothing of it was imported")

    with open(path, "rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise InvalidValueError(f"{path} is not an SQLite database")
    with open_database(path, refuse) as database:
        ((verdict,),) = database.rows("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise refuse(f"is damaged: {verdict}")
        yield database


@lru_cache(maxsize=64)
def _tables(path: str, changed_ns: int, size: int) -> dict[str, frozenset[str]]:
    """Columns by table; asked by every importer of a database, so kept for a file that has not changed."""
    with _open_sound(path) as database:
        names = [name for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: database.columns(name) for name in names}
