"""The story of each host that is installed here; `make hosts-live` plays it, an ordinary run of the tests does not."""

from __future__ import annotations

import os
import subprocess
import sys
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


@pytest.mark.skipif(sys.platform == "win32", reason="a shell's program")
def test_a_hook_is_timed_and_told_apart_by_who_answered(tmp_path: Path) -> None:
    machine = Machine(tmp_path, Program())
    try:
        launcher = machine.home / ".holdfast" / "bin" / "holdfast-launch"
        launcher.parent.mkdir(parents=True)
        text = '#!/bin/sh\npython=/bin/true\n[ "$1" = served ] || "$python"\ncat\n'
        launcher.write_text(text, encoding="utf-8")
        machine.record_hooks()
        for host in ("served", "alone"):
            payload = f'{{"hook_event_name": "{host}"}}'
            ran = subprocess.run([launcher, host], input=payload, capture_output=True, text=True, check=True)
            assert ran.stdout == payload
        calls = machine.hook_calls()
        assert [(call.event, call.in_python) for call in calls] == [("served", False), ("alone", True)]
        assert all(call.ms is not None and call.ms > 0 for call in calls)
        machine.stop_recording()
        assert launcher.read_text(encoding="utf-8") == text
    finally:
        machine.close()
