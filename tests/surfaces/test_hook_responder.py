"""The two halves of a hook: what the host is told when the half that works is quick, slow, late, stuck or dead."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.surfaces.hooks import responder
from tests.surfaces.hookcalls import ENTRY

HALVES = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from holdfast.lean import deadline
from holdfast.surfaces.hooks import responder as responders
deadline.LATE_FACTOR = 10_000.0 if "patient" in sys.argv[3:] else 4.0
responders.ATTENDED_S = 60.0
responders.is_busy = lambda: "alone" not in sys.argv[3:]
responder = responders.open_responder("{}")
host_half = os.getppid()

def wait_until_left():
    while os.getppid() == host_half and not responder._first.locked():
        time.sleep(0.01)

def note(heard):
    with open(sys.argv[2], "w") as stream:
        stream.write(repr(heard))
        os.rename(sys.argv[2], sys.argv[2] + ".done")
"""
STUCK = "import re; re.match('(a+)+$', 'a' * 26 + 'b')"
"""Holds the interpreter for seconds: no thread of the process runs meanwhile."""


def run(tmp_path: Path, script: str, *options: str) -> str:
    """What the host reads from a hook whose working half runs the script."""
    command = [sys.executable, "-I", "-S", "-c", HALVES + script, str(Path(ENTRY).parents[3]), str(tmp_path / "heard")]
    ran = subprocess.run([*command, *options], capture_output=True, text=True, check=True, timeout=120)
    assert ran.stderr == ""
    return ran.stdout


def heard(tmp_path: Path) -> str:
    """What the working half was told that the host heard; it may go on for longer than the host waits."""
    from tests.surfaces.hookcalls import wait_for

    done = tmp_path / "heard.done"
    wait_for(done.exists, "the working half ends", limit_s=120)
    return done.read_text()


WAYS = pytest.mark.parametrize("way", ["forked", "alone"])


@WAYS
def test_an_answer_in_time_is_what_the_host_reads(tmp_path: Path, way: str) -> None:
    assert run(tmp_path, "note(responder.write_answer('answer'))\nos._exit(0)", way) == "answer"
    assert heard(tmp_path) == "'answer'"


@WAYS
def test_only_the_first_answer_counts(tmp_path: Path, way: str) -> None:
    assert (
        run(tmp_path, "responder.write_answer('first'); note(responder.write_answer('second'))\nos._exit(0)", way)
        == "first"
    )


@WAYS
def test_a_blank_answer_is_silence(tmp_path: Path, way: str) -> None:
    assert run(tmp_path, "responder.write_answer('\\n')\nos._exit(0)", way) == ""


@WAYS
def test_at_the_deadline_the_best_answer_so_far_is_given(tmp_path: Path, way: str) -> None:
    script = "responder.limit(0.2); responder.allow_late(False); responder.offer('unverified'); wait_until_left()\n"
    assert run(tmp_path, script + "note((responder.write_answer('verified'), responder.is_late))", way) == "unverified"
    assert heard(tmp_path) == "('unverified', True)"


@WAYS
def test_without_any_answer_the_host_is_told_nothing(tmp_path: Path, way: str) -> None:
    script = (
        "responder.limit(0.2); responder.allow_late(False); wait_until_left()\nnote(responder.write_answer('late'))"
    )
    assert run(tmp_path, script, way) == "{}"
    assert heard(tmp_path) == "None"


def test_a_call_that_holds_the_interpreter_does_not_hold_the_host(tmp_path: Path) -> None:
    script = (
        f"responder.limit(0.2); responder.allow_late(False); responder.offer('unverified'); {STUCK}; "
        f"note(responder.write_answer('verified'))"
    )
    assert run(tmp_path, script) == "unverified"
    assert heard(tmp_path) == "'unverified'"


@WAYS
def test_where_a_late_answer_is_worth_something_it_is_waited_for(tmp_path: Path, way: str) -> None:
    script = (
        "responder.limit(0.1); responder.allow_late(True); responder.offer('unverified')\n"
        "while time.monotonic() < responder.deadline.answer_by + 0.1: time.sleep(0.01)\n"
        "note(responder.write_answer('late'))\nos._exit(0)"
    )
    assert run(tmp_path, script, way, "patient") == "late"


def test_whether_a_machine_is_busy_is_told_by_what_runs_now_and_ran_lately(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_file = tmp_path / "loadavg"
    monkeypatch.setattr(responder, "BUSY_FILE", str(load_file))
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    for lately, now, busy in ((0.5, 1, False), (0.5, 4, False), (0.5, 5, True), (4.0, 1, True)):
        monkeypatch.setattr("os.getloadavg", lambda lately=lately: (lately, 0.0, 0.0))
        load_file.write_text(f"{lately} 0.00 0.00 {now}/312 4711\n")
        assert responder.is_busy() == busy
    load_file.write_text("")
    monkeypatch.setattr("os.getloadavg", lambda: (0.5, 0.0, 0.0))
    assert not responder.is_busy()


def test_a_working_half_that_dies_leaves_an_answer(tmp_path: Path) -> None:
    assert run(tmp_path, "import signal; os.kill(os.getpid(), signal.SIGKILL)") == "{}"
    assert run(tmp_path, "responder.offer('best'); os.kill(os.getpid(), 9)") == "best"


def test_what_follows_the_answer_does_not_keep_the_host_waiting_once_it_is_released(tmp_path: Path) -> None:
    script = (
        "responder.limit(1e6); responder.write_answer('answer'); responder.release(); wait_until_left(); "
        "note('went on')"
    )
    assert run(tmp_path, script) == "answer"
    assert heard(tmp_path) == "'went on'"


def test_an_answer_larger_than_a_pipe_arrives_whole(tmp_path: Path) -> None:
    assert run(tmp_path, "responder.write_answer('x' * 300_000)") == "x" * 300_000


def test_the_working_half_is_in_no_reach_of_what_ends_the_host(tmp_path: Path) -> None:
    script = (
        "note((os.getsid(0) == os.getpid(), os.fstat(1).st_rdev == os.stat(os.devnull).st_rdev)); "
        "responder.write_answer('')"
    )
    run(tmp_path, script)
    assert heard(tmp_path) == "(True, True)"
