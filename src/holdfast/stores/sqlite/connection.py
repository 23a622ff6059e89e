"""One connection to the file: opening it, transactions on it, and closing it.

Threads share the connection and take turns. A read is one deferred transaction, a write one `BEGIN IMMEDIATE` under a
lock file. SQLite's own waiting is unfair: with eight writers the lock file doubles the throughput and cuts the longest
wait to a sixth.

Commits are `synchronous=NORMAL`: an acknowledged write survives a killed process, but not a power cut. A person's
lesson is committed with `FULL`.

When the last connection closes, SQLite moves the write-ahead log into the file, with two flushes to the disk. A hook
that leaves by `os._exit` without closing skips them; the next opener recovers the log, and nothing is lost. But then
the log only grows, because a process that opens the file alone does not know what was moved already. So a connection
closes properly and empties the log if it finds the log over `LOG_LIMIT`.

`translate` turns the driver's and the file system's errors into ours.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock

from holdfast.errors import (
    HoldfastError,
    SchemaTooNewError,
    SchemaTooOldError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
)
from holdfast.lean.files import FileLock
from holdfast.stores.sqlite.rows import text_of

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

SCHEMA = 13
"""Number of the newest migration: the `PRAGMA user_version` of a file that this code can use."""
LONGEST_NAP_S = 0.004
"""Longest pause in seconds between two questions for the lock."""
CACHE = -16_000
"""Most memory for pages, in negative KiB: at 100,000 lessons a search takes a quarter less than with SQLite's 2 MB.
Mapping the file would spare as much again, but a disk's error would then kill the process instead of raising."""
WRITES_BEFORE_SHRINK = 200
"""Writes after which the memory for pages is given back. A server appends to the log with every answer; the pages it
wrote, some 5 kB an answer, would otherwise stay in memory until the cache is full. The next search reads anew what it
needs, from the system's own cache."""
_DRIVERS = (sqlite3.Error, OSError, UnicodeDecodeError)
"""Errors that the driver raises; the last when its own message quotes a damaged schema."""
LOG_LIMIT = 1_000_000
"""Bytes of a write-ahead log; a longer one is emptied when a connection closes. Who opens the file alone, as a
hook does, reads the whole log first: 1.3 ms a megabyte."""
LEFT_AS_IT_IS = (StoreLockedError, StoreCorruptError, SchemaTooOldError, SchemaTooNewError)
"""Errors of opening for which a read-only open without the log would not help, or would be unsafe."""


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


