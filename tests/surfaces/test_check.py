"""`holdfast check`: expectations of a repository are played in a copy of memory, and reported for people and CI."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.codebase import Codebase
from tests.surfaces.terminal import run, start, told, told_json

TOKEN, QUAY = "Tokens expire after 15 minutes", "Run the harbour tests with make quay"


@pytest.fixture
def harbour(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(code.folder)
    (code.folder / "auth.py").write_text("def login():\n    pass\n")
    told("remember", TOKEN, "--kind", "constraint", "--file", "auth.py")
    told("remember", QUAY, "--kind", "tooling")
    (code.folder / ".holdfast").mkdir(exist_ok=True)
    return code.folder


def write(harbour: Path, text: str) -> None:
    (harbour / ".holdfast" / "checks.yaml").write_text(text)


GOOD = f"""
checks:
- name: editing auth knows the token rule
  edit: auth.py
  deliver: {TOKEN}
  top: 3
  tokens: 300
- read: auth.py
  deliver: [{TOKEN}]
  never: [{QUAY}]
- prompt: "Where do tokens expire after minutes, in the login?"
  deliver: [{TOKEN}]
- command: ls -la
  nothing: true
- failure: "KeyError: 'pilot'"
  nothing: true
- start: true
  tokens: 400
- ask: harbour tests
  deliver: {QUAY}
"""


def test_checks_that_hold_pass_and_write_nothing(harbour: Path, home: Path) -> None:
    write(harbour, GOOD)
    told("list")
    sql = sqlite3.connect(home / "memory.db")
    before = [sql.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("events", "deliveries", "outcomes")]
    result = run("check")
    assert result.exit_code == 0, result.output
    assert "editing auth knows the token rule" in result.stdout
    assert "7 passed, 0 failed" in result.stderr
    after = [sql.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("events", "deliveries", "outcomes")]
    sql.close()
    assert after == before


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (f"{{edit: README.md, deliver: [{QUAY}]}}", "is not delivered"),
        (f"{{edit: auth.py, never: [{TOKEN}]}}", "is delivered, at rank 1"),
        ("{edit: auth.py, nothing: true}", "1 delivered, but nothing is expected"),
        ("{edit: auth.py, tokens: 1}", "more than 1"),
        ("{edit: auth.py, deliver: No such lesson}", "no lesson has the title or id 'No such lesson'"),
        (f"{{ask: harbour tests tokens login, top: 1, deliver: [{TOKEN}, {QUAY}]}}", "is "),
    ],
)
def test_a_check_that_does_not_hold_fails_and_says_what_was_delivered(harbour: Path, check: str, reason: str) -> None:
    write(harbour, f"checks:\n- {check}\n")
    result = run("check")
    assert result.exit_code == 1
    assert "FAIL" in result.stdout
    assert reason in result.stdout
    assert ".holdfast/checks.yaml:2: " in result.stdout
    assert "delivered" in result.stdout


def test_lessons_are_named_by_title_or_by_the_end_of_an_id(harbour: Path) -> None:
    lesson = next(row["id"] for row in told_json("list")["lessons"] if row["title"] == TOKEN)
    write(harbour, f"checks:\n- edit: auth.py\n  deliver: ['{lesson[-8:]}', '{TOKEN.upper()}']\n")
    assert run("check").exit_code == 0


def test_json_tells_each_check_and_what_was_delivered(harbour: Path) -> None:
    write(
        harbour,
        f"checks:\n- edit: auth.py\n  deliver: {TOKEN}\n- {{name: odd, edit: auth.py, nothing: true}}\n",
    )
    result = run("check", "--json")
    plain = json.loads(result.stdout)
    assert (plain["passed"], plain["failed"], result.exit_code) == (1, 1, 1)
    assert [check["passed"] for check in plain["checks"]] == [True, False]
    assert plain["checks"][0]["delivered"][0]["title"] == TOKEN


@pytest.mark.parametrize(
    ("text", "line", "column", "reason"),
    [
        ("checks:\n- edit: auth.py\n  delivers: x\n", 3, 3, "unknown key 'delivers'"),
        ("checks:\n- deliver: x\n", 2, 3, "needs exactly one of"),
        ("checks:\n- edit: a\n  read: b\n  deliver: x\n", 2, 3, "needs exactly one of"),
        ("checks:\n- edit: a\n", 2, 3, "needs deliver, never, nothing or tokens"),
        ("checks:\n- edit: a\n  deliver: x\n  top: many\n", 4, 8, "whole number"),
        ("checks:\n- edit: a\n  deliver: x\n  deliver: y\n", 4, 3, "occurs twice"),
        ("checks:\n- edit: ''\n  nothing: true\n", 2, 9, "edit is empty"),
        ("checks:\n- edit: a\n  nothing: perhaps\n", 3, 12, "true or false"),
        ("checks:\n- edit: a\n  deliver: []\n", 3, 12, "must name lessons"),
        ("checks: all\n", 1, 9, "must be a list"),
        ("- edit: a\n", 1, 1, "must be a map"),
        ("checks:\n- just words\n", 2, 3, "must be a map"),
        ("checks:\n- {edit: a\n", 3, 1, "not YAML"),
        ("checks:\n- prompt: a\n  replaces: b\n  nothing: true\n", 3, 13, "is allowed with edit only"),
    ],
)
def test_a_mistake_is_reported_with_line_and_column(
    harbour: Path, text: str, line: int, column: int, reason: str
) -> None:
    write(harbour, text)
    result = run("check")
    assert result.exit_code == 1
    assert f"error: .holdfast/checks.yaml:{line}:{column}: " in result.stderr
    assert reason in result.stderr


def test_a_file_that_is_not_utf_8_is_reported_with_its_place(harbour: Path) -> None:
    (harbour / ".holdfast" / "checks.yaml").write_bytes(b"checks:\n- edit: \xff\n")
    result = run("check")
    assert result.exit_code == 1
    assert "checks.yaml:2:9: not UTF-8" in result.stderr


def test_a_link_is_not_followed(harbour: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("password: swordfish\n")
    (harbour / ".holdfast" / "checks.yaml").symlink_to(tmp_path / "secret.txt")
    result = run("check")
    assert result.exit_code == 1
    assert "password" not in result.output


def test_without_a_file_it_says_where_one_belongs(harbour: Path) -> None:
    result = run("check")
    assert result.exit_code == 1
    assert "checks.yaml" in result.stderr


def test_a_clone_checks_its_own_lesson_files_in_an_empty_home(
    harbour: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a repository's CI does: it has the files and no memory, and needs no id of the author's machine."""
    write(harbour, GOOD)
    told("share", "--all")
    clone = tmp_path / "clone"
    shutil.copytree(harbour, clone)
    home = tmp_path / "runner"
    done = start("check", "--files", cwd=clone, HOLDFAST_HOME=str(home), HOME=str(home))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stderr
    assert not (home / "memory.db").exists()
    (next((clone / ".holdfast" / "lessons").rglob("tokens*.md"))).unlink()
    done = start("check", "--files", cwd=clone, HOLDFAST_HOME=str(home), HOME=str(home))
    assert done.returncode == 1
    assert f"no lesson has the title or id '{TOKEN}'" in done.stdout


def test_checks_are_played_as_a_session_of_a_host_that_is_named(harbour: Path) -> None:
    write(harbour, f"checks:\n- edit: auth.py\n  deliver: {TOKEN}\n")
    assert run("check", "--host", "codex").exit_code == 0
    result = run("check", "--host", "nobody")
    assert result.exit_code == 1
    assert "nobody" in result.stderr
