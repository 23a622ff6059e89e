"""Reads other programs' SQLite files for importers: only sound files, and a table completely or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from holdfast.errors import InvalidValueError
from holdfast.outside.sqlitefile import ForeignDatabase, open_database
from holdfast.ports.plugins import CERTAIN, NO, Source

MAGIC = b"SQLite format 3\0"
FILES = 5
"""Most files of a row."""


def sure_of_table(source: Source, table: str, columns: Sequence[str]) -> int:
    """Return `CERTAIN` if the file is a database that has the table with those columns, otherwise `NO`."""
    if not source.head.startswith(MAGIC):
        return NO
    try:
        status = os.stat(source.path)
        tables = _tables(source.path, status.st_mtime_ns, status.st_size)
    except (OSError, InvalidValueError):
        return NO
    return CERTAIN if set(columns) <= tables.get(table, frozenset()) else NO


def read_rows(source: Source, table: str, required: Sequence[str], wanted: Sequence[str]) -> list[dict[str, Any]]:
    """Return all rows of a table with the required and wanted columns; a wanted column that is missing is None.

    All rows are read before the first is returned, so that a damaged file gives nothing instead of a part. Raises
    InvalidValueError if the file is not a sound database or lacks required columns.
    """
    with _open_sound(source.path) as database:
        there = database.columns(table)
        missing = [name for name in required if name not in there]
        if missing:
            raise InvalidValueError(
                f"{source.label}: its table {table!r} has no {', '.join(missing)}",
                hint="it is another program's file, or of an unknown version",
            )
        names = [*required, *(name for name in wanted if name in there)]
        order = "id" if "id" in there else "rowid"
        listed = ", ".join(f'"{name}"' for name in names)
        rows = list(database.rows(f'SELECT {listed} FROM "{table}" ORDER BY {order}'))
    empty: Mapping[str, Any] = dict.fromkeys(wanted)
    return [{**empty, **dict(zip(names, row, strict=True))} for row in rows]


@contextmanager
def _open_sound(path: str) -> Iterator[ForeignDatabase]:
    """Open the database as it is now. Raises OSError, or InvalidValueError for a file that is no sound database."""

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
    """Return columns by table; every importer of a database asks, so the answer is cached until the file changes."""
    with _open_sound(path) as database:
        names = [name for (name,) in database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: database.columns(name) for name in names}


def listed(value: Any) -> tuple[str, ...]:
    """Return the texts of a column that holds a JSON list, or texts with commas; empty for anything else."""
    if not isinstance(value, str) or not value.strip():
        return ()
    try:
        texts = json.loads(value)
    except (ValueError, RecursionError):
        texts = value.split(",") if "[" not in value else []
    items = texts if isinstance(texts, list) else []
    return tuple(dict.fromkeys(item.strip() for item in items if isinstance(item, str) and item.strip()))
