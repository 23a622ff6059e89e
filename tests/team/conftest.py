from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.settings import load_settings
from holdfast.stores.sqlite.backend import SqliteBackend
from holdfast.stores.sqlite.store import SqliteStore
from tests.team.office import Office


@pytest.fixture
def empty_office(tmp_path: Path, home: Path) -> Iterator[Office]:
    """A server that nobody has set up."""
    settings = replace(load_settings(), embedder="none")
    with SqliteBackend(SqliteStore(str(tmp_path / "server" / "memory.db"))) as backend:
        yield Office(backend, settings)


@pytest.fixture
def office(empty_office: Office) -> Office:
    """A server with an organisation and its admin, Ada."""
    empty_office.bootstrap()
    return empty_office
