"""The connections of this process to one database: a pool, opened after the schema was looked at."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from holdfast.errors import SchemaTooOldError, StoreError, StoreUnavailableError
from holdfast.stores.postgresql import schema
from holdfast.stores.postgresql.address import Address
from holdfast.stores.postgresql.cache import Cache
from holdfast.stores.postgresql.failures import translate

Row = tuple[Any, ...]

PROBED_AFTER_S = 1.0
"""How long a call waits for a free connection before it looks whether the server answers."""

logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())  # else its warnings go to the terminal


class Database:
    """A pool of connections to one database. Threads share it; each transaction takes a connection."""

    def __init__(self, address: Address, *, upgrade: bool = True) -> None:
        """Set up without connecting. `upgrade` migrates an older schema."""
        self.address = address
        self.where = address.where
        self.cursor_class: type[psycopg.Cursor[Row]] = psycopg.Cursor
        """The class of the cursors of new connections; a test may look at each statement by it."""
        self.cache = Cache()
        """What is known of its organisations, each value under the organisation's number."""
        self.copies_taken: dict[int, int] = {}
        """How often this process replaced the memory of an organisation by a copy."""
        self._upgrade = upgrade
        self._pool: ConnectionPool[psycopg.Connection[Row]] | None = None
        self._lock = threading.Lock()
        self._threads: dict[int, threading.local] = {}

    def open(self) -> None:
        """Connect, bring the schema up to date, and open the pool. Raises StoreError."""
        with self._lock:
            if self._pool is not None:
                return
            self._look_at_schema()
            self._pool = ConnectionPool(
                self.address.conninfo, min_size=0, max_size=self.address.pool_size, timeout=self.address.timeout_s,
                configure=self._configure, num_workers=2, name="holdfast", open=True,
            )  # fmt: skip

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    def check(self) -> None:
        """Return if the database answers and has the schema of this program. Raises StoreError."""
        try:
            known = self._known_schema()
        except StoreUnavailableError:  # after a restart of the server every idle connection is lost
            self.renew()
            known = self._known_schema()
        if known != schema.SCHEMA:
            raise self._too_old(known)

    def _known_schema(self) -> int:
        with self.connection() as connection:
            try:
                return schema.look(connection, self.where)
            except psycopg.Error as exc:
                raise translate(exc, self.where) from None

    def threads_of(self, org: int) -> threading.local:
        """Return where the threads keep their open transactions of the organisation, whichever view they use."""
        with self._lock:
            return self._threads.setdefault(org, threading.local())

    def note_copy(self, org: int) -> None:
        """Note that the memory of the organisation was replaced; what was kept of it is not to be used again."""
        with self._lock:
            self.copies_taken[org] = self.copies_taken.get(org, 0) + 1

    def renew(self) -> None:
        """Replace the idle connections that were lost: after a restart of the server all of them are."""
        if self._pool is not None:
            self._pool.check()

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection[Row]]:
        """Lend a connection. Raises StoreUnavailableError if none becomes free in time."""
        pool = self._pool
        if pool is None:
            raise StoreError(f"{self.where} is not open", hint="use the store inside `with`")
        try:
            connection = self._take(pool)
        except psycopg.Error as exc:
            raise translate(exc, self.where) from None
        try:
            yield connection
        finally:
            pool.putconn(connection)

    def _take(self, pool: ConnectionPool[psycopg.Connection[Row]]) -> psycopg.Connection[Row]:
        """Return a connection of the pool. Whoever waits for long first looks whether the server is there at all."""
        wait_s = min(PROBED_AFTER_S, self.address.timeout_s)
        try:
            return pool.getconn(wait_s)
        except PoolTimeout:
            self._probe()
        return pool.getconn(max(0.01, self.address.timeout_s - wait_s))

    def _probe(self) -> None:
        """Raise the driver's error if no connection can be made; not if the server has as many as it takes."""
        try:
            psycopg.connect(self.address.conninfo).close()
        except psycopg.OperationalError as exc:
            if not any(words in str(exc) for words in ("too many", "connection slots")):
                raise

    def _configure(self, connection: psycopg.Connection[Row]) -> None:
        connection.autocommit = True  # transactions are begun by their own statement
        connection.cursor_factory = self.cursor_class
        if not self.address.prepare:
            connection.prepare_threshold = None

    def _look_at_schema(self) -> None:
        with self._connected(self.address.conninfo) as connection:
            known = schema.look(connection, self.where)
            if known == schema.SCHEMA:
                schema.require_role(connection, self.where)
                return
            (login,) = connection.execute("SELECT current_user").fetchone() or ("",)
        if known and not self._upgrade:
            raise self._too_old(known)
        with self._connected(self.address.owner_conninfo()) as connection:
            schema.upgrade(connection, self.address, login)
        with self._connected(self.address.conninfo) as connection:
            schema.require_role(connection, self.where)

    @contextmanager
    def _connected(self, conninfo: str) -> Iterator[psycopg.Connection[Row]]:
        """Lend a connection that is not of the pool. Raises StoreError."""
        try:
            with psycopg.connect(conninfo, autocommit=True) as connection:
                yield connection
        except psycopg.Error as exc:
            raise translate(exc, self.where) from None

    def _too_old(self, known: int) -> SchemaTooOldError:
        return SchemaTooOldError(
            f"{self.where} has schema {known}, this Holdfast writes {schema.SCHEMA}",
            hint="any holdfast command upgrades it",
        )
