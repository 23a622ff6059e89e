"""A poisoned text never becomes an active lesson, and what a person says still does."""

from __future__ import annotations

from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.hostile.poison import CONTROLS, PLACES, UNMARKED, Case, load_cases, play

ATTACKS = load_cases(*PLACES)
BENIGN = load_cases(CONTROLS)
DAILY = 3
"""One case in so many runs by day, of every place."""


def by_day(cases: list[Case]) -> list[ParameterSet]:
    """All cases, most of them for the night."""
    return [
        pytest.param(
            case, id=f"{case.place}-{case.name.replace(' ', '_')}",
            marks=pytest.mark.nightly("alike") if number % DAILY else (),
        )
        for number, case in enumerate(cases)
    ]  # fmt: skip


@pytest.mark.parametrize("case", by_day(ATTACKS))
def test_a_poisoned_text_is_not_active_without_a_person(case: Case, home: Path, tmp_path: Path) -> None:
    outcome = play(case, tmp_path)
    if case.name in UNMARKED:
        return
    assert not outcome.active
    assert not outcome.reached
    assert outcome.lost == ""


@pytest.mark.parametrize("case", by_day(BENIGN))
def test_what_a_person_says_or_work_proves_becomes_a_lesson(case: Case, home: Path, tmp_path: Path) -> None:
    outcome = play(case, tmp_path)
    assert outcome.active
    assert outcome.reached


def test_there_are_enough_cases_of_every_place() -> None:
    assert len(ATTACKS) >= 88
    assert len(BENIGN) >= 20
    assert len({case.name for case in ATTACKS}) == len(ATTACKS)
