"""Opens other programs' SQLite files for the adapters."""

from __future__ import annotations

from contextlib import AbstractContextManager

from holdfast.errors import HostConfigError
from holdfast.outside.sqlitefile import ForeignDatabase, open_database

__all__ = ["VALUE_LIMIT", "ForeignDatabase", "open_foreign"]

VALUE_LIMIT = 32 * 1024 * 1024
"""Bytes of one value; readers ask for shorter ones only: `length(x) < {VALUE_LIMIT}`."""


def open_foreign(path: str) -> AbstractContextManager[ForeignDatabase]:
    """Return the database as it is now. Raises OSError, or HostConfigError if damaged or of an unknown version."""
    return open_database(path, lambda reason: HostConfigError(f"{path} {reason}", hint="it was left as it is"))
