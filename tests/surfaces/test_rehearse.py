"""`holdfast check --rehearse`: what people and programs see, from a session that taught a lesson to its rehearsal."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.bootstrap import Memory
from holdfast.testing.builders import START, make_event
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json

REQUEST, COMMAND = "Pad the harbour's names on the left", "make berths"
CAUSE = "The walrus ferry ran aground because its keel was too deep"


@pytest.fixture
def harbour(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which an agent stated what it had found out in a session, and somebody a rule before."""
    monkeypatch.chdir(code.folder)
    told("remember", "The crane is painted every spring", "--kind", "convention")
    acts = [
        {"text": REQUEST, "trust": "person"},
        {"kind": "tool_result", "tool": "Bash", "command": COMMAND, "text": "", "trust": "tool"},
        {"kind": "reply", "text": f"{CAUSE}."},
    ]
    with Memory(str(code.folder)) as memory:
        memory.append([
            make_event(**{"project": "", "cwd": str(code.folder), "at": START + timedelta(minutes=at), **fields})
            for at, fields in enumerate(acts)
        ])  # fmt: skip
        memory.remember(f"{CAUSE}.", kind="bug_cause", trust="agent", quote=CAUSE)
    return code.folder


def crowd(folder: Path) -> None:
    """State so many newer rules that a start cannot tell the first one."""
    lines = [
        json.dumps(
            {
                "kind": "convention",
                "pinned": True,
                "insight": f"Never moor at the {side} {pier} {deck} without two ropes",
            }
        )
        for side in ("north", "south", "east", "west", "inner", "outer")
        for pier in ("long", "short", "old", "new", "stone", "wooden")
        for deck in ("deck", "ramp", "gate", "shed", "mast", "rail")
    ]
    with Memory(str(folder)) as memory:
        memory.import_lessons(lines, accept=True)


def test_a_lesson_that_is_reported_passes_and_those_without_moments_are_counted(harbour: Path, home: Path) -> None:
    run("check", "--rehearse")  # opens the memory
    sql = sqlite3.connect(home / "memory.db")
    counts = "SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM deliveries), (SELECT count(*) FROM state)"
    before = sql.execute(counts).fetchone()
    result = run("check", "--rehearse")
    assert result.exit_code == 0, result.output
    assert result.stdout.split("\t")[1:3] == ["1", "1"]
    assert "1 lesson has no moments" in result.stderr
    assert "1 of 1 lesson told" in result.stderr
    assert sql.execute(counts).fetchone() == before
    sql.close()


def test_a_lesson_that_is_not_reported_any_more_fails_everywhere(harbour: Path, tmp_path: Path) -> None:
    baseline = str(tmp_path / "baseline.json")
    result = run("check", "--rehearse", "--baseline", baseline)
    assert result.exit_code == 0, result.output
    assert "was written" in result.stderr
    words = Path(baseline).read_text()
    assert "walrus" not in words
    assert REQUEST not in words

    crowd(harbour)
    result = run("check", "--rehearse")
    assert result.exit_code == 1, result.output
    assert "walrus ferry" in result.stdout
    assert "neither at the start nor at its moments (prompt, command)" in result.stdout
    assert "217 lessons have no moments" in result.stderr

    result = run("check", "--rehearse", "--baseline", baseline, "--json")
    plain = json.loads(result.stdout)
    assert (result.exit_code, plain["baseline"]) == (1, {"lost": 1, "new": 0, "gone": 0})
    assert plain["told"]["no"] == plain["lessons"] == 1
    assert [entry["id"] for entry in plain["failed"]] == [entry["id"] for entry in plain["rehearsed"]]
    assert Path(baseline).read_text() == words, "a baseline is never overwritten"


def test_what_was_not_reported_before_fails_only_without_a_baseline(harbour: Path, tmp_path: Path) -> None:
    crowd(harbour)
    baseline = str(tmp_path / "baseline.json")
    assert run("check", "--rehearse").exit_code == 1
    assert run("check", "--rehearse", "--baseline", baseline).exit_code == 0
    result = run("check", "--rehearse", "--baseline", baseline)
    assert result.exit_code == 0, result.output
    assert "0 lost, 0 new, 0 gone" in result.stderr


def test_a_memory_whose_lessons_have_no_moments_passes_and_says_so(
    code: Codebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(code.folder)
    for number in range(12):
        told("remember", f"Crane number {number} is painted every spring", "--kind", "convention")
    result = run("check", "--rehearse")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "12 lessons have no moments" in result.stderr
    assert told_json("check", "--rehearse")["without_moments"] == 12


def test_a_sample_and_a_host_are_chosen(harbour: Path) -> None:
    assert told_json("check", "--rehearse", "--sample", "1", "--host", "codex")["lessons"] == 1
    result = run("check", "--rehearse", "--host", "no-such-host")
    assert result.exit_code == 1
    assert "no-such-host" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--rehearse", "checks.yaml"), "leave out FILE"),
        (("--rehearse", "--files"), "leave out FILE"),
        (("--rehearse", "--only", "x"), "leave out FILE"),
        (("--sample", "3"), "need --rehearse"),
        (("--baseline", "b.json"), "need --rehearse"),
        (("--rehearse", "--sample", "0"), "0 is not in the range"),
    ],
)
def test_options_that_do_not_go_together_are_refused(harbour: Path, arguments: tuple[str, ...], reason: str) -> None:
    result = run("check", *arguments)
    assert result.exit_code == 2
    assert reason in result.stderr


def test_a_file_that_is_no_baseline_is_left_as_it_is(harbour: Path) -> None:
    (harbour / "b.json").write_text("tide")
    result = run("check", "--rehearse", "--baseline", "b.json")
    assert result.exit_code == 1
    assert "b.json is no baseline" in result.stderr
    assert (harbour / "b.json").read_text() == "tide"


def test_a_terminal_shows_a_table_with_its_heads(harbour: Path) -> None:
    ours, theirs = os.openpty()
    environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
    command = [sys.executable, "-m", "holdfast", "check", "--rehearse"]
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=harbour, env=environment)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # Linux ends a terminal that nobody writes to with an error
        while piece := os.read(ours, 65_536):
            shown += piece
    os.close(ours)
    assert process.wait() == 0
    assert b"not at all" in shown
    assert b"rehearsing lessons" in shown