class Connection:
    """A connection to one file. `reading` and `writing` return transactions: `with connection.writing() as sql:`."""

    schema = SCHEMA
    """The `PRAGMA user_version` of a file of this kind that needs no migration."""
    migrations = "migrations"
    """The folder beside this module with the SQL files of its migrations."""
    text_factory: Callable[[bytes], str] | type[str] = staticmethod(text_of)
    """Decodes a text column; `str` is quicker, but one damaged text makes it raise for the whole answer."""

    def __init__(self, path: str, timeout_s: float, upgrade: bool = True, frozen: bool = False) -> None:
        """Set up without opening. `upgrade` migrates an older schema, which takes long; for `frozen` see `open`."""
        self.path = path
        self.timeout_s = timeout_s
        self._upgrade = upgrade
        self._frozen = frozen
        self.frozen_by: StoreError | None = None
        """Why the file is open read-only without its log; None for a file that is open as usual."""
        self._turns = RLock()
        self._lock = FileLock(path + ".lock")
        self._sql: sqlite3.Connection | None = None
        self._writes = 0
        self._holds = 0
        """How many `holding` contexts are open, all of the thread that has the turn."""
        self._held_read = False
        """Whether the open transaction is the one that `holding` keeps."""
        self._is_changing = False
        """Whether the open transaction is the one of `changing`; the thread that opened it has the turn."""
        self._must_checkpoint = False

    def open(self) -> None:
        """Open the file, create it with mode 0600 if it does not exist, and bring its schema up to date.

        It costs one pragma when the schema is current. With `frozen`, a file beside which SQLite cannot make its own
        files, for lack of room or rights, is opened read-only without them; writing then raises SQLite's first error.
        This is only for a process that soon ends, because it does not see what others write. Raises StoreError.
        """
        if self._sql is not None:
            return
        try:
            self._open(self.path)
        except StoreError as exc:
            if not self._frozen or isinstance(exc, LEFT_AS_IT_IS) or not self._is_whole_without_log():
                raise
            self._open(f"file:{_in_uri(self.path)}?immutable=1")
            self.frozen_by = exc

    def _open(self, name: str) -> None:
        try:
            is_uri = name != self.path
            if not is_uri:
                _make_private(self.path)
            self._sql = sqlite3.connect(
                name, timeout=self.timeout_s, isolation_level=None, check_same_thread=False, uri=is_uri
            )
            self._sql.text_factory = self.text_factory
            (version,) = self._sql.execute("PRAGMA user_version").fetchone()
            if version != self.schema:
                if 0 < version < self.schema and not self._upgrade:
                    raise SchemaTooOldError(
                        f"{self.path} has schema {version}, this Holdfast writes {self.schema}",
                        hint="it is upgraded in the background; any holdfast command does it, too",
                    )
                from holdfast.stores.sqlite.schema import upgrade

                upgrade(self)
            self._sql.executescript(f"PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON; PRAGMA cache_size={CACHE};")
        except _DRIVERS as exc:
            self.close()
            raise translate(exc, self.path) from exc
        except BaseException:
            self.close()
            raise

    def _is_whole_without_log(self) -> bool:
        """Return whether the file alone has all data: there is no write-ahead log, or an empty one."""
        try:
            return os.path.getsize(self.path) > 0 and _log_size(self.path) == 0
        except OSError:
            return False

    def close(self) -> None:
        """Close the file; the last connection to close moves the write-ahead log into it.

        A long log is emptied even while others stay open, as far as their reading allows.
        """
        with self._turns:
            if self._sql is not None:
                try:
                    if _log_size(self.path) > LOG_LIMIT:
                        self._sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                except (sqlite3.Error, OSError):
                    pass  # a read-only file, or another process writes for long: the next to close empties it
                self._sql.close()
                self._sql = None
            self._lock.close()

    @property
    def sql(self) -> sqlite3.Connection:
        """The driver's connection. Raises StoreError when it is not open."""
        if self._sql is None:
            raise StoreError(f"{self.path} is not open", hint="use the store inside `with`")
        return self._sql

    @property
    def turns(self) -> RLock:
        """The lock to hold while a thread uses the connection outside `reading` and `writing`."""
        return self._turns

    def reading(self) -> Transaction:
        """Return a transaction in which every query sees the same state."""
        return Transaction(self, "BEGIN")

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Hold one read transaction open: every read in it sees one state, and what the same thread wrote meanwhile.

        Other threads wait until it ends. A write in it ends the read transaction and begins another one.
        """
        with self._turns:
            self._holds += 1
            try:
                yield
            finally:
                self._holds -= 1
                if not self._holds:
                    self._end_quietly()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make one durable transaction of all reads and writes of the thread; other threads wait until it ends.

        An error takes back all of it. Inside another one it is a part of that, which an error takes back alone.
        """
        with self._turns, self.writing(durable=True):
            outer = not self._is_changing
            self._is_changing = True
            try:
                yield
            finally:
                self._is_changing = not outer
        if self._must_checkpoint and not self._is_changing:
            self.checkpoint()

    def _end_quietly(self) -> None:
        with suppress(sqlite3.Error):  # it wrote nothing; the next transaction reports what is wrong
            self.end_read()

    def begin_read(self) -> None:
        """Begin a read transaction, unless `holding` has one open."""
        if not self._held_read:
            self.sql.execute("BEGIN")
            self._held_read = self._holds > 0

    def end_read(self) -> None:
        """End the read transaction that `holding` has open, if there is one."""
        if self._held_read:
            self._held_read = False
            if self._sql is not None and self._sql.in_transaction:
                self._sql.execute("COMMIT")

    def writing(self, *, durable: bool = False) -> Transaction:
        """Return a transaction that is written whole or not at all; `durable` flushes it to the disk at its end."""
        return Transaction(self, "BEGIN IMMEDIATE", durable=durable)

    def checkpoint(self) -> None:
        """Move the write-ahead log into the file and empty it, as far as other processes' reading allows.

        In `changing` it happens at the end.
        """
        with self._turns:
            self._must_checkpoint = self._is_changing
            if self._is_changing:
                return
            try:
                self.sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.Error as exc:
                raise translate(exc, self.path) from exc

    def count_write(self) -> None:
        """Count a write; after every WRITES_BEFORE_SHRINK of them release the page cache."""
        self._writes += 1
        if self._writes % WRITES_BEFORE_SHRINK == 0:
            self.sql.execute("PRAGMA shrink_memory")

    def lock(self) -> None:
        """Take the lock file, waiting at most `timeout_s`. Raises StoreLockedError."""
        if not self._lock.take(self.timeout_s, LONGEST_NAP_S):
            waited = f"{self.path} is locked by another process for {self.timeout_s:g} s"
            raise StoreLockedError(waited, hint=HINTS[StoreLockedError])

    def unlock(self) -> None:
        """Release the lock file."""
        self._lock.release()


