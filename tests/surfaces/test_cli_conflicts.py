"""Conflicts and history at the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json
from tests.surfaces.test_cli_review import Person

NPM, PNPM = "Install dependencies with npm.", "Install dependencies with pnpm."
ALWAYS, NEVER = "Call `t.Parallel` in every test", "Don't call `t.Parallel` in tests"


@pytest.fixture(autouse=True)
def here(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> Codebase:
    """We are in a code base under git."""
    monkeypatch.chdir(code.folder)
    return code


def short_of(insight: str) -> str:
    """The short id of a new lesson."""
    return str(told_json("remember", insight)["short_id"])


def test_saving_says_whose_place_a_lesson_takes_and_what_it_contradicts() -> None:
    old = short_of(NPM)
    closing = run("remember", PNPM)
    assert f"it replaces {old}; to bring that lesson back: holdfast undo" in closing.stderr
    always = short_of(ALWAYS)
    noted = run("remember", NEVER)
    assert f"note: it contradicts {always}, which is confirmed too" in noted.stderr
    assert "hint: holdfast review --keep" in noted.stderr


def test_conflicts_are_listed_and_settled_without_a_terminal() -> None:
    assert run("list", "--conflicts").stderr == "0 conflicts\n"
    always, never = short_of(ALWAYS), short_of(NEVER)
    listed = told("list", "--conflicts")
    assert listed.index(NEVER) < listed.index(ALWAYS)
    assert "the first is newer" in listed
    (pair,) = told_json("list", "--conflicts")["conflicts"]
    assert (pair["first"]["short_id"], pair["second"]["short_id"], pair["slot"]) == (never, always, "polarity")
    assert [pair["first"]["short_id"]] == [p["first"]["short_id"] for p in told_json("review", "--list")["conflicts"]]
    told("review", "--both", always, never)
    assert told_json("list", "--conflicts")["conflicts"] == []
    told("undo")
    told("review", "--keep", always)
    assert [lesson["short_id"] for lesson in told_json("list")["lessons"]] == [always]
    refused = run("review", "--keep", always)
    assert refused.exit_code == 1
    assert "no such conflict" in refused.stderr


@pytest.fixture
def come() -> Iterator[Callable[..., Person]]:
    """Brings a person to a command; takes them away after the test."""
    people: list[Person] = []

    def bring(*arguments: str) -> Person:
        people.append(Person(*arguments))
        return people[-1]

    yield bring
    for person in people:
        person.gone()


def test_review_shows_the_pairs_first_with_one_key_for_each_verdict(come: Callable[..., Person]) -> None:
    short_of(ALWAYS), short_of(NEVER)
    short_of("Sort the rows ascending by key"), short_of("Sort the rows descending by key")
    with Memory() as memory:
        memory.remember("Squash before a merge", trust="repository")
    person = come("review")
    first = person.read_until(b"q quit").decode()
    assert "conflict 1 of 2" in first
    assert "Sort the rows descending by key" in first
    person.type("?")
    assert b"both hold, for example" in person.read_until(b"q quit")
    person.type("b")
    assert b"conflict 2 of 2" in person.read_until(b"q quit")
    person.type("2")
    assert b"Squash before a merge" in person.read_until(b"q quit")
    person.type("a")
    code, rest = person.leave()
    assert code == 0
    assert b"1 kept both, 1 settled, 1 accepted" in rest
    with Memory() as memory:
        states = {lesson.insight: lesson.state for lesson in memory.lessons(states=())}
    assert (states[NEVER], states[ALWAYS]) == ("superseded", "active")


def test_history_prints_who_changed_what_and_why() -> None:
    old, new = short_of(NPM), short_of(PNPM)
    lines = told("history", old).splitlines()
    assert any(f"{old}  settle  by " in line and "package manager; is newer" in line for line in lines)
    assert "    state: active -> superseded" in lines
    assert f"    links: - -> supersedes {old}" in lines
    versions = told_json("history", new)["versions"]
    assert [version["verb"] for version in versions][:2] == ["remember", "remember"]
    assert json.dumps(versions)


def test_history_of_a_file_prints_lines_and_takes_a_range(here: Codebase) -> None:
    short = told_json("remember", "Puts are idempotent", "--file", "src/store.py", "--symbol", "Store.put")["short_id"]
    (cells,) = [line.split("\t") for line in told("history", "--file", "src/store.py").splitlines()]
    assert cells[1:] == ["Store.put", short, "Puts are idempotent", "fresh"]
    start, end = map(int, cells[0].split("-"))
    assert told("history", "--file", f"src/store.py:{end}") == told("history", "--file", f"src/store.py:{start}-{end}")
    assert told("history", "--file", f"src/store.py:{end + 50}") == ""
    (entry,) = told_json("history", "--file", "src/store.py")["lessons"]
    assert (entry["start"], entry["end"], entry["lesson"]["short_id"]) == (start, end, short)
    assert run("history", "--file", "src/store.py:9-2").exit_code == 1


def test_as_of_takes_commits(here: Codebase, tmp_path: Path) -> None:
    assert told_json("recall", "install dependencies", "--as-of", "HEAD")["items"] == []
    assert told_json("list", "--as-of", "main")["lessons"] == []
    unknown = run("recall", "x", "--as-of", "no-such-branch")
    assert unknown.exit_code == 1
    assert "hint" in unknown.stderr
