"""The tests of this distribution share the repository's fixtures, and its guard of the user's real home."""

from __future__ import annotations

import pytest
import tests.conftest as shared


def pytest_configure(config: pytest.Config) -> None:
    """Register the repository's fixtures where its own tests do not run beside these."""
    if not config.pluginmanager.is_registered(shared):
        config.pluginmanager.register(shared)
