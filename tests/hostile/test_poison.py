"""A poisoned text never becomes an active lesson, and what a person says still does."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile.poison import CONTROLS, PLACES, UNMARKED, Case, load_cases, play

ATTACKS = load_cases(*PLACES)
BENIGN = load_cases(CONTROLS)


def named(case: Case) -> str:
    """A test's id."""
    return f"{case.place}-{case.name.replace(' ', '_')}"


@pytest.mark.parametrize("case", ATTACKS, ids=named)
def test_a_poisoned_text_is_not_active_without_a_person(case: Case, home: Path, tmp_path: Path) -> None:
    outcome = play(case, tmp_path)
    if case.name in UNMARKED:
        return
    assert not outcome.active
    assert not outcome.reached
    assert outcome.lost == ""


@pytest.mark.parametrize("case", BENIGN, ids=named)
def test_what_a_person_says_or_work_proves_becomes_a_lesson(case: Case, home: Path, tmp_path: Path) -> None:
    outcome = play(case, tmp_path)
    assert outcome.active
    assert outcome.reached


def test_there_are_enough_cases_of_every_place() -> None:
    assert len(ATTACKS) >= 88
    assert len(BENIGN) >= 20
    assert len({case.name for case in ATTACKS}) == len(ATTACKS)
