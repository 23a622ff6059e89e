"""What every test shares: a home that is not the user's, Hypothesis without deadlines, an open store."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from holdfast.stores.sqlite import make
from holdfast.stores.sqlite.store import SqliteStore
from tests.codebase import Codebase
from tests.homeguard import protect

# How long an example takes says something about the machine, not about the code.
settings.register_profile("holdfast", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("holdfast")


def pytest_configure(config: pytest.Config) -> None:
    """Before any test module is imported: some read the environment when they are."""
    protect(config)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a run in the background, whose children would ignore Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A HOLDFAST_HOME of the test's own, with a user's home around it."""
    for name in ("HOLDFAST_OFF", "HOLDFAST_STORE", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / ".holdfast"))
    monkeypatch.setenv("HOLDFAST_HOLDOUT", "0")  # what a test expects to be told is not to be withheld by chance
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
