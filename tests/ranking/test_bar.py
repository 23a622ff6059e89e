from __future__ import annotations

from math import log

import pytest

from holdfast.domain.briefing import LaneShare
from holdfast.ranking.bar import ASKED, PUSHED, UNKNOWN, Bar, Chance, is_sure, passes
from holdfast.ranking.relevance import Fit
from holdfast.ranking.tuning import MANY

FEW, THOUSANDS = Chance(lessons=20, stems=30), Chance(lessons=MANY, stems=30)
SOME_WORDS = Fit(strength=2.2, coverage=0.25)
"""What fixed weights alone let through."""


def shares(**scores: float) -> tuple[LaneShare, ...]:
    return tuple(LaneShare(lane=lane, rank=1, raw=raw, share=0.1) for lane, raw in scores.items())


def test_just_enough_is_enough() -> None:
    ten = Chance(lessons=10, stems=1_000)
    spread = log(1 + 10)
    assert passes(shares(vector=0.24 + 0.068 * spread), Fit(), PUSHED, ten)
    assert passes(shares(text=1.0), Fit(strength=0.22 * spread), PUSHED, ten)
    assert not passes(shares(text=1.0), Fit(strength=0.22 * spread - 1e-9), PUSHED, ten)


def test_a_chance_that_nobody_knows_counts_no_lesson_and_no_word() -> None:
    assert Chance() == UNKNOWN == Chance(lessons=0, stems=0)
    assert passes(shares(exact=0.4), Fit(), PUSHED)
    assert not passes(shares(vector=0.8), Fit(), PUSHED)
    assert passes(shares(vector=0.81), Fit(), PUSHED)


@pytest.mark.parametrize("bar", [PUSHED, ASKED])
def test_the_same_words_tell_less_among_thousands_of_lessons(bar: Bar) -> None:
    assert passes(shares(text=0.3), SOME_WORDS, bar, FEW)
    assert not passes(shares(text=0.3), SOME_WORDS, bar, THOUSANDS)


def test_most_of_what_a_question_could_score_tells_enough_among_thousands() -> None:
    assert passes(shares(text=0.9), SOME_WORDS, PUSHED, THOUSANDS)


def test_a_long_lesson_has_to_share_more_than_a_short_one() -> None:
    assert not passes(shares(text=0.2), SOME_WORDS, PUSHED, Chance(lessons=20, stems=400))


def test_a_near_meaning_has_to_be_nearer_among_thousands() -> None:
    assert passes(shares(vector=0.5), Fit(), PUSHED, FEW)
    assert not passes(shares(vector=0.5), Fit(), PUSHED, THOUSANDS)
    assert passes(shares(vector=0.85), Fit(), PUSHED, THOUSANDS)


def test_a_name_a_lesson_mentions_is_enough_only_where_little_is_kept() -> None:
    assert is_sure(shares(exact=0.5), FEW)
    assert not is_sure(shares(exact=0.5), THOUSANDS)
    assert is_sure(shares(exact=0.9), THOUSANDS)


def test_who_asks_is_answered_by_less_than_is_pushed_among_thousands() -> None:
    assert passes(shares(text=0.6), SOME_WORDS, ASKED, THOUSANDS)
    assert not passes(shares(text=0.6), SOME_WORDS, PUSHED, THOUSANDS)
