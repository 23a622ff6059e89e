"""The story of each host that is installed here; `make hosts-live` plays it, an ordinary run of the tests does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.hosts_live.lab import Machine
from tests.hosts_live.programs import FOLDER, PROGRAMS, Program
from tests.hosts_live.run import recorded_row
from tests.hosts_live.story import COLUMNS, play


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_host_does_what_its_row_says(program: Program, tmp_path: Path) -> None:
    if not os.environ.get(FOLDER):
        pytest.skip(f"{FOLDER} names no folder of hosts' programs; `make hosts-live` says more")
    if program.path() is None:
        pytest.skip(f"{program.command} is not installed: npm install {program.package}")
    machine = Machine(tmp_path, program)
    try:
        facts = play(machine)
    finally:
        machine.close()
    row = recorded_row(program.name)
    assert {key: facts[key] for key in COLUMNS if row.get(key) == "yes"} == {
        key: "yes" for key in COLUMNS if row.get(key) == "yes"
    }
