"""`PostgresBackend`: the organisations of a server, in one database. `ports.team` documents every method."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Self

from holdfast.domain.team import FIRST_ORGANISATION, OrganisationId
from holdfast.errors import NotFoundError
from holdfast.stores.postgresql.address import Address
from holdfast.stores.postgresql.database import Database
from holdfast.stores.postgresql.states import lock
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.stores.postgresql.team import PostgresAuditLog, PostgresDocuments, PostgresRecords
from holdfast.stores.postgresql.tenant import Sql, Tenant

LARGEST = 2**31 - 1
"""The largest number of an organisation: a token may name any."""


class PostgresTeamStores:
    """`ports.team.TeamStores` of one organisation: a view, cheap to make."""

    def __init__(self, database: Database, organisation: OrganisationId) -> None:
        self.organisation = organisation
        self.store = PostgresStore(database, organisation)
        self.records = PostgresRecords(self.store.tenant)
        self.audit = PostgresAuditLog(self.store.tenant)
        self.documents = PostgresDocuments(self.store.tenant)

    def reading(self) -> AbstractContextManager[object]:
        return self.store.reading()

    def changing(self) -> AbstractContextManager[object]:
        return self.store.changing()


class PostgresBackend:
    """`ports.team.TeamBackend` on one database. Safe to share between threads."""

    def __init__(self, address: Address, *, upgrade: bool = True) -> None:
        self._database = Database(address, upgrade=upgrade)
        self._tenant = Tenant(self._database, FIRST_ORGANISATION)

    def __enter__(self) -> Self:
        self._database.open()
        return self

    def __exit__(self, *exc: object) -> None:
        self._database.close()

    def open(self, organisation: OrganisationId) -> PostgresTeamStores:
        if not 1 <= organisation <= LARGEST:
            raise NotFoundError("there is no such organisation")
        return PostgresTeamStores(self._database, organisation)

    def check(self) -> None:
        self._database.check()

    def organisations(self) -> list[OrganisationId]:
        rows = self._tenant.read(lambda sql: sql.execute("SELECT number FROM organisations ORDER BY number").fetchall())
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

        return self._tenant.write(work)
