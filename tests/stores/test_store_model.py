"""The stores against the model of `holdfast.testing.store_machine`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis.stateful import rule
from tests.contract.memorystore import MemoryStore
from tests.contract.store_machine import STEPS, StoreMachine

from holdfast.stores.sqlite import make
from holdfast.stores.sqlite.store import SqliteStore


class SqliteModel(StoreMachine):
    """A file that is also closed, opened and left behind by killed processes."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.generation = 0
        super().__init__()

    def open(self) -> SqliteStore:
        path = self.folder / str(self.generation) / "memory.db"
        return make({"url": f"sqlite://{path}", "timeout_s": "5"}).__enter__()

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)

    @rule()
    def reopen(self) -> None:
        self.store.__exit__(None, None, None)
        self.store = self.open()

    @rule()
    def crash(self) -> None:
        """Go on with the files as a killed process would leave them: the log never moved into the file."""
        left = self.folder / str(self.generation)
        self.generation += 1
        (self.folder / str(self.generation)).mkdir()
        for name in ("memory.db", "memory.db-wal"):
            if (left / name).exists():
                shutil.copy(left / name, self.folder / str(self.generation) / name)
        self.store.__exit__(None, None, None)
        self.store = self.open()


class MemoryModel(StoreMachine):
    """The store in memory, which nothing survives."""

    def open(self) -> MemoryStore:
        return MemoryStore()


TestSqliteAgainstTheModel = SqliteModel.TestCase
TestMemoryAgainstTheModel = MemoryModel.TestCase
TestSqliteAgainstTheModel.settings = TestMemoryAgainstTheModel.settings = STEPS
