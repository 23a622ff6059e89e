"""Transactions of one organisation: each begins by saying which organisation it is of, and under which role it acts.

The role may not bypass the row-level policies, and the setting lasts as long as the transaction, so that a pooler which
gives each transaction another connection is no danger. A call is one transaction, or part of the one that `changing`
has open in this thread, or of the read transaction that `reading` holds.

A call that failed before anything was acknowledged is made again once, if its connection was lost or it was the victim
of a deadlock. After a commit was sent nothing is repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeVar

import psycopg
from psycopg_pool import PoolTimeout

from holdfast.errors import StoreCorruptError, StoreDeadlockError, StoreError, StoreLockedError, StoreUnavailableError
from holdfast.stores.postgresql.cache import Cache
from holdfast.stores.postgresql.database import Database
from holdfast.stores.postgresql.failures import translate
from holdfast.stores.postgresql.placement import MOVING, Places
from holdfast.stores.postgresql.schema import APP_ROLE

MOST_MOVES = 5
"""How often a transaction follows an organisation that has moved."""

V = TypeVar("V")
Row = tuple[Any, ...]

READ, WRITE = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

IDLE = "SET LOCAL idle_in_transaction_session_timeout = '5min'"
"""The server ends a transaction that says nothing for so long, so that a process that hangs locks nothing."""
HNSW = "SET LOCAL hnsw.ef_search = 100; SET LOCAL hnsw.iterative_scan = 'relaxed_order'"
"""How many vectors a search by HNSW keeps in view, and that it goes on until enough lessons may be seen. It is set with
the organisation, because a statement of its own costs more than many settings."""


class Sql:
    """A transaction of one organisation. Each statement names the organisation: `org = %s` with `sql.org`."""

    def __init__(self, connection: psycopg.Connection[Row], org: int, cache: Cache) -> None:
        self.connection = connection
        self.org = org
        self.cache = cache

    def execute(self, statement: str, args: Sequence[Any] = ()) -> psycopg.Cursor[Row]:
        """Run a statement with `%s` placeholders; return a cursor with its rows."""
        return self.connection.execute(statement, args)

    def executemany(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run a statement once for each row of arguments, without waiting for each answer."""
        if rows:
            with self.connection.cursor() as cursor:
                cursor.executemany(statement, rows)


