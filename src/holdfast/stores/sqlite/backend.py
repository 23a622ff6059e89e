"""`SqliteBackend`: a server's one organisation, in the file that a person's own memory has, too."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Self

from holdfast.domain.statefamilies import LEARNED_POSITION
from holdfast.domain.team import FIRST_ORGANISATION, OrganisationId
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import InvalidValueError, NotFoundError, StoreError
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.stores.sqlite.team import SqliteAuditLog, SqliteDocuments, SqliteRecords


class SqliteTeamStores:
    """`ports.team.TeamStores` of the one organisation."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.organisation = FIRST_ORGANISATION
        self.records = SqliteRecords(store.connection)
        self.audit = SqliteAuditLog(store.connection)
        self.documents = SqliteDocuments(store.connection)

    def reading(self) -> AbstractContextManager[object]:
        return self.store.reading()

    def changing(self) -> AbstractContextManager[object]:
        return self.store.changing()


class SqliteBackend:
    """`ports.team.TeamBackend` on one file. Safe to share between threads, which take turns."""

    def __init__(self, store: SqliteStore) -> None:
        """`store` is not opened yet."""
        self._store = store
        self._stores = SqliteTeamStores(self._store)

    def __enter__(self) -> Self:
        self._store.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._store.__exit__(*exc)

    def open(self, organisation: OrganisationId) -> SqliteTeamStores:
        if organisation != FIRST_ORGANISATION:
            raise NotFoundError("there is no such organisation")
        return self._stores

    def open_to_read(self, organisation: OrganisationId, project: ProjectId, after: int) -> SqliteTeamStores:
        return self.open(organisation)

    def organisations(self) -> list[OrganisationId]:
        return [FIRST_ORGANISATION]

    def move(self, organisation: OrganisationId, place: str) -> int:
        raise InvalidValueError(
            "a server on a SQLite file has no other place", hint="HOLDFAST_STORE=postgresql://… and serve.places"
        )

    def create(self) -> OrganisationId:
        raise StoreError(
            "a server on a SQLite file has one organisation", hint="HOLDFAST_STORE=postgresql://… for several"
        )

    def check(self) -> None:
        self._store.get_state(LEARNED_POSITION)
