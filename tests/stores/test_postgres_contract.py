"""The store on PostgreSQL meets the contract."""

from collections.abc import Iterator

import pytest
from tests.contract.store_contract import StoreContract
from tests.postgresql import Database

from holdfast.ports.store import Store
from holdfast.stores.postgresql import make


class TestPostgresStore(StoreContract):
    @pytest.fixture
    def store(self, database: Database, organisation: int) -> Iterator[Store]:
        with make({"url": database.store_url(organisation)}) as opened:
            yield opened