class Tenant:
    """One organisation on a database. Safe to share between threads, each of which has transactions of its own.

    All views of an organisation share a thread's transaction, so that none waits for a connection while another one of
    the same thread holds one.
    """

    def __init__(self, database: Database, org: int, places: Places | None = None) -> None:
        """`places` are the databases among which the organisation may have moved; None: it may not have."""
        self.database = database
        self.org = org
        self.places = places
        self._thread = database.threads_of(org)

    def read(self, work: Callable[[Sql], V]) -> V:
        """Return what `work` reads; all its statements see one instant. It may be called twice."""
        if self._is_changing:
            return self._translated(work)
        if not self._holds:
            return self._twice(READ, work)
        if self._open is None:
            self._thread.held = ExitStack()
            self._thread.open = self._enter(self._thread.held, READ)
        try:
            return self._translated(work)
        except StoreError:
            self._end_held()  # after an error the transaction answers nothing more
            raise

    def write(self, work: Callable[[Sql], V]) -> V:
        """Return what `work` returns, and commit what it wrote, all of it or nothing. It may be called twice."""
        if self._is_changing:

            def part(sql: Sql) -> V:
                with _savepoint(sql):
                    return work(sql)

            return self._translated(part)
        self._end_held()
        return self._twice(WRITE, work)

    def catch_up(self, add_some: Callable[[Sql], bool]) -> None:
        """Write until `add_some` returns that nothing is left. A store that cannot be written stays as it is."""
        try:
            while self.write(add_some):
                pass
        except StoreCorruptError:
            raise
        except StoreError:
            pass  # read-only, full or busy: what is there already answers

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one read transaction for the thread. A write ends it; the next read begins another."""
        self._thread.holds = self._holds + 1
        try:
            yield
        finally:
            self._thread.holds -= 1
            if not self._holds and not self._is_changing:
                self._end_held()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make one transaction of all calls of the thread; an error that leaves the block takes all of them back."""
        if self._is_changing:
            try:
                with _savepoint(self._open):
                    yield
            except psycopg.Error as exc:
                raise translate(exc, self.database.where) from None
            return
        self._end_held()
        with ExitStack() as stack:
            self._thread.open, self._thread.changing = self._enter(stack, WRITE), True
            try:
                yield
            finally:
                self._thread.open, self._thread.changing = None, False

    @property
    def _open(self) -> Any:
        """The transaction that this thread has open, of `changing` or held by `reading`; else None."""
        return getattr(self._thread, "open", None)

    @property
    def _holds(self) -> int:
        return getattr(self._thread, "holds", 0)

    @property
    def _is_changing(self) -> bool:
        return getattr(self._thread, "changing", False)

    def _end_held(self) -> None:
        if self._open is not None:
            self._thread.open = None
            with suppress(StoreError):  # it wrote nothing; the next transaction reports what is wrong
                self._thread.held.close()

    def _enter(self, stack: ExitStack, begin: str) -> Sql:
        """Begin a transaction that the stack ends. A connection that turns out to be lost is replaced once."""
        try:
            return stack.enter_context(self._transaction(begin))
        except StoreUnavailableError as exc:
            if isinstance(exc.__context__, PoolTimeout):
                raise  # it waited for its whole time already
            self.database.renew()
        return stack.enter_context(self._transaction(begin))

    def _translated(self, work: Callable[[Sql], V]) -> V:
        try:
            return work(self._open)
        except psycopg.Error as exc:
            raise translate(exc, self.database.where) from None

    def _twice(self, begin: str, work: Callable[[Sql], V]) -> V:
        try:
            return self._once(begin, work)
        except (StoreUnavailableError, StoreLockedError) as exc:
            is_locked = isinstance(exc, StoreLockedError)
            if isinstance(exc.__context__, PoolTimeout) or (is_locked and not isinstance(exc, StoreDeadlockError)):
                raise  # it waited for its whole time already
            if not is_locked:
                self.database.renew()
        return self._once(begin, work)

    def _once(self, begin: str, work: Callable[[Sql], V]) -> V:
        with self._transaction(begin) as sql:
            return work(sql)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Sql]:
        """Commit at the end, roll back on any error. Raises StoreError."""
        with self._begun(begin) as connection:
            try:
                yield Sql(connection, self.org, self.database.cache)
            except BaseException as exc:
                _roll_back(connection)
                if isinstance(exc, psycopg.Error):
                    raise translate(exc, self.database.where) from None
                raise
            self._commit(connection, begin)

    @contextmanager
    def _begun(self, begin: str) -> Iterator[psycopg.Connection[Row]]:
        """Lend a connection in a transaction that has begun, to the database where the organisation is."""
        for _ in range(MOST_MOVES):
            with self.database.connection() as connection:
                place = self._begin(connection, begin)
                if not place:
                    yield connection
                    return
                _roll_back(connection)
            if self.places is None:
                raise StoreError(
                    f"organisation {self.org} has moved to {place!r}", hint="name its place in serve.places"
                )
            self.database = self.places.follow(self.org, place)
        raise StoreLockedError(f"organisation {self.org} is moving", hint="try again")

    def _begin(self, connection: psycopg.Connection[Row], begin: str) -> str:
        """Begin a transaction; return the name of the place to which the organisation has moved, or nothing.

        A writer holds a lock that a move waits for. It looks after it has the lock, when a move has ended.
        """
        statement = f"{begin}; {self._settings()}"
        if begin is WRITE:
            statement += f"; SELECT pg_advisory_xact_lock_shared({MOVING}, {self.org:d})"
        looks = begin is WRITE or self.places is not None
        if looks:
            statement += f"; SELECT place FROM placements WHERE number = {self.org:d}"
        try:
            cursor = connection.execute(statement)
            while cursor.nextset():
                pass
            row = cursor.fetchone() if looks else None
        except BaseException as exc:
            _roll_back(connection)
            if isinstance(exc, psycopg.Error):
                raise translate(exc, self.database.where) from None
            raise
        return str(row[0]) if row else ""

    def _settings(self) -> str:
        """Return statements that say whose transaction it is. An extension that distributes tables passes them on."""
        lock_ms = int(self.database.address.timeout_s * 1_000)
        return (
            f"SET LOCAL ROLE {APP_ROLE}; SET LOCAL holdfast.org = '{self.org:d}';"
            f" SET LOCAL lock_timeout = {lock_ms}; {IDLE}; {HNSW}"
        )

    def _commit(self, connection: psycopg.Connection[Row], begin: str) -> None:
        try:
            connection.execute("COMMIT")
        except psycopg.Error as exc:
            failure = translate(exc, self.database.where)
            _roll_back(connection)
            if begin is WRITE and isinstance(failure, StoreUnavailableError):
                failure = StoreError(  # nobody may repeat it unseen: it may be stored
                    f"{self.database.where}: the connection was lost while the change was stored",
                    hint="look whether the change is there before you repeat it",
                )
            raise failure from None


@contextmanager
def _savepoint(sql: Sql) -> Iterator[None]:
    """Take back what was written since, if an error leaves the block."""
    sql.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        with suppress(psycopg.Error):  # the connection may be gone: the first error is the one to report
            sql.connection.execute("ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part")
        raise
    sql.execute("RELEASE SAVEPOINT part")


def _roll_back(connection: psycopg.Connection[Row]) -> None:
    try:
        if not connection.closed:
            connection.execute("ROLLBACK")
    except psycopg.Error:
        connection.close()  # the pool makes another one