class Transaction:
    """One transaction: committed at the end, rolled back on any error. It translates the driver's errors."""

    def __init__(self, connection: Connection, begin: str, *, durable: bool = False) -> None:
        self._connection = connection
        self._begin = begin
        self._durable = durable

    def __enter__(self) -> sqlite3.Connection:
        self._connection._turns.acquire()
        self._is_part = self._connection._is_changing
        try:
            sql = self._connection.sql
            if self._is_part:
                sql.execute("SAVEPOINT part")
                return sql
            if self._begin == "BEGIN":
                self._connection.begin_read()
                return sql
            if self._connection.frozen_by is not None:
                raise self._connection.frozen_by
            self._connection.end_read()
            self._connection.lock()
            if self._durable:
                sql.execute("PRAGMA synchronous=FULL")
            sql.execute(self._begin)
            return sql
        except BaseException as exc:
            self._leave()
            if isinstance(exc, _DRIVERS):
                raise translate(exc, self._connection.path) from exc
            raise

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: object) -> None:
        try:
            if self._is_part:
                self._end_part(failed=kind is not None)
            elif kind is None and not self._connection._held_read:
                self._connection.sql.execute("COMMIT")
                if self._begin != "BEGIN":
                    self._connection.count_write()
        except sqlite3.Error as failure:
            self._undo()
            raise translate(failure, self._connection.path) from failure
        finally:
            if kind is not None and not self._is_part and not self._connection._held_read:
                self._undo()
            self._leave()
        # In a write such an error may be the caller's own; in a read only a damaged row causes it.
        reads = self._begin == "BEGIN"
        if exc is not None and (isinstance(exc, _DRIVERS) or (reads and _tells_of_damage(exc))):
            raise translate(exc, self._connection.path) from exc

    def _end_part(self, *, failed: bool) -> None:
        """End the part of a transaction of `changing` that this is."""
        sql = self._connection.sql
        if failed and sql.in_transaction:  # on a full disk SQLite rolls all back by itself
            sql.execute("ROLLBACK TO part")
        if sql.in_transaction:
            sql.execute("RELEASE part")

    def _undo(self) -> None:
        try:
            if self._connection.sql.in_transaction:  # on a full disk SQLite rolls back by itself
                self._connection.sql.execute("ROLLBACK")
        except (sqlite3.Error, StoreError):
            pass  # the first error is the one to report; an open transaction ends with the connection

    def _leave(self) -> None:
        try:
            if self._durable and not self._is_part and self._connection._sql is not None:
                self._connection._sql.execute("PRAGMA synchronous=NORMAL")
            if self._begin != "BEGIN" and not self._is_part:
                self._connection.unlock()
        finally:
            self._connection._turns.release()


def _tells_of_damage(exc: BaseException) -> bool:
    """Return whether a read met a value that we never write: a text instead of a number, a number too large."""
    return isinstance(exc, (TypeError, ValueError, OverflowError)) and not isinstance(exc, HoldfastError)


def _log_size(path: str) -> int:
    """Return the bytes of the write-ahead log beside the file. Raises OSError."""
    try:
        return os.stat(path + "-wal").st_size
    except FileNotFoundError:
        return 0


def _in_uri(path: str) -> str:
    """Return the path as a `file:` URI needs it."""
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _make_private(path: str) -> None:
    """Create the file with mode 0600 before it has content (a new folder with 0700), or correct its mode."""
    try:
        if os.stat(path).st_mode & 0o077:
            os.chmod(path, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
