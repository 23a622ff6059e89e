"""The store in memory keeps to the contract that every backend keeps to."""

from __future__ import annotations

import pytest
from tests.contract.memorystore import MemoryStore
from tests.contract.store_contract import StoreContract


class TestMemory(StoreContract):
    @pytest.fixture
    def store(self) -> MemoryStore:
        return MemoryStore()
