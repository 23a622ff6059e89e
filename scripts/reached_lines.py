"""A pytest plug-in: writes down which tests reach which line of the package, and how long each takes.

    PYTHONPATH=scripts python -m pytest -p reached_lines --reached build/mutants tests/ranking

`reached.db` (coverage's own form, one context a test) and `durations.json` go to the folder. `mutate.py` reads both.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src" / "holdfast"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--reached", metavar="FOLDER", default="build/mutants", help="where the lines and times go")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ReachedLines(Path(config.getoption("--reached"))))


class ReachedLines:
    """One coverage measurement, whose context is the test that runs, or the file whose shared fixture is set up."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.durations: dict[str, float] = defaultdict(float)
        self.coverage = coverage.Coverage(data_file=str(folder / "reached.db"), source=[str(SOURCE)], config_file=False)
        self.coverage.erase()
        self.coverage.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.coverage.switch_context(nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        """A fixture that tests share runs for the first of them, but all of them may fail because of it."""
        nodeid = request._pyfuncitem.nodeid
        shared = fixturedef.scope != "function"
        if shared:
            self.coverage.switch_context(nodeid.partition("::")[0])
        try:
            return (yield)
        finally:
            if shared:
                self.coverage.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.durations[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        self.coverage.save()
        (self.folder / "durations.json").write_text(json.dumps(self.durations, indent=0), encoding="utf-8")
