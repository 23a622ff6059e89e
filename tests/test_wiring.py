"""How long a hook waits, and how long everybody else does: the numbers of the wiring at their boundary."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.lean.files import FileLock
from holdfast.ports.store import Store
from holdfast.settings import load_settings
from holdfast.testing.builders import FixedClock
from holdfast.wiring import CodeIndexOnce, SystemClock, make_workspace
from tests.codebase import Codebase


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


class Slow(FixedClock):
    """A clock that moves on by that many seconds after its first look."""

    def __init__(self, takes_s: float) -> None:
        super().__init__()
        self.takes_s = takes_s

    def elapsed_s(self) -> float:
        before, self.elapsed = self.elapsed, self.takes_s
        return before


@pytest.mark.parametrize(
    ("cold", "takes_s", "is_found"),
    [(True, 0.099, True), (True, 0.1, False), (False, 1.99, True), (False, 2.0, False)],
)
def test_a_hook_searches_for_a_tenth_of_a_second(
    code: Codebase, store: Store, cold: bool, takes_s: float, is_found: bool
) -> None:
    """`wiring.HOOK_SEARCH_S`; everybody else has `codeindex.local.SEARCH_S`."""
    code.write("tides.py", "def spring_tide():\n    return 1\n")
    code.commit()
    settings = load_settings()
    workspace = make_workspace(settings, store, SystemClock(), low_latency=False)
    index = CodeIndexOnce(settings, workspace, Slow(takes_s), cold)
    symbols = index().search(workspace.locate(str(code.folder)), "spring_tide")
    index.close()
    assert [symbol.path for symbol in symbols] == (["tides.py"] if is_found else [])
