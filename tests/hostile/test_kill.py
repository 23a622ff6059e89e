"""Processes are killed in the middle of writing: what was acknowledged is there, once, and the file is sound."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from benchmarks.hostile._machine import Machine
from benchmarks.hostile.kill import LOST, Attempts, Size, judge, kill_commands, kill_hooks, kill_imports, kill_servers

SMALL = Size(workers=2, tries=6, imports=3, lines=20, servers=2)


@pytest.mark.parametrize(
    ("surface", "attempt"),
    [
        ("CLI remember", kill_commands),
        pytest.param("MCP remember", kill_servers, marks=pytest.mark.nightly("starts many servers")),
        pytest.param("import", kill_imports, marks=pytest.mark.nightly("imports many files")),
    ],
)
def test_what_was_acknowledged_is_stored_once(
    machine: Machine, surface: str, attempt: Callable[[Machine, Size], Attempts]
) -> None:
    attempts = attempt(machine, SMALL)
    assert attempts.kills or attempts.acknowledged
    row = judge(surface, machine, attempts)
    assert (row[LOST], row["twice"]) == (0, 0)
    assert (row["integrity"], row["doctor"], row["processes left"]) == ("ok", "ok", 0)


def test_killed_hooks_leave_the_file_sound_and_no_event_twice(machine: Machine) -> None:
    row = judge("hooks", machine, kill_hooks(machine, SMALL))
    assert (row["twice"], row["integrity"], row["doctor"], row["processes left"]) == (0, "ok", "ok", 0)
