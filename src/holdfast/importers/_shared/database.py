"""Other programs' SQLite files, read without a trace: nothing is written, locked or left beside them.

A file that no one writes to is opened immutable. One with a journal beside it may be in use: it is copied together with
the journal, and the copy is read.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from holdfast.errors import InvalidValueError
from holdfast.ports.importer import CERTAIN, NO, Source

MAGIC = b"SQLite format 3\0"
JOURNALS = ("-wal", "-journal")


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
    with open_copy(source.path) as sql:
        there = _columns(sql, table)
        missing = [name for name in required if name not in there]
        if missing:
            raise InvalidValueError(
                f"{source.label}: its table {table!r} has no {', '.join(missing)}",
                hint="another program's file, or a version that is not known yet",
            )
        names = [*required, *(name for name in wanted if name in there)]
        order = "id" if "id" in there else "rowid"
        listed = ", ".join(f'"{name}"' for name in names)
        with _translated(source.path):
            rows = sql.execute(f'SELECT {listed} FROM "{table}" ORDER BY {order}').fetchall()
    empty: Mapping[str, Any] = dict.fromkeys(wanted)
    return [{**empty, **dict(zip(names, row, strict=True))} for row in rows]


@contextmanager
def open_copy(path: str) -> Iterator[sqlite3.Connection]:
    """A connection to the database as it is now. Raises InvalidValueError for a file that is no sound database."""
    with open(path, "rb") as stream:
        if stream.read(len(MAGIC)) != MAGIC:
            raise InvalidValueError(f"{path} is not an SQLite database")
    journals = [ending for ending in JOURNALS if os.path.exists(path + ending) and os.path.getsize(path + ending)]
    if not journals:
        with _connected(f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1", path) as sql:
            yield sql
        return
    with tempfile.TemporaryDirectory(prefix="holdfast-import-") as folder:
        copy = os.path.join(folder, "copy.db")
        for ending in ("", *journals):
            shutil.copyfile(path + ending, copy + ending)
        with _connected(Path(copy).as_uri(), path) as sql:
            yield sql


@contextmanager
def _connected(uri: str, path: str) -> Iterator[sqlite3.Connection]:
    with _translated(path):
        sql = sqlite3.connect(uri, uri=True, timeout=2.0)
        sql.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        with _translated(path):
            report = sql.execute("PRAGMA quick_check(1)").fetchone()[0]
        if report != "ok":
            raise InvalidValueError(f"{path} is damaged: {report}", hint="nothing of it was imported")
        yield sql
    finally:
        sql.close()


@contextmanager
def _translated(path: str) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as exc:
        raise InvalidValueError(f"{path} cannot be read: {exc}", hint="nothing of it was imported") from exc


@lru_cache(maxsize=64)
def _tables(path: str, changed_ns: int, size: int) -> dict[str, frozenset[str]]:
    """Columns by table; asked by every importer of a database, so kept for a file that has not changed."""
    with open_copy(path) as sql, _translated(path):
        names = [name for (name,) in sql.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: _columns(sql, name) for name in names}


def _columns(sql: sqlite3.Connection, table: str) -> frozenset[str]:
    with _translated(table):
        return frozenset(row[0] for row in sql.execute("SELECT name FROM pragma_table_info(?)", (table,)))
