"""The store on PostgreSQL against the model of `tests.contract.store_machine`."""

from __future__ import annotations

import itertools
from typing import ClassVar

import pytest
from hypothesis.stateful import rule
from tests.contract.store_machine import STEPS, StoreMachine
from tests.postgresql import Database

from holdfast.stores.postgresql import make
from holdfast.stores.postgresql.store import PostgresStore

organisations = itertools.count(200_000)


class PostgresModel(StoreMachine):
    """An organisation of its own for each run, whose connections are closed and lost in between."""

    database: ClassVar[Database]

    def __init__(self) -> None:
        self.organisation = next(organisations)
        super().__init__()

    def open(self) -> PostgresStore:
        return make({"url": self.database.store_url(self.organisation), "timeout_s": "5"}).__enter__()

    @rule()
    def reopen(self) -> None:
        self.store.__exit__(None, None, None)
        self.store = self.open()

    @rule()
    def lose_connections(self) -> None:
        """Go on after the server ended every connection, as it does when it restarts."""
        with self.database.connect() as sql:
            sql.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(autouse=True, scope="module")
def own_database(database: Database) -> None:
    PostgresModel.database = database


TestPostgresAgainstTheModel = PostgresModel.TestCase
TestPostgresAgainstTheModel.settings = STEPS
