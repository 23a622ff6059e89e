from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.settings import load_settings
from holdfast.stores.postgresql import make_backend
from holdfast.stores.sqlite.backend import SqliteBackend
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.team import founding
from tests.postgresql import Database
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


@pytest.fixture(params=["sqlite", "postgresql"])
def any_office(request: pytest.FixtureRequest) -> Office:
    """A server with an organisation and its admin, on each backend."""
    name = "office" if request.param == "sqlite" else "postgresql_office"
    made: Office = request.getfixturevalue(name)
    return made


@pytest.fixture
def postgresql_office(database: Database, home: Path) -> Iterator[Office]:
    """An organisation of its own on a PostgreSQL server."""
    with make_backend({"url": database.store_url()}) as backend:
        opened = Office(backend, replace(load_settings(), embedder="none"))
        opened.begin(
            founding.add_organisation(
                backend, opened.clock, opened.random_bytes, name="Acme", admin="Ada", email="ada@acme.org"
            )
        )
        yield opened
