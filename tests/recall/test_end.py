"""What is told before the end of a turn: one rule that the session's edits called for and that nothing followed."""

from __future__ import annotations

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Triggers
from holdfast.recall.deliver import tell
from holdfast.recall.moments import before_end
from tests.recall.test_moments import PLAIN, TESTS, happened, keep, shown
from tests.recall.test_turn import told_before, turn_of

LINT = "Always run `make lint` before you say that you are done."


def at_the_end(memory: Memory, **fields: str) -> list[str]:
    here = turn_of(memory, "before_command", **fields)
    return shown(tell(here, before_end(here)).briefing)


@pytest.mark.parametrize(
    ("edited", "commands", "is_reminded"),
    [
        (("src/tides.py",), (), True),
        (("src/tides.py",), ("make test", "make linting"), True),
        (("src/tides.py",), ("cd src && make lint 2>&1 | tail",), False),
        ((), (), False),
        (("LICENSE", "data.csv"), (), False),
    ],
)
def test_who_edits_and_does_not_run_what_comes_before_the_end_is_reminded(
    memory: Memory, edited: tuple[str, ...], commands: tuple[str, ...], is_reminded: bool
) -> None:
    memory.remember(LINT)
    keep(memory, PLAIN)
    happened(memory, "prompt", text="go on")
    if edited:
        happened(memory, "file_edit", files=edited)
    for command in commands:
        happened(memory, "tool_use", command=command)
    assert at_the_end(memory) == ([LINT] if is_reminded else [])


@pytest.mark.parametrize(
    ("edited", "is_reminded"),
    [
        (("src/tides.py",), True),
        (("src/tides.py", "tests/test_tides.py"), False),
        (("src/tides.py", "src/Tides.Spec.ts"), False),
        (("src/tides.py", "tests.csv"), True),
    ],
)
def test_who_edits_code_and_no_test_is_reminded_that_tests_come_with_a_change(
    memory: Memory, edited: tuple[str, ...], is_reminded: bool
) -> None:
    keep(memory, TESTS)
    happened(memory, "file_edit", files=edited)
    assert at_the_end(memory) == ([TESTS] if is_reminded else [])


def test_a_session_is_reminded_once_even_of_what_it_was_shown_at_its_start(memory: Memory) -> None:
    rule = memory.remember(LINT)
    told_before(memory, rule.id, 1, moment="session_start", reason="rule of the brief")
    happened(memory, "file_edit", files=("src/tides.py",))
    assert at_the_end(memory) == [LINT]
    told_before(memory, rule.id, 2, moment="before_end")
    assert at_the_end(memory) == []


def test_of_several_rules_one_is_a_reminder_and_only_a_persons(memory: Memory) -> None:
    when = Triggers(commands=("make docs",), standing=True)
    keep(memory, "Run `make docs` before you finish.", trust="agent", when=when)
    happened(memory, "file_edit", files=("src/tides.py",))
    assert at_the_end(memory) == []
    memory.remember(LINT)
    keep(memory, TESTS)
    assert len(at_the_end(memory)) == 1
