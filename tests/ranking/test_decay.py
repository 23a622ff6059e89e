"""Lessons age by their kind, within published bounds, and the page that says so says what the code does."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.domain.kinds import KIND_PROFILES, LESSON_KINDS
from holdfast.domain.vocabulary import LessonKind
from holdfast.ranking.fuse import multipliers, recency
from holdfast.ranking.tuning import RANGES
from holdfast.testing.builders import START, make_lesson

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "how-recall-ranks.md"


def test_every_kind_has_its_half_life_and_the_page_lists_it() -> None:
    rows = dict(re.findall(r"^\| (\w+) \| (\d+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    half_lives = {kind: profile.half_life_days for kind, profile in KIND_PROFILES.items()}
    assert {kind: float(days) for kind, days in rows.items()} == half_lives


@pytest.mark.parametrize("kind", LESSON_KINDS)
def test_half_is_gone_after_a_half_life_and_the_factor_stays_in_its_range(kind: LessonKind) -> None:
    lesson = make_lesson(kind=kind)
    low, high = RANGES["recency"]
    assert recency(lesson, START + timedelta(days=KIND_PROFILES[kind].half_life_days)) == pytest.approx(0.5)
    factors = [
        dict(multipliers(lesson, "unanchored", START + timedelta(days=days)))["recency"]
        for days in (0, 30, 365, 3_650, 36_500)
    ]
    assert factors == sorted(factors, reverse=True)
    assert factors[0] == high
    assert all(low <= factor <= high for factor in factors)
