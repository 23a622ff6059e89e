"""Translates the driver's and the file system's errors into ours. Only this module knows their codes."""

from __future__ import annotations

import errno
import sqlite3

from holdfast.errors import StoreCorruptError, StoreError, StoreFullError, StoreLockedError, StoreReadOnlyError

IOERR_WRITE = 778
"""SQLite's code for a write the system refused although the disk is not full: a quota, a size limit, a failing disk."""
IOERR_SHMSIZE = 4_874
"""SQLite's code for an index of the write-ahead log that could not be made long enough: the disk is full."""

HINTS = {
    StoreLockedError: "try again; `holdfast status` shows what is running",
    StoreCorruptError: "holdfast doctor",
    StoreReadOnlyError: "make the file and its folder writable, or set HOLDFAST_HOME to a folder that is",
    StoreFullError: "free some disk space and try again",
}

_BY_CODE: dict[int, type[StoreError]] = {
    3: StoreReadOnlyError,  # PERM
    5: StoreLockedError,  # BUSY
    6: StoreLockedError,  # LOCKED
    8: StoreReadOnlyError,  # READONLY
    11: StoreCorruptError,  # CORRUPT
    13: StoreFullError,  # FULL
    14: StoreReadOnlyError,  # CANTOPEN
    26: StoreCorruptError,  # NOTADB
}
"""Error by SQLite's primary result code."""
_BY_ERRNO: dict[int, type[StoreError]] = {
    errno.EACCES: StoreReadOnlyError,
    errno.EPERM: StoreReadOnlyError,
    errno.EROFS: StoreReadOnlyError,
    errno.ENOSPC: StoreFullError,
    errno.EDQUOT: StoreFullError,
    errno.EFBIG: StoreFullError,
}


def translate(exc: BaseException, path: str) -> StoreError:
    """Return our error for a foreign one, naming the file; a plain StoreError when no type is more specific."""
    if not isinstance(exc, (OSError, sqlite3.Error)):
        kind: type[StoreError] = StoreCorruptError
        return kind(f"{path}: a damaged row: {type(exc).__name__}: {exc}", hint=HINTS[kind])
    if isinstance(exc, OSError):
        kind = _BY_ERRNO.get(exc.errno or 0, StoreError)
    else:
        code = getattr(exc, "sqlite_errorcode", 0)
        kind = StoreFullError if code in (IOERR_WRITE, IOERR_SHMSIZE) else _BY_CODE.get(code & 0xFF, StoreError)
    return kind(f"{path}: {exc}", hint=HINTS.get(kind, "holdfast doctor"))
