"""A memory that vanished, was emptied or is damaged is told of; what is damaged is set aside, never deleted."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from tests.surfaces.terminal import run, told


@pytest.fixture(autouse=True)
def harbour(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A memory of three lessons."""
    monkeypatch.chdir(tmp_path)
    for number in range(3):
        told("remember", f"Berth {number} is for pilots")


def erase(home: Path) -> None:
    for name in ("memory.db", "memory.db-wal", "memory.db-shm"):
        (home / name).unlink(missing_ok=True)


def problems() -> list[str]:
    plain = json.loads(run("doctor", "--no-proof", "--json").stdout)
    return [
        finding["what"] for finding in plain["findings"] if finding["status"] == "bad" and finding["name"] != "hooks"
    ]


def test_a_sound_memory_has_nothing_lost() -> None:
    assert problems() == []
    assert run("list").stderr.count("lost") == 0
    assert json.loads(told("status", "--json"))["store"]["lost"] == ""


@pytest.mark.parametrize("emptied", [False, True], ids=["deleted", "emptied"])
def test_a_lost_memory_is_reported_until_the_loss_is_accepted(home: Path, emptied: bool) -> None:
    erase(home)
    if emptied:
        (home / "memory.db").touch(0o600)
    (problem,) = problems()
    assert "held 3 lessons" in problem
    assert "held 3 lessons" in run("remember", "A new start").stderr
    assert "it holds 1" in json.loads(told("status", "--json"))["store"]["lost"]
    assert "lost" in told("status")
    assert problems() != []
    assert "accepted" in run("doctor", "--no-proof", "--mend").stdout
    assert problems() == []
    assert "lost" not in run("list").stderr


def test_forgetting_and_purging_everything_is_no_loss() -> None:
    for lesson in json.loads(told("list", "--json"))["lessons"]:
        run("forget", lesson["id"])
        run("forget", "--purge", lesson["id"])
    assert problems() == []


def test_taking_setup_back_is_no_loss(home: Path) -> None:
    run("setup", "claude-code")
    run("uninstall")
    assert problems() == []


def test_a_home_that_was_deleted_is_a_new_start(home: Path) -> None:
    erase(home)
    (home / "witness.json").unlink()
    assert "lost" not in run("remember", "A new start").stderr
    assert problems() == []


@pytest.mark.parametrize("witness", ["", "{", "[]", '{"x": 1}', "\x00"])
def test_a_witness_that_cannot_be_read_is_written_anew(home: Path, witness: str) -> None:
    (home / "witness.json").write_text(witness)
    told("list")
    assert json.loads((home / "witness.json").read_text())


def test_damaged_rows_are_named_and_mended(home: Path) -> None:
    sql = sqlite3.connect(home / "memory.db")
    with sql:
        sql.execute("UPDATE lessons SET doc = '{' WHERE row = 2")
    sql.close()
    assert "damaged" in run("recall", "berth pilots").stderr
    assert "Berth 0" in told("recall", "berth pilots")
    (problem,) = problems()
    assert "damaged rows" in problem
    assert "1 of lessons" in run("doctor", "--no-proof", "--mend").stdout
    assert problems() == []
    assert "damaged" not in run("recall", "berth pilots").stderr
