"""Our plug-ins in hosts' own language, run by node as the host would run them, against the real hook program."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.bootstrap import Memory
from holdfast.ports.store import EventFilter
from holdfast.surfaces.cli.main import cli

DRIVERS = Path(__file__).parent / "drivers"
PLUGINS = {
    "opencode": ".config/opencode/plugins/holdfast.js",
    "cline": ".cline/plugins/holdfast/index.js",
}
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="node runs the plug-ins")


class Session:
    """A project with one pinned lesson, and a host's plug-in set up on this machine."""

    def __init__(self, home: Path, host: str, plugin: str) -> None:
        self.host = host
        self.project = home / "my shop"
        subprocess.run(["git", "init", "-q", str(self.project)], check=True)
        (self.project / "money.py").write_text("CENTS = 100\n")
        with Memory(str(self.project)) as memory:
            memory.remember("Amounts are whole cents, never floats.", kind="constraint", pinned=True)
            memory.remember("Round half to even in `money.py`.", kind="convention", files=["money.py"])
        assert CliRunner().invoke(cli, ["setup", host]).exit_code == 0
        self.module = home / "plugin.mjs"  # node takes an ES module by this ending, the host by any
        self.module.write_bytes((home / plugin).read_bytes())

    def play(self, drivers: Path = DRIVERS) -> dict[str, Any]:
        ran = subprocess.run(
            [NODE or "", str(drivers / f"{self.host}.mjs"), str(self.module), str(self.project)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        report: dict[str, Any] = json.loads(ran.stdout)
        return report

    def kept(self) -> list[str]:
        with Memory(str(self.project)) as memory:
            return [event.kind for _, event in memory.services.store.find_events(EventFilter())]


def test_opencode_is_informed_at_the_start_and_on_a_prompt_and_tells_what_happens(home: Path) -> None:
    session = Session(home.parent, "opencode", PLUGINS["opencode"])
    report = session.play()
    assert len(report["system"]) == 2
    assert report["system"][0] == report["system"][1]
    assert "whole cents" in report["system"][0]
    assert [part["type"] for part in report["parts"]] == ["text"]
    assert report["parts"][0]["synthetic"]
    assert report["parts"][0]["id"].startswith("prt_")
    assert session.kept() == ["session_start", "prompt", "tool_failure", "reply"]


def test_cline_is_informed_by_a_rule_and_around_a_tool(home: Path) -> None:
    session = Session(home.parent, "cline", PLUGINS["cline"])
    report = session.play()
    assert "whole cents" in report["start"][0]
    assert report["start"][0] == report["start"][1]
    assert "half to even" in (report["prompt"] or report["before"])["appendContext"]
    assert report["broken"] is None
    assert session.kept() == ["session_start", "prompt", "tool_result", "tool_failure", "reply"]


@pytest.mark.parametrize("host", PLUGINS)
def test_a_program_that_is_gone_breaks_nothing(home: Path, host: str) -> None:
    session = Session(home.parent, host, PLUGINS[host])
    session.module.write_text(session.module.read_text().replace('["/', '["/gone/'))
    session.play()
    assert session.kept() == []
