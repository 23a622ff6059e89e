"""Fixtures every test may use: a scratch home and an open store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.stores.sqlite import make
from holdfast.stores.sqlite.store import SqliteStore
from tests.codebase import Codebase


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOLDFAST_HOME of the test's own, with a user's home around it."""
    for name in ("HOLDFAST_OFF", "HOLDFAST_STORE", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / ".holdfast"))
    return tmp_path / ".holdfast"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """An open SQLite store."""
    with make({"url": f"sqlite://{tmp_path}/store/memory.db"}) as opened:
        yield opened


@pytest.fixture
def code(home: Path, tmp_path: Path) -> Codebase:
    """A project under git with two files, about which the home's memory knows nothing yet."""
    return Codebase(tmp_path / "harbour")
