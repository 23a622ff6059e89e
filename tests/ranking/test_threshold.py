from __future__ import annotations

from math import log

import pytest
from tests.ranking.thresholds import meets_threshold

from holdfast.domain.briefing import RetrieverShare
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.ranking.threshold import ASKED, PUSHED, UNKNOWN, CorpusSize, Threshold, is_certain
from holdfast.ranking.tuning import MANY

FEW, THOUSANDS = CorpusSize(lessons=20, stems=30), CorpusSize(lessons=MANY, stems=30)
SOME_WORDS = LexicalOverlap(weight=2.2, coverage=0.25)
"""What fixed weights alone let through."""


def shares(**scores: float) -> tuple[RetrieverShare, ...]:
    return tuple(RetrieverShare(lane=retriever, rank=1, raw=raw, share=0.1) for retriever, raw in scores.items())


def test_just_enough_is_enough() -> None:
    ten = CorpusSize(lessons=10, stems=1_000)
    spread = log(1 + 10)
    assert meets_threshold(shares(vector=0.24 + 0.068 * spread), LexicalOverlap(weight=1.0), PUSHED, ten)
    assert meets_threshold(shares(text=1.0), LexicalOverlap(weight=0.22 * spread), PUSHED, ten)
    assert not meets_threshold(shares(text=1.0), LexicalOverlap(weight=0.22 * spread - 1e-9), PUSHED, ten)


def test_a_chance_that_nobody_knows_counts_no_lesson_and_no_word() -> None:
    assert CorpusSize() == UNKNOWN == CorpusSize(lessons=0, stems=0)
    assert meets_threshold(shares(exact=0.4), LexicalOverlap(), PUSHED)
    assert not meets_threshold(shares(vector=0.8), LexicalOverlap(weight=1.0), PUSHED)
    assert meets_threshold(shares(vector=0.81), LexicalOverlap(weight=1.0), PUSHED)


@pytest.mark.parametrize("threshold", [PUSHED, ASKED])
def test_the_same_words_tell_less_among_thousands_of_lessons(threshold: Threshold) -> None:
    assert meets_threshold(shares(text=0.3), SOME_WORDS, threshold, FEW)
    assert not meets_threshold(shares(text=0.3), SOME_WORDS, threshold, THOUSANDS)


def test_most_of_what_a_question_could_score_tells_enough_among_thousands() -> None:
    assert meets_threshold(shares(text=0.9), SOME_WORDS, PUSHED, THOUSANDS)


def test_a_long_lesson_has_to_share_more_than_a_short_one() -> None:
    assert not meets_threshold(shares(text=0.2), SOME_WORDS, PUSHED, CorpusSize(lessons=20, stems=400))


def test_a_near_meaning_has_to_be_nearer_among_thousands() -> None:
    assert meets_threshold(shares(vector=0.5), LexicalOverlap(weight=1.0), PUSHED, FEW)
    assert not meets_threshold(shares(vector=0.5), LexicalOverlap(weight=1.0), PUSHED, THOUSANDS)
    assert meets_threshold(shares(vector=0.85), LexicalOverlap(weight=1.0), PUSHED, THOUSANDS)


def test_a_name_a_lesson_mentions_is_enough_only_where_little_is_kept() -> None:
    assert is_certain(shares(exact=0.5), FEW)
    assert not is_certain(shares(exact=0.5), THOUSANDS)
    assert is_certain(shares(exact=0.9), THOUSANDS)


def test_who_asks_is_answered_by_less_than_is_pushed_among_thousands() -> None:
    assert meets_threshold(shares(text=0.6), SOME_WORDS, ASKED, THOUSANDS)
    assert not meets_threshold(shares(text=0.6), SOME_WORDS, PUSHED, THOUSANDS)
