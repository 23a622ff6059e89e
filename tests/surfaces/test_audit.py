"""`holdfast audit` on the store of a server."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from holdfast.settings import load_settings
from holdfast.team import founding
from holdfast.wiring import SystemClock, open_backend
from tests.surfaces.terminal import run, told, told_json


@pytest.fixture
def log(home: Path) -> Path:
    """The file of a server on which an organisation was made."""
    with open_backend(load_settings()) as backend:
        founding.bootstrap(backend, SystemClock(), os.urandom, name="Acme Works", admin="Ada Lovelace")
    return home / "memory.db"


def as_owner(log: Path, statement: str) -> None:
    with sqlite3.connect(log) as sql:
        sql.executescript(f"DROP TRIGGER audit_log_stays; DROP TRIGGER audit_log_unchanged; {statement}")
    sql.close()


def test_the_entries_are_printed_without_words(log: Path) -> None:
    lines = told("audit")
    assert [line.split()[3] for line in lines.splitlines()] == ["organisation.make", "member.add", "token.issue"]
    assert "Ada" not in lines
    assert "Acme" not in lines
    assert len(told("audit", "--limit", "1").splitlines()) == 1
    entries = told_json("audit")
    assert [entry["seq"] for entry in entries] == [3, 2, 1]
    assert entries[0]["previous"] == entries[1]["hash"]


def test_a_whole_log_is_said_to_be_whole_and_has_its_head(log: Path) -> None:
    summary = told_json("audit", "--verify")
    assert summary == {"entries": 3, "head": summary["head"], "whole": True, "faults": []}
    assert told("audit", "--verify", "--head", summary["head"]) == f"3 entries; head {summary['head']}\n"


def test_a_log_that_is_not_whole_is_an_error_that_names_the_entry(log: Path) -> None:
    head = told_json("audit", "--verify")["head"]
    as_owner(log, "UPDATE audit_log SET doc = json_set(doc, '$.actor', 'eve') WHERE seq = 2")
    result = run("audit", "--verify")
    assert result.exit_code == 1
    assert "entry 2 was changed" in result.stdout
    assert "error: the audit log is not whole" in result.stderr
    as_json = run("audit", "--verify", "--json", "--head", head)
    assert as_json.exit_code == 1
    assert '"whole": false' in as_json.stdout.replace('":false', '": false')


def test_a_head_that_the_log_does_not_have_is_an_error(log: Path) -> None:
    result = run("audit", "--verify", "--head", f"9:{'a' * 64}")
    assert result.exit_code == 1
    assert "entries 4 to 9 are missing" in result.stdout


def test_a_log_without_entries(home: Path) -> None:
    assert told("audit") == ""
    assert told("audit", "--verify") == "0 entries; head 0:\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--head", "x"], 2),
        (["--verify", "--head", "x"], 1),
        (["--organisation", "0"], 2),
        (["--organisation", "7"], 1),
    ],
)
def test_what_cannot_be_asked(log: Path, arguments: list[str], code: int) -> None:
    result = run("audit", *arguments)
    assert result.exit_code == code
    assert "Traceback" not in result.output
