"""How long another process is waited for that holds a lock of the wiring."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from threading import Barrier

import pytest

from holdfast import plugins
from holdfast.errors import PluginNotFoundError
from holdfast.lean.files import FileLock
from holdfast.ports.store import Store
from holdfast.settings import load_settings
from holdfast.wiring import SystemClock, make_workspace


@pytest.mark.parametrize(("low_latency", "wait_s"), [(True, 0.1), (False, 2.0)])
def test_another_process_that_claims_an_id_is_waited_for(
    home: Path, tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch, low_latency: bool, wait_s: float
) -> None:
    """`wiring.CLAIM_TURN_S`, and for somebody who waits `wiring.TIMEOUT_SCALE` times as long."""
    settings = load_settings()
    (tmp_path / "app" / ".holdfast").mkdir(parents=True)
    (tmp_path / "app" / ".holdfast" / "project.toml").write_text('id = "tides"\n')
    Path(settings.run_path).mkdir(parents=True)
    other = FileLock(str(Path(settings.run_path) / "project.lock"))
    assert other.take(0.0, 0.0)
    slept = [0.0]

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    workspace = make_workspace(settings, store, SystemClock(), low_latency=low_latency)
    with monkeypatch.context() as patched:
        patched.setattr("time.monotonic", lambda: slept[0])
        patched.setattr("time.sleep", sleep)
        assert workspace.locate(str(tmp_path / "app")).claim == "tides"
    assert wait_s <= slept[0] < wait_s + 0.051
    other.close()


def test_threads_get_instants_of_their_own_in_the_order_of_their_calls() -> None:
    clock, calls, start = SystemClock(), 20_000, Barrier(4)

    def ask(_: int) -> list[datetime]:
        start.wait()
        return [clock.now() for _ in range(calls)]

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # else a thread nearly always finishes its call
    try:
        with ThreadPoolExecutor(4) as pool:
            answers = [*pool.map(ask, range(4))]
    finally:
        sys.setswitchinterval(interval)
    assert all(later > earlier for instants in answers for earlier, later in pairwise(instants))
    assert len({instant for instants in answers for instant in instants}) == 4 * calls


def test_a_plug_in_whose_package_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [name for name in sys.modules if name.startswith(("holdfast.stores.postgresql", "psycopg"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for load in (lambda: plugins.load("stores", "postgresql"), lambda: plugins.load_backend("postgresql", {})):
        with pytest.raises(PluginNotFoundError, match="needs the package psycopg") as raised:
            load()
        assert raised.value.hint == "pip install 'holdfast-memory[server]'"
