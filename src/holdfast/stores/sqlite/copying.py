"""Copies of the whole database: written for a backup, and restored from one."""

from __future__ import annotations

import sqlite3
import time

from holdfast.errors import StoreLockedError
from holdfast.stores.sqlite.connection import Connection
from holdfast.stores.sqlite.failures import HINTS, translate

NAP_S = 0.05
"""How long a copy waits before it tries a locked database again."""


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
