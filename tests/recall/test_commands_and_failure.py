"""What is told before a command and after a failure, in which order, and what is left out."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Triggers
from holdfast.testing.builders import START
from tests.recall.test_moments import deliver, happened, keep, shown

CARD = {"kind": "tooling", "trust": "verified", "topic_key": "commands/test", "command": "make test"}


def before(memory: Memory, command: str, session: str = "s1") -> list[str]:
    return shown(deliver(memory, "before_command", session, command=command))


def how_to(memory: Memory, insight: str, day: int = 0, command: str = "cargo test", **fields: Any) -> None:
    when = Triggers(commands=(command,))
    keep(memory, insight, kind="tooling", trust="agent", when=when, valid_from=START + timedelta(days=day), **fields)


# Before a command


def test_nothing_is_delivered_without_a_command_or_without_tokens_left(memory: Memory) -> None:
    keep(memory, "The basin gate sticks.", kind="fix", command="make basin")
    assert before(memory, "  ") == []
    memory.services = replace(memory.services, session_tokens=0)
    assert before(memory, "make basin") == []
    memory.services = replace(memory.services, session_tokens=4_000)
    assert before(memory, "make basin") == ["The basin gate sticks."]


def test_a_kind_of_command_brings_pinned_lessons_then_the_card_then_a_persons_then_the_newest(memory: Memory) -> None:
    how_to(memory, "`cargo test` runs every test.", 0, "cargo test")
    how_to(memory, "`npm test` runs every test of all.", 1, "npm test")
    assert before(memory, "pytest -q", "s1") == ["`npm test` runs every test of all.", "`cargo test` runs every test."]
    keep(memory, "Tests run here with make test.", **CARD)
    assert before(memory, "pytest -q", "s2")[0] == "Tests run here with make test."
    how_to(memory, "`tox` runs every test, too.", 0, "tox", pinned=True)
    lines = before(memory, "pytest -q", "s3")
    assert lines[:2] == ["`tox` runs every test, too.", "Tests run here with make test."]
    assert len(lines) == 3


def test_a_literal_of_a_command_is_a_trigger_and_a_kind_is_recognised_by_its_rules(memory: Memory) -> None:
    keep(memory, "A commit says why in its first line.")
    keep(memory, "Sign what you hand in.", kind="constraint", when=Triggers(literals=("--no-gpg-sign",)))
    lines = before(memory, "git commit --no-gpg-sign -m x")
    assert sorted(lines) == ["A commit says why in its first line.", "Sign what you hand in."]
    assert "trigger: --no-gpg-sign" in {row.reason for row in memory.log()}


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
def test_a_card_is_delivered_to_who_runs_another_command_of_its_kind(memory: Memory, line: str, is_told: bool) -> None:
    keep(memory, "Tests run here with make test.", **CARD)
    assert before(memory, line) == (["Tests run here with make test."] if is_told else [])


@pytest.mark.parametrize(
    ("insight", "is_told"),
    [("Start the database first.", True), ("Tests run here with make test.", False)],
)
def test_a_lesson_on_tooling_is_delivered_to_who_runs_its_command_unless_it_only_says_to_run_it(
    memory: Memory, insight: str, is_told: bool
) -> None:
    keep(memory, insight, **{**CARD, "topic_key": ""})
    lines = [insight] if is_told else []
    assert before(memory, "make test") == lines
    assert after(memory, "make: *** [test] Error 2", "make test", "s2") == lines


def test_each_kind_of_a_line_is_delivered_once_a_session(memory: Memory) -> None:
    how_to(memory, "`cargo test` runs every test.")
    keep(memory, "Never commit unless asked.")
    assert before(memory, "pytest -q && git commit -m x") == [
        "`cargo test` runs every test.",
        "Never commit unless asked.",
    ]
    assert before(memory, "pytest -q && git commit -m x") == []
    assert [row.reason for row in memory.log()][::-1] == ["first command to test", "first command to commit"]


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


def test_nothing_is_delivered_after_no_failure_or_without_tokens_left(memory: Memory) -> None:
    keep(memory, "Open the sluice by hand first.", kind="fix", error_signature=ERROR)
    assert after(memory, "", "") == []
    memory.services = replace(memory.services, session_tokens=0)
    assert after(memory, ERROR) == []
    memory.services = replace(memory.services, session_tokens=4_000)
    assert after(memory, ERROR) == ["Open the sluice by hand first."]


# What must have passed before


TESTED = "Run the tests before you commit."
NEEDS = Triggers(work=("commit",), needs=("make test",))


def left_out(memory: Memory, command: str = "git commit -m x", session: str = "s1") -> list[str]:
    return [
        line for line in deliver(memory, "before_command", session, command=command).text.split("\n") if TESTED in line
    ]


def test_a_rule_that_names_what_must_have_passed_is_told_only_while_it_has_not(memory: Memory) -> None:
    keep(memory, TESTED, when=NEEDS)
    happened(memory, "file_edit", files=("src/tides.py",))
    happened(memory, "tool_result", command="make test", exit_code=1)
    (line,) = left_out(memory)
    assert "`make test` has not passed since the last edit" in line
    happened(memory, "tool_result", command="cd . && make test -q", exit_code=0)
    assert left_out(memory) == []
    happened(memory, "file_edit", files=("src/tides.py",))
    assert len(left_out(memory)) == 1


def test_it_is_told_once_after_an_edit_and_again_after_the_next(memory: Memory) -> None:
    keep(memory, TESTED, when=NEEDS)
    happened(memory, "file_edit", files=("src/tides.py",))
    assert len(left_out(memory)) == 1
    assert left_out(memory) == []
    happened(memory, "file_edit", files=("src/tides.py",))
    assert len(left_out(memory)) == 1


@pytest.mark.parametrize("line", ["make test && git commit -m x", "git push", "npm publish"])
def test_it_is_silent_where_the_line_runs_it_and_before_other_commands(memory: Memory, line: str) -> None:
    keep(memory, TESTED, when=NEEDS)
    happened(memory, "file_edit", files=("src/tides.py",))
    assert left_out(memory, line) == []


@pytest.mark.parametrize(
    "line",
    ["npm publish", "cargo publish", "twine upload dist/*", "gh release create v1", "make release", "uv publish"],
)
def test_a_release_is_a_kind_of_command(memory: Memory, line: str) -> None:
    keep(memory, TESTED, when=Triggers(work=("release",), needs=("make test",)))
    (reminder,) = left_out(memory, line)
    assert "`make test` has not run" in reminder
