"""A module's own server with an organisation, over a SQLite file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.people import Founded, found
from tests.server.serving import Server, served


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Founded:
    """An organisation in a home of the module's own."""
    folder = tmp_path_factory.mktemp("server")
    return found(HOME=str(folder), HOLDFAST_HOME=str(folder / ".holdfast"), HOLDFAST_HOLDOUT="0")


@pytest.fixture(scope="module")
def server(team: Founded) -> Iterator[Server]:
    """The server of that organisation."""
    with served(**team.environment) as running:
        yield running
