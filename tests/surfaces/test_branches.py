"""The commands about branches: which lessons are staged, and what a branch taught."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json


@pytest.fixture
def folder(home: Path, code: Codebase) -> str:
    """A project with a shared lesson on the main line and a branch with changed code, which is checked out."""
    folder = str(code.folder)
    for rule in ("Retries are capped at 3", "Ids end with a check digit"):
        told("remember", rule, "--why", "the gateway", "-C", folder)
    told("share", "--all", "-C", folder)
    code.commit("lessons")
    code.git("checkout", "-q", "-b", "feature/lists")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    code.commit("lists")
    return folder


def remember(folder: str, words: str = "Rows are kept as lists") -> str:
    return str(told_json("remember", words, "--file", "src/store.py::Store.put", "-C", folder)["id"])


def test_staged_lessons_are_listed_and_rescued(folder: str, code: Codebase) -> None:
    lesson = remember(folder)
    code.git("checkout", "-q", "main")
    result = run("list", "-C", folder)
    assert "Rows are kept" not in result.stdout
    assert "1 lesson of other branches not listed: holdfast staged" in result.stderr
    assert f"{lesson[-8:]}\tfeature/lists\t-\tconvention\tRows are kept as lists" in told("staged", "-C", folder)
    code.git("branch", "-D", "feature/lists")
    result = run("staged", "-C", folder)
    assert "feature/lists (gone)" in result.stdout
    assert "holdfast staged rescue ID" in result.stderr
    (row,) = told_json("staged", "-C", folder)["staged"]
    assert (row["branch"], row["seen_here"], row["fate"]) == ("feature/lists", False, "gone")
    assert lesson[-8:] in told("staged", "rescue", lesson[-8:], "-C", folder)
    assert "Rows are kept" in told("list", "-C", folder)
    assert run("staged", "rescue", lesson[-8:], "-C", folder).exit_code == 1


def test_who_states_a_staged_lesson_hears_so(folder: str) -> None:
    result = run("remember", "Rows are kept as lists", "--file", "src/store.py::Store.put", "-C", folder)
    assert "shown only on feature/lists until it is merged" in result.stderr


def test_a_whole_branch_is_rescued_and_that_can_be_undone(folder: str, code: Codebase) -> None:
    remember(folder)
    remember(folder, "Lists are never shared between keys")
    code.git("checkout", "-q", "main")
    assert len(told_json("staged", "rescue", "--branch", "feature/lists", "-C", folder)["rescued"]) == 2
    told("undo", "-C", folder)
    assert len(told_json("staged", "-C", folder)["staged"]) == 2


def test_rescue_wants_lessons_or_a_branch(folder: str) -> None:
    for words in ((), ("1f0c9a2b", "--branch", "x")):
        assert run("staged", "rescue", *words, "-C", folder).exit_code == 2


def test_a_pull_request_tells_the_confirmed_lessons_of_the_branch_in_public_words(folder: str, code: Codebase) -> None:
    remember(folder)
    told("remember", "The pager number is 555", "--private", "--file", "src/store.py::Store.put", "-C", folder)
    ids = {row["insight"]: row["id"] for row in told_json("list", "-C", folder)["lessons"]}
    told("forget", ids["Ids end with a check digit"], "-C", folder)
    assert told("pr", "-C", folder) == "- **Rows are kept as lists** (`src/store.py`)\n"
    (row,) = told_json("pr", "-C", folder)["lessons"]
    assert row["insight"] == "Rows are kept as lists"
    code.git("checkout", "-q", "main")
    result = run("pr", "-C", folder)
    assert (result.exit_code, result.stdout) == (0, "")


@pytest.mark.parametrize("base", ["nowhere", "--upload-pack=x", ""])
def test_a_base_that_git_does_not_know_is_an_error_with_a_hint(folder: str, code: Codebase, base: str) -> None:
    if not base:
        code.git("branch", "-m", "main", "odd-name")
    result = run("pr", "-C", folder, "--", base)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "holdfast pr origin/main" in result.stderr


def test_what_a_branch_taught_before_a_rebase_is_reported(folder: str, code: Codebase) -> None:
    remember(folder)
    code.git("checkout", "-q", "main")
    code.edit("README.md", "# harbour", "# Harbour")
    commit = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "-q", "-a", "-m", "later"]
    later = os.environ | {"GIT_COMMITTER_DATE": "2099-01-01T00:00:00Z"}
    subprocess.run(commit, cwd=code.folder, check=True, env=later)
    code.git("checkout", "-q", "feature/lists")
    code.git("rebase", "-q", "main")
    assert "Rows are kept as lists" in told("pr", "-C", folder)
