"""Reads other programs' SQLite files while those run, without a trace: nothing is written, or left beside them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.errors import HoldfastError

Refuse = Callable[[str], HoldfastError]


LOG, INDEX, JOURNAL = "-wal", "-shm", "-journal"


class ForeignDatabase:
    """An open database of another program. A read error is raised as the opener's `refuse` words it."""

    def __init__(self, sql: sqlite3.Connection, refuse: Refuse) -> None:
        self._sql = sql
        self._refuse = refuse

    def columns(self, table: str) -> frozenset[str]:
        """Return the names of a table's columns; none if there is no such table."""
        return frozenset(row[0] for row in self.rows("SELECT name FROM pragma_table_info(?)", table))

    def rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query that only reads."""
        try:
            yield from self._sql.execute(query, values)
        except sqlite3.Error as exc:
            raise self._refuse(f"cannot be read: {exc}") from exc


@contextmanager
def open_database(path: str, refuse: Refuse) -> Iterator[ForeignDatabase]:
    """Open the database as it is now, with its journals. Raises OSError, or the error that `refuse` makes of a reason.

    Without a journal nobody is writing, and the file is opened immutable. With a write-ahead log and its index it is
    shared with the program that has it open. Any other journal would make SQLite write beside the file, so a copy of
    both is read.
    """
    os.stat(path)
    uri = Path(path).absolute().as_uri()
    journals = [ending for ending in (LOG, JOURNAL) if _is_filled(path + ending)]
    if not journals:
        with _connected(f"{uri}?mode=ro&immutable=1", refuse) as database:
            yield database
    elif journals == [LOG] and os.path.exists(path + INDEX):
        with _connected(f"{uri}?mode=ro", refuse) as database:
            yield database
    else:
        with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
            copy = os.path.join(folder, "copy.db")
            for ending in ("", *journals):
                shutil.copyfile(path + ending, copy + ending)
            with _connected(Path(copy).as_uri(), refuse) as database:
                yield database


def _is_filled(path: str) -> bool:
    try:
        return os.path.getsize(path) > 0
    except OSError:
        return False


@contextmanager
def _connected(uri: str, refuse: Refuse) -> Iterator[ForeignDatabase]:
    try:
        sql = sqlite3.connect(uri, uri=True)  # waits 5 s at most for a program that recovers its log
    except sqlite3.Error as exc:
        raise refuse(f"cannot be opened: {exc}") from exc
    sql.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        yield ForeignDatabase(sql, refuse)
    finally:
        sql.close()
