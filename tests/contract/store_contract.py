"""The contract of a backend. A backend's tests inherit `StoreContract` and provide a fixture `store`.

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path): ...  # an open, empty Store
"""

from __future__ import annotations

import inspect

from holdfast.ports.store import Store

from .store_lessons import EventContract, LessonContract
from .store_listings import FacetsContract, SessionsContract, TimesContract
from .store_log import (
    ChangingContract,
    LogContract,
    PurgeContract,
    ReadingContract,
    RowsContract,
    StateContract,
    VectorContract,
)
from .store_matches import PathContract, WordsContract
from .store_search import SearchContract


class StoreContract(
    EventContract,
    LessonContract,
    SessionsContract,
    FacetsContract,
    TimesContract,
    SearchContract,
    WordsContract,
    PathContract,
    VectorContract,
    LogContract,
    StateContract,
    RowsContract,
    PurgeContract,
    ReadingContract,
    ChangingContract,
):
    """The whole contract of a backend."""

    def test_a_store_has_every_method_of_the_port(self, store: Store) -> None:
        methods = {name: member for part in Store.__mro__ for name, member in vars(part).items() if name[0] != "_"}
        assert len(methods) > 10
        for name, member in methods.items():
            expected = list(inspect.signature(member).parameters)[1:]
            parameters = list(inspect.signature(getattr(store, name)).parameters)
            assert [parameter.rstrip("_") for parameter in parameters] == expected, name
