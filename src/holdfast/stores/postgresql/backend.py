"""`PostgresBackend`: the organisations of a server, in one or several databases. `ports.team` documents every method.

Organisations are created in the home database, which has the list of all, and may be moved to other places. Replicas
are those of the home database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Self

from holdfast.domain.team import FIRST_ORGANISATION, OrganisationId
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import InvalidValueError, NotFoundError
from holdfast.stores.postgresql.address import Address
from holdfast.stores.postgresql.database import Database
from holdfast.stores.postgresql.placement import Places
from holdfast.stores.postgresql.replicas import ReadingTenant, Replicas
from holdfast.stores.postgresql.states import lock
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.stores.postgresql.team import PostgresAuditLog, PostgresDocuments, PostgresRecords
from holdfast.stores.postgresql.tenant import Sql, Tenant

LARGEST = 2**31 - 1
"""The largest number of an organisation: a token may name any."""
NOBODY = 0
"""The number of no organisation, for the tables that belong to none."""


class PostgresTeamStores:
    """`ports.team.TeamStores` of one organisation: a view, cheap to make."""

    def __init__(self, home: Database, tenant: Tenant) -> None:
        """`home` is what this process knows the organisation's lessons by, wherever they are."""
        self.organisation = OrganisationId(tenant.org)
        self.store = PostgresStore(home, tenant.org, tenant)
        self.records = PostgresRecords(self.store.tenant)
        self.audit = PostgresAuditLog(self.store.tenant)
        self.documents = PostgresDocuments(self.store.tenant)

    def reading(self) -> AbstractContextManager[object]:
        return self.store.reading()

    def changing(self) -> AbstractContextManager[object]:
        return self.store.changing()


class PostgresBackend:
    """`ports.team.TeamBackend` on PostgreSQL. Safe to share between threads."""

    def __init__(
        self,
        address: Address,
        *,
        upgrade: bool = True,
        replicas: Sequence[Address] = (),
        places: Mapping[str, Address] | None = None,
    ) -> None:
        """`places` are further databases by name, over which organisations may be spread."""
        self._database = Database(address, upgrade=upgrade)
        self._replicas = Replicas(replicas) if replicas else None
        others = {name: Database(place, upgrade=upgrade) for name, place in (places or {}).items()}
        self._places = Places(self._database, others) if others else None
        self._home = Tenant(self._database, NOBODY)

    def __enter__(self) -> Self:
        self._database.open()
        if self._places is not None:
            self._places.open()
        if self._replicas is not None:
            self._replicas.open()
        return self

    def __exit__(self, *exc: object) -> None:
        for databases in (self._replicas, self._places, self._database):
            if databases is not None:
                databases.close()

    def open(self, organisation: OrganisationId) -> PostgresTeamStores:
        return PostgresTeamStores(self._database, self._tenant(organisation))

    def open_to_read(self, organisation: OrganisationId, project: ProjectId, after: int) -> PostgresTeamStores:
        tenant = self._tenant(organisation)
        if self._replicas is not None:
            replica = self._replicas.find(organisation, lambda copy: _has(copy, project, after))
            if replica is not None:
                tenant = ReadingTenant(tenant, self._replicas, replica)
        return PostgresTeamStores(self._database, tenant)

    def move(self, organisation: OrganisationId, place: str) -> int:
        if self._places is None:
            raise InvalidValueError("this server has no other place", hint="name its URL in serve.places")
        return self._places.move(self._tenant(organisation).org, place)

    def _tenant(self, organisation: OrganisationId) -> Tenant:
        if not 1 <= organisation <= LARGEST:
            raise NotFoundError("there is no such organisation")
        database = self._database if self._places is None else self._places.database_of(organisation)
        return Tenant(database, organisation, self._places)

    def check(self) -> None:
        self._database.check()

    def organisations(self) -> list[OrganisationId]:
        rows = self._home.read(lambda sql: sql.execute("SELECT number FROM organisations ORDER BY number").fetchall())
        return [FIRST_ORGANISATION, *(OrganisationId(number) for (number,) in rows)]

    def create(self) -> OrganisationId:
        def work(sql: Sql) -> OrganisationId:
            lock(sql, "organisations")
            row = sql.execute(
                "INSERT INTO organisations (number) SELECT coalesce(max(number), %s) + 1 FROM organisations"
                " RETURNING number",
                (FIRST_ORGANISATION,),
            ).fetchone()
            assert row is not None
            return OrganisationId(row[0])

        return self._home.write(work)


def _has(copy: Tenant, project: ProjectId, after: int) -> bool:
    """Return whether a replica has the project's documents up to that position, of an organisation that is there."""

    def work(sql: Sql) -> bool:
        row = sql.execute("SELECT 1 FROM placements WHERE number = %s", (sql.org,)).fetchone()
        return row is None

    return copy.read(work) and PostgresDocuments(copy).last_seqs([project])[project] >= after
