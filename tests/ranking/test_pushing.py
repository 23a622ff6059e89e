"""How relevant a lesson has to be to be told unasked, at each boundary."""

from __future__ import annotations

from math import log

import pytest

from holdfast.domain.briefing import RetrieverShare
from holdfast.ranking.pushing import agrees, is_about, is_plainly_about, relevance_of, worth_here
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.ranking.threshold import CorpusSize

NO_WORDS, MANY_WORDS = LexicalOverlap(), LexicalOverlap(weight=9.0, coverage=0.9)


def shares(**scores: float) -> tuple[RetrieverShare, ...]:
    return tuple(RetrieverShare(lane=retriever, rank=1, raw=raw, share=0.1) for retriever, raw in scores.items())


def among(lessons: int, stems: int = 30) -> CorpusSize:
    return CorpusSize(lessons=lessons, stems=stems)


def test_thirty_of_bm25_weigh_as_much_as_a_cosine_of_one() -> None:
    assert relevance_of(shares(vector=0.25), 15.0) == 0.75
    assert worth_here(shares(path=0.6, symbol=0.8, vector=0.25), 15.0) == pytest.approx(0.8 + 0.75)


@pytest.mark.parametrize("lessons", [20, 400, 10_000])
def test_the_relevance_asked_for_grows_with_the_logarithm_of_how_many_lessons_there_are(lessons: int) -> None:
    least = 0.64 + 0.07 * log(1 + lessons)
    assert is_about(shares(vector=least + 0.001), 0.0, NO_WORDS, among(lessons))
    assert not is_about(shares(vector=least - 0.001), 0.0, NO_WORDS, among(lessons))
    assert not is_about(shares(vector=least + 0.001), 0.0, NO_WORDS, among(lessons), shift=1.01)


def test_a_second_lesson_has_to_be_a_fifth_more_relevant_and_never_passes_among_few() -> None:
    least = 1.2 * (0.64 + 0.07 * log(101))
    assert is_plainly_about(shares(vector=least + 0.001), 0.0, among(100))
    assert not is_plainly_about(shares(vector=least - 0.001), 0.0, among(100))
    assert is_plainly_about(shares(vector=9.0), 0.0, among(20))
    assert not is_plainly_about(shares(vector=9.0), 0.0, among(19))


def test_among_fewer_than_twenty_the_words_have_to_be_enough_as_well() -> None:
    assert is_about(shares(vector=9.0), 0.0, NO_WORDS, among(20))
    assert not is_about(shares(vector=9.0), 0.0, NO_WORDS, among(19))
    assert is_about(shares(vector=9.0), 0.0, MANY_WORDS, among(19))
    assert is_about(shares(path=1.0, vector=9.0), 0.0, NO_WORDS, among(19))
    assert not is_about(shares(path=0.99, vector=9.0), 0.0, NO_WORDS, among(19))


def test_among_fewer_than_four_the_words_alone_are_enough() -> None:
    assert is_about(shares(), 0.0, MANY_WORDS, among(3))
    assert not is_about(shares(), 0.0, MANY_WORDS, among(4))


def test_among_few_an_identifier_of_both_is_enough_beside_words() -> None:
    assert is_about(shares(exact=0.4), 0.0, MANY_WORDS, among(19))
    assert not is_about(shares(exact=0.39), 0.0, MANY_WORDS, among(19))
    assert not is_about(shares(exact=0.4), 0.0, MANY_WORDS, among(20))


def test_among_few_the_longer_a_prompt_is_the_more_words_are_asked_for() -> None:
    def passes(strength: float, prompt: float, stems: int = 1) -> bool:
        return is_about(shares(), 0.0, LexicalOverlap(weight=strength, coverage=strength / prompt), among(3, stems))

    assert passes(2.91, prompt=5.0)  # 2.7 + 0.04 x 5 = 2.9
    assert not passes(2.89, prompt=5.0)
    assert passes(3.71, prompt=25.0)
    assert not passes(3.69, prompt=25.0)


def test_among_few_the_words_are_half_of_the_prompt_or_three_tenths_of_the_lesson() -> None:
    def passes(coverage: float, stems: int) -> bool:
        return is_about(shares(), 0.0, LexicalOverlap(weight=6.0, coverage=coverage), among(3, stems))

    assert passes(0.5, stems=100)
    assert not passes(0.49, stems=100)
    assert passes(0.2, stems=20)
    assert not passes(0.2, stems=21)


def test_just_enough_is_enough() -> None:
    least = 0.64 + 0.07 * log(1 + 400)
    assert is_about(shares(vector=least), 0.0, NO_WORDS, among(400))
    assert is_plainly_about(shares(vector=1.2 * 1.0 * least), 0.0, among(400))
    strength = 2.7 + 0.04 * 5.0
    words = LexicalOverlap(weight=strength, coverage=strength / 5.0)
    assert words.weight / words.coverage == 5.0
    assert is_about(shares(), 0.0, words, among(3))
    weight = 30 * (0.25 + 0.07 * log(1 + 400))
    assert weight / 30 == 0.25 + 0.07 * log(1 + 400)
    assert agrees(shares(symbol=1.0), weight, among(400))


def test_the_nearest_place_counts() -> None:
    assert worth_here(shares(path=0.6), 0.0) == worth_here(shares(symbol=0.6), 0.0) == 0.6
    assert worth_here(shares(exact=0.6), 0.0) == 0.0


def test_a_lesson_about_a_file_needs_a_near_place() -> None:
    assert agrees(shares(path=0.6), 0.0, among(3))
    assert not agrees(shares(path=0.59), 0.0, among(3))
    assert agrees(shares(symbol=0.6), 0.0, among(19))
    assert not agrees(shares(symbol=0.59), 0.0, among(19))


@pytest.mark.parametrize(("place", "least", "few"), [("path", 0.75, 4), ("symbol", 0.25, 20)])
def test_a_lesson_about_a_file_needs_the_sessions_words_where_their_rarity_is_known(
    place: str, least: float, few: int
) -> None:
    for lessons in (few, 400):
        weight = 30 * (least + 0.07 * log(1 + lessons))
        assert agrees(shares(**{place: 1.0}), weight + 0.01, among(lessons))
        assert not agrees(shares(**{place: 1.0}), weight - 0.01, among(lessons))
    assert agrees(shares(**{place: 1.0}), 0.0, among(few - 1))
