"""Reads on streaming replicas, for a reader who says how much it has to see.

A replica is asked first whether it has replayed that much; if none has, or none answers, the primary reads. Lag is
below a millisecond as a rule, so that is rare. Writes go to the primary, and so do the reads after them.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TypeVar

from holdfast.errors import StoreError, StoreLockedError, StoreUnavailableError
from holdfast.stores.postgresql.address import Address
from holdfast.stores.postgresql.database import Database
from holdfast.stores.postgresql.tenant import Sql, Tenant

V = TypeVar("V")

RESTS_S = 5.0
"""How long a replica that failed is left alone."""
WAIT_S = 1.0
"""How long a read waits for a connection to a replica: the primary is there too."""


class Replicas:
    """The replicas of a database, which take turns. Threads share it."""

    def __init__(self, addresses: Sequence[Address]) -> None:
        self._databases = [Database(replace(address, timeout_s=WAIT_S), upgrade=False) for address in addresses]
        self._turns = itertools.count()
        self._rests_until: dict[Database, float] = {}

    def open(self) -> None:
        """Connect to the replicas; one that does not answer is tried again later."""
        for database in self._databases:
            with suppress(StoreError):
                database.open()

    def close(self) -> None:
        """Close every connection."""
        for database in self._databases:
            database.close()

    def find(self, org: int, has: Callable[[Tenant], bool]) -> Database | None:
        """Return a replica for which `has` is true, or None. One that fails rests for some seconds."""
        first = next(self._turns)
        for offset in range(len(self._databases)):
            database = self._databases[(first + offset) % len(self._databases)]
            if time.monotonic() < self._rests_until.get(database, 0.0):
                continue
            try:
                database.open()
                if has(Tenant(database, org)):
                    return database
            except StoreError:
                self.rest(database)
        return None

    def rest(self, database: Database) -> None:
        """Leave a replica that failed alone for some seconds."""
        self._rests_until[database] = time.monotonic() + RESTS_S


class ReadingTenant(Tenant):
    """An organisation whose reads a replica answers, until something is written or the replica fails."""

    def __init__(self, primary: Tenant, replicas: Replicas, replica: Database) -> None:
        super().__init__(primary.database, primary.org, primary.places)
        self._replicas = replicas
        self._replica = Tenant(replica, primary.org)
        self._reads_primary = False

    def read(self, work: Callable[[Sql], V]) -> V:
        """Return what `work` reads; see `Tenant.read`."""
        if not (self._reads_primary or self._is_changing):
            try:
                return self._replica.read(work)
            except StoreLockedError:  # replaying a change cancelled the read
                self._reads_primary = True
            except StoreUnavailableError:
                self._reads_primary = True
                self._replicas.rest(self._replica.database)
        return super().read(work)

    def write(self, work: Callable[[Sql], V]) -> V:
        """Write on the primary; see `Tenant.write`."""
        self._reads_primary = True
        return super().write(work)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one read transaction for the thread; see `Tenant.reading`."""
        with self._replica.reading(), super().reading():
            yield

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make one transaction of all calls of the thread, on the primary; see `Tenant.changing`."""
        self._reads_primary = True
        with super().changing():
            yield
