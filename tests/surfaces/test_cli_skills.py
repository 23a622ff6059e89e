"""`holdfast skills` and the files it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json

NAME = "working-on-src-store-py"


@pytest.fixture(autouse=True)
def inside(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> None:
    """We are in the code base's folder."""
    monkeypatch.chdir(code.folder)


@pytest.fixture
def file(code: Codebase) -> Path:
    """Where the skill of two lessons about one file is to be."""
    for insight, symbol in (("Rows are shared", "Store.put"), ("Reading may give None", "Store.get")):
        told("remember", insight, "--file", f"src/store.py::{symbol}")
    return code.folder / ".claude" / "skills" / NAME / "SKILL.md"


def test_without_lessons_that_recur_there_is_nothing(code: Codebase) -> None:
    assert told("skills", "list") == ""
    assert "no lessons recur yet" in run("skills", "write").stderr
    assert not (code.folder / ".claude").exists()


def test_a_dry_run_shows_the_file_and_writes_nothing(file: Path) -> None:
    printed = told("skills", "write", "--dry-run")
    assert f"new       {file}" in printed
    assert "+1. Rows are shared." in printed
    assert not file.exists()


def test_writing_twice_changes_nothing(file: Path) -> None:
    told("skills", "write")
    first = file.read_text()
    assert told("skills", "show", NAME) == first
    assert [row["change"] for row in told_json("skills", "write")["files"]] == ["same"]
    assert file.read_text() == first


def test_a_file_that_a_person_wrote_or_edited_is_never_touched(file: Path) -> None:
    told("skills", "write")
    for text in (file.read_text().replace("Rows", "Our rows"), "mine", "\ufeff", ""):
        file.write_text(text)
        assert told("skills", "write").split()[0] == "kept"
        assert file.read_text() == text


def test_what_drifted_leaves_its_skill_and_an_empty_skill_its_folder(code: Codebase, file: Path) -> None:
    told("skills", "write")
    own = code.folder / ".claude" / "skills" / "own" / "SKILL.md"
    own.parent.mkdir()
    own.write_text("---\nname: own\n---\n")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    result = run("skills", "write")
    assert result.stdout == f"removed   {file}\n"
    assert "left out" in result.stderr
    assert not file.parent.exists()
    assert own.exists()


def test_another_project_leaves_ours_alone_in_a_shared_folder(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared skills"
    told("skills", "write", "--to", str(shared))
    other = Codebase(tmp_path / "other")
    monkeypatch.chdir(other.folder)
    assert told("skills", "write", "--to", str(shared)) == ""
    assert (shared / NAME / "SKILL.md").exists()


def test_a_file_where_the_folder_should_be_and_an_unknown_name_are_said(code: Codebase, file: Path) -> None:
    code.write("taken", "x")
    assert run("skills", "write", "--to", "taken").exit_code == 2
    result = run("skills", "show", "nix")
    assert (result.exit_code, "holdfast skills list" in result.stderr) == (1, True)


def test_the_list_names_lessons_and_sessions(file: Path) -> None:
    assert told("skills", "list").split()[:3] == [NAME, "2", "2"]
    assert told_json("skills", "list")["skills"][0]["sessions"] == 2


def test_a_purge_takes_a_lesson_out_of_its_skill_and_writes_no_new_one(file: Path) -> None:
    short = told_json("list")["lessons"][0]["short_id"]
    told(
        "forget",
        told_json("remember", "Rows live for a day", "--file", "src/store.py::Store.put")["short_id"],
        "--purge",
    )
    assert not file.exists()
    told("skills", "write")
    result = run("forget", short, "--purge")
    assert "written again without it: " in result.stderr
    assert not file.exists()
