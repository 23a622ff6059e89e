"""Turns the driver's errors into ours. No message repeats a connection string, a password, or a value of a row.

Raise what `translate` returns `from None`: the driver's own words, which a traceback would show, quote rows.
"""

from __future__ import annotations

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from holdfast.errors import (
    StoreCorruptError,
    StoreDeadlockError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnavailableError,
)

HINTS: dict[type[StoreError], str] = {
    StoreLockedError: "try again",
    StoreDeadlockError: "try again",
    StoreUnavailableError: "see whether the database server runs and accepts connections, then try again",
    StoreCorruptError: "holdfast doctor",
    StoreReadOnlyError: "a replica or a read-only role answers: give the URL of the primary and a role that may write",
    StoreFullError: "free some disk space on the database server and try again",
}

_BY_STATE: tuple[tuple[str, type[StoreError]], ...] = (
    ("40P01", StoreDeadlockError),  # ended because others waited for it in a circle
    ("40", StoreLockedError),  # serialization failure
    ("55P03", StoreLockedError),  # lock not available
    ("57014", StoreLockedError),  # cancelled by a timeout
    ("25006", StoreReadOnlyError),  # a write in a read-only transaction
    ("42501", StoreReadOnlyError),  # no right to
    ("53100", StoreFullError),  # disk full
    ("53", StoreUnavailableError),  # too many connections, out of memory
    ("57P", StoreUnavailableError),  # shut down, crashed, starting
    ("25P03", StoreUnavailableError),  # the transaction said nothing for too long
    ("08", StoreUnavailableError),  # connection lost
    ("28", StoreUnavailableError),  # the role is refused
    ("3D000", StoreUnavailableError),  # no such database
    ("XX001", StoreCorruptError),
    ("XX002", StoreCorruptError),
    ("58P01", StoreCorruptError),  # a file of the database is missing
    ("58030", StoreFullError),  # an input or output error: the device is full or fails
)
REASONS = (
    "Connection refused", "No such file or directory", "password authentication failed", "no password supplied",
    "could not translate host name", "timeout expired", "does not exist", "too many clients", "starting up",
    "shutting down", "SSL", "Permission denied", "no pg_hba.conf entry",
)  # fmt: skip
"""Words of the client library that say why no connection was made; the rest of its message names roles and hosts."""


def translate(exc: BaseException, where: str) -> StoreError:
    """Return our error for one of the driver's, naming the place; a plain StoreError if no type is more specific."""
    if isinstance(exc, PoolTimeout | TooManyRequests):
        return StoreUnavailableError(
            f"{where}: every connection of this process is in use, or none can be made",
            hint="try again; `pool=` in HOLDFAST_STORE sets how many connections a process may have",
        )
    if isinstance(exc, PoolClosed):
        return StoreError(f"{where} is not open", hint="use the store inside `with`")
    kind = _kind(exc)
    return kind(f"{where}: {_words(exc)}", hint=HINTS.get(kind, "holdfast doctor"))


def _kind(exc: BaseException) -> type[StoreError]:
    state = getattr(exc, "sqlstate", None) or ""
    for prefix, kind in _BY_STATE:
        if state.startswith(prefix):
            return kind
    if isinstance(exc, errors.FeatureNotSupported) and "recovery" in str(exc):
        return StoreReadOnlyError  # a standby
    if not state and isinstance(exc, psycopg.OperationalError | psycopg.InterfaceError):
        return StoreUnavailableError  # without a code from the server: the connection itself failed
    return StoreError


def _words(exc: BaseException) -> str:
    """Return what happened, by the error's name and code; words of the server may quote a row or a role."""
    state = getattr(exc, "sqlstate", None)
    if _kind(exc) is StoreReadOnlyError:
        return "nothing can be written here by this role"
    if state:
        return f"{type(exc).__name__} (SQLSTATE {state})"
    reason = next((reason for reason in REASONS if reason in str(exc)), "")
    return f"the connection failed{reason and ': '}{reason}"
