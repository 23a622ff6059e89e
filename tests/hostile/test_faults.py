"""Locks, damaged files, wrong clocks and odd names: hooks answer, commands say what is wrong, and nothing is lost."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from benchmarks.hostile import faults
from benchmarks.hostile._machine import Machine
from benchmarks.hostile._preload import build_shifted_clock
from benchmarks.hostile._report import Row
from benchmarks.hostile.faults import (
    DAY_S,
    TAUGHT,
    Ground,
    Trial,
    _hold,
    _start,
    at_rest,
    make_older,
    rule,
    unprivileged,
    without_writing,
)

LOG_LIMIT = 5_000_000
GROW = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA wal_autocheckpoint=0")
for number in range(400):
    connection.execute("INSERT INTO state VALUES (?, '', ?, 0)", (f"hostile {number}", "x" * 20_000))
connection.execute("DELETE FROM state WHERE family LIKE 'hostile %'")
os._exit(0)
"""


def calm(rows: list[Row]) -> list[Row]:
    """The rows, of which no hook failed or answered what a host cannot read, and no command ended by a traceback."""
    for row in rows:
        assert (row["exit not 0"], row["unreadable"]) == (0, 0), row
        assert "TRACEBACK" not in row["what"], row
        assert "OVERWRITTEN" not in row["what"], row
    return rows


@pytest.mark.nightly("plays every fault of its kind")
def test_without_the_files_beside_the_database_no_lesson_is_lost(ground: Ground) -> None:
    for row in calm(faults.side_files(ground)):
        assert f"lessons {TAUGHT} of {TAUGHT}, integrity ok, doctor ok" in row["what"]


@pytest.mark.nightly("plays every fault of its kind")
def test_a_file_that_is_no_database_is_named_and_left_alone(ground: Ground) -> None:
    rows = {row["fault"]: row["what"] for row in calm(faults.lost_file(ground))}
    for what in ("noise", "text", "a folder"):
        assert rows[f"file replaced by {what}"] == "recall exit 1, doctor database, once it is moved away: works"


@pytest.mark.nightly("plays every fault of its kind")
def test_a_file_that_was_cut_is_an_error_in_words(ground: Ground) -> None:
    (row,) = calm(faults.truncated(ground))
    assert row["what"].endswith("traceback 0, silent doctor 0")


@pytest.mark.parametrize(
    "fault",
    [
        faults.newer_schema,
        faults.read_only,
        pytest.param(faults.odd_names, marks=pytest.mark.nightly("many names")),
        pytest.param(faults.full_disk, marks=pytest.mark.nightly("makes a small file system")),
    ],
)
def test_hooks_go_on_and_commands_end_in_words(ground: Ground, fault: Callable[[Ground], list[Row]]) -> None:
    rows = fault(ground)
    if any(row["what"].startswith("skipped") for row in rows):
        pytest.skip(rows[0]["what"])
    calm(rows)
    if fault in (faults.read_only, faults.full_disk):
        assert "recall works" in rows[-1]["what"]
    if fault is faults.read_only:
        assert "list works, remember exit 1" in rows[-1]["what"]
    if fault is faults.newer_schema:
        assert "has schema 99" in rows[0]["what"]
    if fault is faults.odd_names:  # an event may be late on a busy machine; the commands may not
        assert {part for part in rows[0]["what"].split("; ") if not part.endswith("event lost")} <= {"all work"}


@pytest.mark.nightly("plays every fault of its kind")
def test_a_lock_makes_no_hook_fail_and_loses_no_event(ground: Ground) -> None:
    for row in calm(faults.locked(ground)):
        assert row["lost"] == 0, row


@pytest.mark.parametrize("how", [pytest.param("by SQLite", marks=pytest.mark.nightly("waits")), "by the lock file"])
def test_no_event_is_lost_while_the_store_is_locked(ground: Ground, how: str) -> None:
    machine = ground.machine()
    trial = Trial(machine)
    holder = threading.Thread(target=_hold, args=(machine, how, 4.0, ready := threading.Event()))
    holder.start()
    ready.wait()
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: trial.prompt(), range(2)))
    holder.join()
    assert trial.row("", "")["lost"] == 0


@pytest.mark.nightly("plays every fault of its kind")
def test_no_event_is_lost_while_an_older_store_is_upgraded(ground: Ground) -> None:
    machine = ground.machine(lessons=6_000)
    at_rest(machine)
    make_older(machine)
    trial = Trial(machine)
    for _ in range(4):
        trial.prompt()
    assert trial.row("", "")["lost"] == 0
    assert machine.integrity() == "ok"


@pytest.mark.parametrize(
    "command",
    ["remember --topic", *(pytest.param(c, marks=pytest.mark.nightly("alike")) for c in ("revise", "forget"))],
)
def test_a_clock_set_back_keeps_nothing_from_being_changed(ground: Ground, command: str) -> None:
    library = build_shifted_clock(ground.folder)
    if library is None:
        pytest.skip("needs Linux and a C compiler")
    machine = ground.machine(lessons=0)
    machine.cli("remember", "Amounts are cents.", "--topic", "unit")
    (lesson,) = machine.lessons()
    machine.env |= {"LD_PRELOAD": str(library), "SHIFTED_CLOCK_S": str(-DAY_S)}
    arguments = {
        "remember --topic": ("remember", "Amounts are tenths of cents.", "--topic", "unit"),
        "revise": ("revise", lesson["id"][-8:], "--insight", "Amounts are tenths of cents."),
        "forget": ("forget", lesson["id"][-8:]),
    }[command]
    done = machine.cli(*arguments)
    assert (done.code, done.err) == (0, done.err)


def test_a_read_only_home_still_delivers(ground: Ground) -> None:
    prefix = unprivileged()
    if prefix is None:
        pytest.skip("the superuser may write everywhere")
    machine = ground.machine(lessons=3)
    at_rest(machine)
    with without_writing(machine, prefix):
        # On a busy machine a start may miss its deadline; one of several is in time.
        starts = [machine.hook(_start(machine, f"r{number}")) for number in range(8)]
    assert any("rounded half" in start.out for start in starts)


@pytest.mark.parametrize("how", ["deleted", "emptied"])
def test_doctor_names_a_store_that_vanished(ground: Ground, how: str) -> None:
    machine = ground.machine()
    at_rest(machine)
    machine.database.unlink()
    if how == "emptied":
        machine.database.touch()
    machine.cli("status")  # begins anew
    assert machine.doctor() != "ok"


def test_one_damaged_lesson_silences_no_other(ground: Ground) -> None:
    machine = ground.machine()
    at_rest(machine)
    connection = sqlite3.connect(machine.database)
    connection.execute("UPDATE lessons SET doc = substr(doc, 1, 40) WHERE row = 2")
    connection.commit()
    connection.close()
    recall = machine.cli("recall", "account t5x rounded")
    assert (recall.code, rule(4)[:-1] in recall.out or rule(5)[:-1] in recall.out) == (0, True)


def test_the_write_ahead_log_stays_small_under_hooks_alone(machine: Machine) -> None:
    machine.cli("remember", rule(0))
    subprocess.run([sys.executable, "-c", GROW, str(machine.database)], check=True)
    log = machine.database.with_name("memory.db-wal")
    assert log.stat().st_size > LOG_LIMIT
    for number in range(12):
        machine.hook(machine.edit(number, "long"))
    assert log.stat().st_size < LOG_LIMIT
