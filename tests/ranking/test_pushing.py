"""How near a lesson is to a prompt, and what it must share with it, at each boundary."""

from __future__ import annotations

from math import log

import pytest

from holdfast.domain.briefing import RetrieverShare
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.ranking.threshold import CorpusSize, relevance_of, shares_subject_with

THOUSAND = CorpusSize(lessons=1_000, stems=30)


def shares(**scores: float) -> tuple[RetrieverShare, ...]:
    return tuple(RetrieverShare(lane=retriever, rank=1, raw=raw, share=0.1) for retriever, raw in scores.items())


def words(weight: float, coverage: float, count: int = 1) -> LexicalOverlap:
    return LexicalOverlap(weight=weight, coverage=coverage, matched=("quay",) * count)


def test_thirty_of_bm25_weigh_as_much_as_a_cosine_of_one_and_a_place_half_of_its_score() -> None:
    assert relevance_of(shares(vector=0.25), 15.0) == 0.75
    assert relevance_of(shares(vector=0.25, path=0.6, exact=0.8), 15.0) == pytest.approx(1.15)
    assert relevance_of(shares(symbol=1.0, text=9.0), 0.0) == 0.0


@pytest.mark.parametrize(
    ("scores", "is_shared"),
    [({"exact": 0.4}, True), ({"exact": 0.39}, False), ({"path": 1.0}, True), ({"path": 0.99}, False), ({}, False)],
)
def test_a_name_or_the_very_file_is_a_subject_in_common(scores: dict[str, float], is_shared: bool) -> None:
    assert shares_subject_with(shares(**scores), LexicalOverlap(), THOUSAND) is is_shared


@pytest.mark.parametrize("lessons", [3, 400, 10_000])
def test_a_meaning_in_common_needs_more_the_more_lessons_there_are(lessons: int) -> None:
    least, corpus = 0.3 + 0.068 * log(1 + lessons), CorpusSize(lessons=lessons, stems=30)
    assert shares_subject_with(shares(vector=least + 0.001), LexicalOverlap(), corpus)
    assert not shares_subject_with(shares(vector=least - 0.001), LexicalOverlap(), corpus)


@pytest.mark.parametrize(
    ("weight", "coverage", "count", "is_shared"),
    [
        (2.0, 0.01, 2, True),
        (1.99, 0.29, 2, False),
        (1.3, 0.3, 2, True),
        (1.0, 0.49, 1, False),
        (1.0, 0.5, 1, True),
        (0.99, 0.49, 3, False),
        (0.6, 0.5, 2, True),
        (0.3, 1.0, 1, False),
    ],
)
def test_two_telling_words_are_enough_one_beside_another_and_everyday_words_as_half_of_a_prompt(
    weight: float, coverage: float, count: int, is_shared: bool
) -> None:
    assert shares_subject_with((), words(weight, coverage, count), THOUSAND) is is_shared
