"""Damaged files and odd names: hooks answer, commands say what is wrong, and nothing is overwritten."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from benchmarks.hostile import faults
from benchmarks.hostile._report import Row
from benchmarks.hostile.faults import TAUGHT, Ground


def calm(rows: list[Row]) -> list[Row]:
    """The rows, of which no hook failed or answered what a host cannot read, and no command ended by a traceback."""
    for row in rows:
        assert (row["exit not 0"], row["unreadable"]) == (0, 0), row
        assert "TRACEBACK" not in row["what"], row
        assert "OVERWRITTEN" not in row["what"], row
    return rows


def test_without_the_files_beside_the_database_no_lesson_is_lost(ground: Ground) -> None:
    for row in calm(faults.side_files(ground)):
        assert f"lessons {TAUGHT} of {TAUGHT}, integrity ok, doctor ok" in row["what"]


def test_a_file_that_is_no_database_is_named_and_left_alone(ground: Ground) -> None:
    rows = {row["fault"]: row["what"] for row in calm(faults.lost_file(ground))}
    for what in ("noise", "text", "a folder"):
        assert rows[f"file replaced by {what}"] == "recall exit 1, doctor database, once it is moved away: works"


def test_a_file_that_was_cut_is_an_error_in_words(ground: Ground) -> None:
    (row,) = calm(faults.truncated(ground))
    assert row["what"].endswith("traceback 0, silent doctor 0")


@pytest.mark.parametrize("fault", [faults.newer_schema, faults.odd_names, faults.read_only, faults.full_disk])
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


def test_a_lock_that_lasts_makes_no_hook_fail(ground: Ground) -> None:
    calm(faults.locked(ground))
