"""Scores worked out by hand on tiny rankings."""

from __future__ import annotations

import math

import pytest
from benchmarks.recall.metrics import hit_at, interval, ndcg_at, percentile, recall_at, reciprocal_rank, summary

RANKED = ["a", "b", "c", "d"]


def test_recall_is_the_share_of_the_gold_found() -> None:
    assert recall_at(RANKED, {"b", "d", "x"}, 3) == pytest.approx(1 / 3)
    assert recall_at(RANKED, {"b", "d", "x"}, 4) == pytest.approx(2 / 3)
    assert recall_at([], {"b"}, 4) == 0


def test_a_hit_needs_one_of_the_gold() -> None:
    assert hit_at(RANKED, {"b", "x"}, 1) == 0
    assert hit_at(RANKED, {"b", "x"}, 2) == 1


def test_the_reciprocal_rank_is_of_the_first_found() -> None:
    assert reciprocal_rank(RANKED, {"c", "d"}) == pytest.approx(1 / 3)
    assert reciprocal_rank(RANKED, {"x"}) == 0


def test_ndcg_compares_with_the_best_order() -> None:
    gained = 1 / math.log2(3) + 1 / math.log2(5)
    best = 1 / math.log2(2) + 1 / math.log2(3)
    assert ndcg_at(RANKED, {"b", "d"}, 10) == pytest.approx(gained / best)
    assert ndcg_at(["b", "d"], {"b", "d"}, 10) == pytest.approx(1)


def test_the_interval_is_the_same_for_the_same_seed_and_holds_the_mean() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 1.0] * 8
    low, high = interval(values, seed=3)
    assert (low, high) == interval(values, seed=3)
    assert low < 0.6 < high
    assert interval(values, seed=4) != (low, high)


def test_the_interval_of_equal_values_has_no_width() -> None:
    assert interval([0.5] * 7, seed=1) == (0.5, 0.5)


def test_percentiles_are_values_that_occurred() -> None:
    assert percentile([5, 1, 4, 2, 3], 0.5) == 3
    assert percentile([5, 1, 4, 2, 3], 0.95) == 5


def test_a_summary_has_the_mean_of_each_measure() -> None:
    figures = summary([{"mrr": 1.0}, {"mrr": 0.0}], seed=1)
    assert figures["questions"] == 2
    assert figures["mrr"]["mean"] == 0.5  # type: ignore[index]
