from __future__ import annotations

from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.ranking.bm25 import bm25


def test_the_text_with_the_rarer_word_wins() -> None:
    texts = ["run the tests with pytest", "run the build with make", "run the linter"]
    scores = bm25("run pytest", texts)
    assert scores.index(max(scores)) == 0
    assert min(scores) > 0


def test_inflections_and_parts_of_identifiers_are_found() -> None:
    assert min(bm25("closing cursors", ["Close the cursor.", "close_cursor()"])) > 0


def test_nothing_in_common_is_nothing() -> None:
    assert bm25("tide", ["", "moon", "the of and"]) == [0, 0, 0]
    assert bm25("", ["moon"]) == [0]
    assert bm25("moon", []) == []


def test_the_length_of_a_text_counts_against_the_average_of_all() -> None:
    (alone,) = bm25("moon", ["moon"])
    assert alone == pytest.approx(log(4 / 3))
    short, long = bm25("moon", ["moon", "moon tide pool heron"])
    assert alone > short > long > 0
    assert short / long == pytest.approx((1 + 1.2 * (0.25 + 0.75 * 4 / 2.5)) / (1 + 1.2 * (0.25 + 0.75 / 2.5)))


@given(st.text(max_size=40), st.lists(st.text(max_size=60), max_size=6))
def test_every_text_gets_a_score_that_is_not_negative(question: str, texts: list[str]) -> None:
    scores = bm25(question, texts)
    assert len(scores) == len(texts)
    assert min(scores, default=0) >= 0
