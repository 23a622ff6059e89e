from __future__ import annotations

from holdfast.testing.store_contract import StoreContract


class TestSqlite(StoreContract):
    """The fixture `store` is in tests/conftest.py."""
