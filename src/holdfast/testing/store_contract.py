"""What every backend promises. A backend's tests inherit `StoreContract` and give it a fixture `store`.

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path): ...  # an open, empty Store
"""

from __future__ import annotations

import inspect

from holdfast.ports.store import Store
from holdfast.testing._store_lessons import EventContract, LessonContract
from holdfast.testing._store_log import LogContract, PurgeContract, VectorContract
from holdfast.testing._store_matches import PathContract, WordsContract
from holdfast.testing._store_search import SearchContract


class StoreContract(
    EventContract,
    LessonContract,
    SearchContract,
    WordsContract,
    PathContract,
    VectorContract,
    LogContract,
    PurgeContract,
):
    """Everything a backend promises."""

    def test_a_store_has_every_method_of_the_port(self, store: Store) -> None:  # noqa: D102 - its name says it
        for name, member in [item for part in Store.__mro__[:-1] for item in vars(part).items()]:
            if not name.startswith("_"):
                expected = list(inspect.signature(member).parameters)[1:]
                given = list(inspect.signature(getattr(store, name)).parameters)
                assert [argument.rstrip("_") for argument in given] == expected, name
