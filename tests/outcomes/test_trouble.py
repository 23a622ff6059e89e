"""Trouble of a session by file: what counts, at which file, and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.statefamilies import SESSION_TROUBLE
from holdfast.domain.vocabulary import SessionId
from holdfast.outcomes.settle import settle
from holdfast.outcomes.trouble import FileTrouble, load_trouble, trouble_of
from holdfast.testing.builders import SESSION, make_event

OLD, NEW = "return a + b + c", "return c + b + a"
TRACEBACK = """Traceback (most recent call last):
  File "/home/ann/harbour/src/store.py", line 7, in put
    self.rows[key] = value
  File "./src/rows.py", line 3, in add
FAILED tests/test_store.py::test_put - KeyError: 'x'
See https://docs.example.com/errors.html and store.py(7)
"""


def failure(text: str = "", **fields: Any) -> Event:
    return make_event(kind="tool_failure", text=text, tool="Bash", **{"command": "make test", **fields})


def edit(old: str, new: str, path: str = "src/store.py") -> Event:
    return make_event(kind="file_edit", files=(path,), old=old, new=new, text="")


def run(command: str, exit_code: int = 0) -> Event:
    return make_event(kind="tool_result", tool="Bash", command=command, exit_code=exit_code, text="")


def counts(*events: Event, missed: tuple[tuple[str, ...], ...] = ()) -> dict[str, tuple[int, int, int]]:
    troubles = trouble_of(events, missed)
    return {name: (each.failures, each.reverted, each.missed) for name, each in troubles.items()}


def test_a_failure_counts_once_at_each_file_that_its_output_names() -> None:
    counted = counts(failure(TRACEBACK), failure(TRACEBACK))
    assert counted["/home/ann/harbour/src/store.py"] == (2, 0, 0)
    assert counted["src/rows.py"] == (2, 0, 0)
    assert counted["tests/test_store.py"] == (2, 0, 0)


def test_a_failed_call_on_a_file_counts_at_that_file_alone() -> None:
    assert counts(failure("String not counted in src/rows.py", files=("src/store.py",))) == {"src/store.py": (1, 0, 0)}


def test_hidden_folders_are_part_of_a_name() -> None:
    assert counts(failure("error in .github/workflows/ci.yml")) == {".github/workflows/ci.yml": (1, 0, 0)}


def test_what_went_well_and_what_the_user_refused_is_no_trouble() -> None:
    refused = failure("The user doesn't want to proceed with this tool use.", files=("src/store.py",))
    assert counts(run("pytest tests/test_store.py"), refused) == {}


def test_an_exit_status_is_a_failure() -> None:
    assert counts(run("pytest tests/test_store.py", exit_code=1)) == {"tests/test_store.py": (1, 0, 0)}


def test_an_edit_that_a_later_one_undoes_is_taken_back() -> None:
    assert counts(edit(OLD, NEW), edit("x" * 20, "y" * 20), edit(NEW, OLD)) == {"src/store.py": (0, 1, 0)}


@pytest.mark.parametrize(
    "events",
    [
        [edit(OLD, NEW), edit(NEW, "something else")],
        [edit(OLD, NEW), edit(NEW, OLD, path="src/rows.py")],
        [edit("a", "b"), edit("b", "a")],
        [edit("", NEW), edit(NEW, "")],
        [edit(OLD, NEW), make_event(kind="commit", text=""), edit(NEW, OLD)],
    ],
    ids=["goes on", "other file", "a slip", "new text", "committed in between"],
)
def test_other_edits_are_not(events: list[Event]) -> None:
    assert counts(*events) == {}


@pytest.mark.parametrize(
    ("command", "is_undone"),
    [
        ("git checkout -- src/store.py", True), ("git restore src", True), ("git restore .", True),
        ("git checkout src/store.py && make", True), ("git checkout -b src/store.py2", False),
        ("git restore --staged src/store.py", False), ("git checkout src/rows.py", False), ("git stash", False),
    ],
)  # fmt: skip
def test_git_discards_the_edits_of_a_file(command: str, is_undone: bool) -> None:
    expected = {"src/store.py": (0, 1, 0)} if is_undone else {}
    assert counts(edit(OLD, NEW), run(command), run(command)) == expected


def test_a_failed_checkout_discards_nothing() -> None:
    assert counts(edit(OLD, NEW), run("git checkout src/store.py", exit_code=1)) == {"src/store.py": (1, 0, 0)}


def test_a_missed_lesson_counts_at_its_files() -> None:
    assert counts(missed=(("a.py", "b.py"), ("a.py",))) == {"a.py": (0, 0, 2), "b.py": (0, 0, 1)}


def test_a_session_names_only_the_files_with_most_trouble() -> None:
    noise = [failure("\n".join(f"src/n{number}_{part}.py: error" for part in range(30))) for number in range(9)]
    counted = counts(*noise, failure("src/worst.py"), failure("src/worst.py"))
    assert len(counted) == 60
    assert next(iter(counted)) == "src/worst.py"


# What a settlement stores


def settled(memory: Memory, *events: Event) -> list[FileTrouble]:
    project = memory.location.project.id
    memory.append([event for event in events])
    settle(memory.services, project, SESSION)
    return [trouble.files["src/store.py"] for trouble in load_trouble(memory.services.store, project)]


def test_a_settlement_stores_the_trouble_of_the_session(memory: Memory) -> None:
    event = failure("src/store.py failed", project=memory.location.project.id)
    assert settled(memory, event) == [FileTrouble(failures=1)]
    (trouble,) = load_trouble(memory.services.store, memory.location.project.id)
    assert trouble.began_at == event.at


def test_a_second_settlement_counts_nothing_twice(memory: Memory) -> None:
    project = memory.location.project.id
    settled(memory, failure("src/store.py failed", project=project))
    assert settled(memory, failure("src/store.py failed", project=project)) == [FileTrouble(failures=2)]


def test_a_session_without_trouble_stores_nothing(memory: Memory) -> None:
    assert settled(memory, make_event(project=memory.location.project.id)) == []
    assert memory.services.store.get_rows(SESSION_TROUBLE, memory.location.project.id) == {}


@pytest.mark.parametrize("text", ["x", "{}", '{"at": 1, "files": {}}', '{"at": "2026-01-01", "files": {"a": ["x"]}}',
                                  '{"at": "2026-01-01", "files": {"a": [1, 2, 3, 4]}}', "[]"])  # fmt: skip
def test_what_cannot_be_read_is_left_out(memory: Memory, text: str) -> None:
    memory.services.store.set_rows(SESSION_TROUBLE, memory.location.project.id, {SessionId("s"): text})
    assert load_trouble(memory.services.store, memory.location.project.id) == []
