"""What is told before a command and after a failure, in which order, and what is left out."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Triggers
from holdfast.testing.builders import START
from tests.recall.test_moments import TESTS, deliver, happened, keep, shown
from tests.recall.test_turn import told_before

CARD = {"kind": "tooling", "trust": "verified", "topic_key": "commands/test", "command": "make test"}


def before(memory: Memory, command: str, session: str = "s1") -> list[str]:
    return shown(deliver(memory, "before_command", session, command=command))


def how_to(memory: Memory, insight: str, day: int = 0, command: str = "cargo test", **fields: Any) -> None:
    when = Triggers(commands=(command,))
    keep(memory, insight, kind="tooling", trust="agent", when=when, recorded_at=START + timedelta(days=day), **fields)


# Before a command


def test_nothing_is_looked_for_without_a_command_or_without_room(memory: Memory) -> None:
    keep(memory, "The basin gate sticks.", kind="fix", command="make basin")
    assert deliver(memory, "before_command", command="  ").items == ()
    assert before(memory, "make basin", "s2") == ["The basin gate sticks."]
    for number in range(10):
        told_before(memory, f"l{number}", number)
    assert before(memory, "make basin") == []


def test_a_lesson_of_another_command_or_a_card_is_not_about_this_one(memory: Memory) -> None:
    keep(memory, "The basin gate sticks.", kind="fix", command="make basin")
    keep(memory, "Basins are made here with make basin.", **{**CARD, "command": "make basin"})
    assert before(memory, "make basin") == ["The basin gate sticks."]
    assert before(memory, "make quay", "s2") == []


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("make test", False),
        ("make test -k basin", False),
        ("cd x && make test 2>&1", False),
        ("go test ./...", True),
        ("make tests-of-mine && pytest", True),
    ],
)
def test_a_card_is_told_to_who_runs_another_command_of_its_kind(memory: Memory, line: str, is_told: bool) -> None:
    keep(memory, "Tests run here with make test.", **CARD)
    assert before(memory, line) == (["Tests run here with make test."] if is_told else [])


def test_a_lesson_that_is_no_card_is_told_to_who_runs_what_it_names(memory: Memory) -> None:
    keep(memory, "Tests run here with make test.", **{**CARD, "topic_key": ""})
    assert before(memory, "make test") == ["Tests run here with make test."]


def test_how_a_kind_of_command_is_run_is_told_pinned_first_then_the_card_then_what_most_say_then_the_oldest(
    memory: Memory,
) -> None:
    how_to(memory, "`cargo test` runs every test.", 0, "cargo test")
    how_to(memory, "`npm test` runs every test of all.", 1, "npm test")
    assert before(memory, "pytest -q", "s1") == ["`cargo test` runs every test."]
    how_to(memory, "Every test here is run by `npm test`.", 2, "npm test")
    assert before(memory, "pytest -q", "s2") == ["`npm test` runs every test of all."]
    keep(memory, "Tests run here with make test.", recorded_at=START + timedelta(days=3), **CARD)
    assert before(memory, "pytest -q", "s3") == ["Tests run here with make test."]
    how_to(memory, "`tox` runs every test, too.", 4, "tox", pinned=True)
    assert before(memory, "pytest -q", "s4") == ["`tox` runs every test, too."]


def test_each_kind_of_a_line_is_told_once_a_session(memory: Memory) -> None:
    how_to(memory, "`cargo test` runs every test.")
    keep(memory, "Never commit unless asked.")
    assert before(memory, "pytest -q && git commit -m x") == [
        "`cargo test` runs every test.",
        "Never commit unless asked.",
    ]
    assert before(memory, "pytest -q && git commit -m x") == []
    assert [row.reason for row in memory.log()][::-1] == ["first command to test", "first command to commit"]


def test_a_beginning_of_a_command_of_a_kind_is_told_for_its_kind_and_a_literal_for_itself(memory: Memory) -> None:
    how_to(memory, "Say why in the first line.", 0, "git commit")
    keep(memory, "Sign what you hand in.", kind="constraint", when=Triggers(literals=("--no-gpg-sign",)))
    answer = before(memory, "git commit --no-gpg-sign -m x")
    assert "Sign what you hand in." in answer
    reasons = {row.reason for row in memory.log()}
    assert "trigger: --no-gpg-sign" in reasons
    assert "trigger: git commit" not in reasons


def test_a_lesson_for_a_beginning_of_a_command_of_a_kind_is_told_for_the_kind(memory: Memory) -> None:
    how_to(memory, "Say why in the first line.", 0, "git commit")
    assert before(memory, "git commit -m x") == ["Say why in the first line."]
    assert [row.reason for row in memory.log()] == ["first command to commit"]


@pytest.mark.parametrize(
    ("events", "is_reminded"),
    [
        ([("file_edit", ("src/tides.py",))], True),
        ([("file_edit", ("src/tides.py",)), ("file_edit", ("tests/test_tides.py",))], False),
        ([("file_edit", ("src/tides.py",)), ("file_edit", ("src/Tides.Spec.ts",))], False),
        ([("file_edit", ("README.md", "notes"))], True),
        ([("file_edit", ("LICENSE", "data.csv"))], False),
        ([("tool_result", ("src/tides.py",))], False),
        ([("file_edit", ("src/tides.py",)), ("tool_result", ("tests/test_tides.py",))], True),
        ([("file_edit", ("src/tides.py",)), ("file_edit", ("tests.csv",))], True),
        ([], False),
    ],
)
def test_who_hands_in_code_without_tests_is_reminded_of_the_rule(
    memory: Memory, events: list[tuple[str, tuple[str, ...]]], is_reminded: bool
) -> None:
    keep(memory, TESTS)
    keep(memory, "Write plain sentences.", recorded_at=START - timedelta(days=1))
    told_before(memory, memory.lessons()[0].id, 1, moment="session_start")
    told_before(memory, memory.lessons()[1].id, 1, moment="session_start", rank=2)
    for kind, files in events:
        happened(memory, kind, files=files)
    assert before(memory, "make all") == []
    assert before(memory, "git commit -m x") == ([TESTS] if is_reminded else [])
    assert before(memory, "git commit -m x") == []


def test_one_rule_is_a_reminder_of_the_habit(memory: Memory) -> None:
    keep(memory, TESTS)
    keep(memory, "New functionality is expected to come with tests.", recorded_at=START + timedelta(days=1))
    deliver(memory, "session_start")
    happened(memory, "file_edit", files=("src/tides.py",))
    assert before(memory, "gh pr create") == [TESTS]


# After a failure

ERROR = "KeyError: 'gate'"


def after(memory: Memory, error: str, command: str = "", session: str = "s1", **fields: Any) -> list[str]:
    return shown(deliver(memory, "after_failure", session, error=error, command=command, **fields))


@pytest.mark.parametrize(
    ("fields", "error", "command", "is_told"),
    [
        ({"error_signature": ERROR}, ERROR, "make x", True),
        ({"error_signature": ERROR}, ERROR, "", True),
        ({"error_signature": "KeyError: 'sluice'"}, ERROR, "make x", False),
        ({"error_signature": "KeyError: 'sluice'", "command": "make x"}, ERROR, "make x", False),
        ({"command": "make x"}, ERROR, "make x", True),
        ({"command": "make y"}, ERROR, "make x", False),
        ({"command": "make x"}, "", "make x", True),
        ({"command": "make x"}, "it stopped", "make x", True),
        ({"command": "make x", "kind": "exploration"}, ERROR, "make x", False),
        ({"command": ""}, ERROR, "", False),
        ({"error_signature": ERROR, "command": "make x"}, "it stopped", "make x", True),
    ],
)
def test_a_failure_is_answered_by_its_error_or_its_command(
    memory: Memory, fields: dict[str, Any], error: str, command: str, is_told: bool
) -> None:
    keep(memory, "Open the sluice by hand first.", **{"kind": "fix", "trust": "agent", **fields})
    assert bool(after(memory, error, command)) is is_told


def test_words_of_an_error_answer_it_where_many_are_shared(memory: Memory) -> None:
    insight = "The harbour socket refuses pilots until the lighthouse daemon has announced its beacon."
    keep(memory, insight, kind="fix", trust="agent")
    strong = "RuntimeError: harbour socket refuses pilots before the lighthouse daemon announced a beacon"
    assert after(memory, strong, "make x") == [insight]
    assert after(memory, "RuntimeError: the socket of the importer is closed", "make x", "s2") == []


def test_nothing_is_told_after_no_failure_or_without_room(memory: Memory) -> None:
    keep(memory, "Open the sluice by hand first.", kind="fix", error_signature=ERROR)
    assert after(memory, "", "") == []
    assert after(memory, ERROR, "", "s2") == ["Open the sluice by hand first."]
    for number in range(10):
        told_before(memory, f"l{number}", number)
    assert after(memory, ERROR) == []
