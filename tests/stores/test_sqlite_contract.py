from __future__ import annotations

from tests.contract.store_contract import StoreContract


class TestSqlite(StoreContract):
    """The fixture `store` is in tests/conftest.py."""
