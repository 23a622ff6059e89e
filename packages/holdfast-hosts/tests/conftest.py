"""The tests of this distribution share the repository's fixtures, and its guard of the user's real home."""

from __future__ import annotations

import pytest
import tests.conftest as shared
from tests.importers import conftest as importing

home = shared.home
memory, project, read, take, write = (
    importing.memory, importing.project, importing.read, importing.take, importing.write,
)  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Guard the real home where the repository's own tests, which do so, do not run beside these."""
    if not config.pluginmanager.is_registered(shared):
        config.pluginmanager.register(shared)
