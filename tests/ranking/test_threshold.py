"""The relevance thresholds: what reaches one passes, and what falls just short of it does not."""

from __future__ import annotations

from math import log

import pytest
from tests.ranking.thresholds import meets_threshold

from holdfast.domain.briefing import RetrieverShare
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.ranking.threshold import (
    ASKED,
    PUSHED,
    UNKNOWN,
    CorpusSize,
    Threshold,
    is_certain,
    is_linked,
    is_sufficient_alone,
    relevance_of,
)
from holdfast.ranking.tuning import (
    DECISIVE_SCORES,
    EXACT_THRESHOLD,
    EXACT_WORTH,
    FEW_LESSONS,
    FEW_STEMS,
    LINK_LEAST,
    MANY,
    MEANING_ALONE,
    MEANING_STEP,
    SURE_EXACT,
)

FEW, THOUSANDS = CorpusSize(lessons=20, stems=30), CorpusSize(lessons=MANY, stems=30)
SOME_WORDS = LexicalOverlap(weight=2.2, coverage=0.25)
"""What fixed weights alone let through."""


def shares(**scores: float) -> tuple[RetrieverShare, ...]:
    return tuple(RetrieverShare(lane=retriever, rank=1, raw=raw, share=0.1) for retriever, raw in scores.items())


BIT = 0.001


@pytest.mark.parametrize("threshold", [PUSHED, ASKED])
@pytest.mark.parametrize("lessons", [1, FEW_LESSONS, 200, MANY, 20 * MANY])
def test_words_and_meaning_must_reach_a_threshold_that_grows_with_the_number_of_lessons(
    threshold: Threshold, lessons: int
) -> None:
    corpus = CorpusSize(lessons=lessons, stems=FEW_STEMS + 1)
    spread = log(1 + min(max(lessons, FEW_LESSONS), MANY))
    word = LexicalOverlap(weight=1.0)
    for retriever, least in (
        ("text", threshold.weighted_overlap * spread), ("vector", threshold.meaning + MEANING_STEP * spread),
    ):  # fmt: skip
        assert meets_threshold(shares(**{retriever: least + BIT}), word, threshold, corpus)
        assert not meets_threshold(shares(**{retriever: least - BIT}), word, threshold, corpus)


def test_an_exact_name_counts_among_the_words_and_a_meaning_without_a_shared_word_must_be_nearer() -> None:
    corpus = CorpusSize(lessons=200, stems=FEW_STEMS)
    spread = log(1 + 200)
    text = PUSHED.weighted_overlap * spread - EXACT_WORTH * 0.5
    assert meets_threshold(shares(text=text + BIT, exact=0.5), LexicalOverlap(weight=1.0), PUSHED, corpus)
    assert not meets_threshold(shares(text=text - BIT, exact=0.5), LexicalOverlap(weight=1.0), PUSHED, corpus)
    meaning = PUSHED.meaning + MEANING_ALONE + MEANING_STEP * spread
    assert meets_threshold(shares(vector=meaning + BIT), LexicalOverlap(weight=0.9), PUSHED, corpus)
    assert not meets_threshold(shares(vector=meaning - BIT), LexicalOverlap(weight=0.9), PUSHED, corpus)


@pytest.mark.parametrize("threshold", [PUSHED, ASKED])
def test_in_a_small_memory_words_pass_by_weight_and_coverage(threshold: Threshold) -> None:
    little, more = CorpusSize(lessons=50, stems=FEW_STEMS // 50), CorpusSize(lessons=50, stems=FEW_STEMS // 50 + 1)
    for weight, coverage in (
        (threshold.weight, threshold.coverage), (threshold.short_weight, threshold.short_coverage),
        (threshold.weight_alone, 0.0),
    ):  # fmt: skip
        enough = LexicalOverlap(weight=weight, coverage=coverage)
        assert meets_threshold((), enough, threshold, little)
        assert not meets_threshold((), enough, threshold, more)
        assert not meets_threshold((), LexicalOverlap(weight=weight - BIT, coverage=coverage), threshold, little)
        if coverage:
            assert not meets_threshold((), LexicalOverlap(weight=weight, coverage=coverage - BIT), threshold, little)


@pytest.mark.parametrize(("retriever", "least"), DECISIVE_SCORES.items())
def test_a_score_that_is_a_reason_by_itself(retriever: str, least: float) -> None:
    assert is_sufficient_alone(*shares(**{retriever: least}))
    assert not is_sufficient_alone(*shares(**{retriever: least - BIT}))
    assert not is_sufficient_alone(*shares(text=9.0))


def test_among_many_a_name_has_to_be_the_very_thing_and_among_few_any_will_do() -> None:
    few, many = CorpusSize(lessons=1, stems=FEW_STEMS), CorpusSize(lessons=1, stems=FEW_STEMS + 1)
    for corpus, least in ((few, EXACT_THRESHOLD), (many, SURE_EXACT), (UNKNOWN, EXACT_THRESHOLD)):
        assert is_certain(shares(exact=least), corpus)
        assert not is_certain(shares(exact=least - BIT), corpus)


def test_a_link_is_enough_from_its_least_weight_or_what_is_requested() -> None:
    assert is_linked(shares(graph=LINK_LEAST))
    assert not is_linked(shares(graph=LINK_LEAST - BIT))
    assert not is_linked(shares(path=1.0))
    assert not is_linked(shares(graph=LINK_LEAST), least=LINK_LEAST + BIT)


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


def test_a_name_a_lesson_mentions_is_enough_only_in_a_small_memory() -> None:
    assert is_certain(shares(exact=0.5), FEW)
    assert not is_certain(shares(exact=0.5), THOUSANDS)
    assert is_certain(shares(exact=0.9), THOUSANDS)


def test_who_asks_is_answered_by_less_than_is_pushed_among_thousands() -> None:
    assert meets_threshold(shares(text=0.6), SOME_WORDS, ASKED, THOUSANDS)
    assert not meets_threshold(shares(text=0.6), SOME_WORDS, PUSHED, THOUSANDS)


def test_a_named_place_and_an_exact_name_bring_a_lesson_near() -> None:
    assert relevance_of(shares(path=0.8), 0.0) == relevance_of(shares(exact=0.8), 0.0) == 0.4
    assert relevance_of(shares(path=0.8, exact=0.2, vector=0.3), 0.0) == pytest.approx(0.7)
    assert relevance_of(shares(text=9.0), 0.0) == 0.0 < relevance_of((), 1.0)
