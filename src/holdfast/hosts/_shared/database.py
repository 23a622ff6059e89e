"""Other programs' SQLite files, read while those run and without a trace: nothing is written or left beside them."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from contextlib import contextmanager
from pathlib import Path

from holdfast.errors import HostConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

WAIT_S = 5.0
"""How long a program that is writing is waited for."""

VALUE_LIMIT = 32 * 1024 * 1024
"""Bytes of one value; readers ask for shorter ones only: `length(x) < {VALUE_LIMIT}`."""


class ForeignDatabase:
    """An open database of another program."""

    def __init__(self, sql: sqlite3.Connection, path: str) -> None:
        self._sql = sql
        self._path = path

    def columns(self, table: str) -> frozenset[str]:
        """The names of a table's columns; none when there is no such table. Raises HostConfigError."""
        return frozenset(row[0] for row in self.rows("SELECT name FROM pragma_table_info(?)", table))

    def rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """The rows of a SELECT. Raises HostConfigError for a file that is damaged or of an unknown version."""
        try:
            yield from self._sql.execute(query, values)
        except sqlite3.Error as exc:
            raise HostConfigError(f"{self._path} cannot be read: {exc}", hint="it was left as it is") from exc


@contextmanager
def open_foreign(path: str) -> Iterator[ForeignDatabase]:
    """The database as it is now, with what stands in its write-ahead log. Raises OSError or HostConfigError.

    Without a log no one is writing, and the file is opened immutable. With a log and its index it is shared with the
    program that has it open; a log without an index would make SQLite write one, so a copy is read.
    """
    os.stat(path)
    uri = Path(path).absolute().as_uri()
    if not _has_log(path):
        with _connected(f"{uri}?mode=ro&immutable=1", path) as opened:
            yield opened
    elif os.path.exists(f"{path}-shm"):
        with _connected(f"{uri}?mode=ro", path) as opened:
            yield opened
    else:
        with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
            copy = os.path.join(folder, "copy.db")
            for ending in ("", "-wal"):
                shutil.copyfile(path + ending, copy + ending)
            with _connected(Path(copy).as_uri(), path) as opened:
                yield opened


def _has_log(path: str) -> bool:
    try:
        return os.path.getsize(f"{path}-wal") > 0
    except OSError:
        return False


@contextmanager
def _connected(uri: str, path: str) -> Iterator[ForeignDatabase]:
    try:
        sql = sqlite3.connect(uri, uri=True, timeout=WAIT_S)
    except sqlite3.Error as exc:
        raise HostConfigError(f"{path} cannot be opened: {exc}", hint="it was left as it is") from exc
    sql.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        yield ForeignDatabase(sql, path)
    finally:
        sql.close()
