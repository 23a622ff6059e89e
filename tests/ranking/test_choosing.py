"""Diversity and the budget: which of the ranked ones are taken."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.ranking.fuse import Rival, diversify, likeness
from holdfast.ranking.tuning import MMR_LAMBDA, SAME_SESSION, WORTH_LEAST
from holdfast.rendering.lines import fit_budget


def rival(score: float, words: str, **fields: object) -> Rival:
    return Rival(score=score, terms=frozenset(words.split()), **fields)  # type: ignore[arg-type]


def order(rivals: list[Rival], limit: int, **options: float) -> list[int]:
    return [at for at, _ in diversify(rivals, limit, **options)]


def test_a_near_copy_gives_way_to_something_new() -> None:
    rivals = [rival(1.0, "close the cursor first"), rival(0.98, "close the cursor"), rival(0.8, "amounts are cents")]
    assert order(rivals, 2) == [0, 2]
    assert order(rivals, 2, mmr_lambda=1.0) == [0, 1]


def test_each_choice_is_judged_against_all_chosen_before() -> None:
    rivals = [rival(1.0, "a b"), rival(0.95, "c d"), rival(0.94, "a b"), rival(0.93, "c d"), rival(0.6, "e f")]
    assert order(rivals, 5)[:3] == [0, 1, 4]


def test_lessons_of_one_session_are_a_little_alike() -> None:
    first, second = rival(1.0, "a", session="s"), rival(1.0, "b", session="s")
    assert 0 < likeness(first, second) < likeness(first, rival(1.0, "a"))
    assert likeness(rival(1.0, "a"), rival(1.0, "b")) == 0


def test_exact_matches_come_first_however_alike() -> None:
    rivals = [rival(1.0, "a b", exact=True), rival(0.9, "x y"), rival(0.3, "a b", exact=True)]
    assert order(rivals, 3) == [0, 2, 1]


def test_a_copy_of_the_best_comes_after_a_worthless_lesson_that_is_nearly_one() -> None:
    best, copy, other = rival(1.0, "a b c d e f g h i j"), rival(1.0, "a b c d e f g h"), rival(0.0, "a b c d e f g")
    assert order([best, copy, other], 3) == [0, 2, 1]


def test_a_rival_is_no_exact_match_unless_it_says_so() -> None:
    assert order([rival(0.1, "a"), rival(1.0, "b")], 2) == [1, 0]
    assert order([rival(0.1, "a", exact=True), rival(1.0, "b")], 2) == [0, 1]


rivals_lists = st.lists(st.builds(rival, st.floats(0, 10), st.sampled_from(["a b", "b c", "d", ""])), max_size=8)


@given(rivals_lists, st.integers(0, 10))
def test_everyone_is_chosen_at_most_once(rivals: list[Rival], limit: int) -> None:
    chosen = order(rivals, limit)
    assert len(chosen) == len(set(chosen)) == min(limit, len(rivals))
    worths = [worth for _, worth in diversify(rivals, limit)]
    assert worths == sorted(worths, reverse=True)
    assert all(worth > 0 for worth in worths)


items = st.lists(st.tuples(st.integers(1, 30), st.floats(0.01, 10)), max_size=8)


@given(items, st.integers(0, 80), st.integers(0, 4))
def test_the_choice_fits_and_is_worth_most(given_: list[tuple[int, float]], budget: int, limit: int) -> None:
    costs, values = [cost for cost, _ in given_], [value for _, value in given_]
    taken = fit_budget(costs, values, budget, limit)
    assert taken == sorted(set(taken))
    assert len(taken) <= limit
    assert sum(costs[i] for i in taken) <= budget
    possible = [
        c for n in range(limit + 1) for c in combinations(range(len(costs)), n) if sum(costs[i] for i in c) <= budget
    ]
    best = max(sum(values[i] for i in c) for c in possible)
    assert sum(values[i] for i in taken) >= best - 1e-9


def test_many_items_are_chosen_in_good_time() -> None:
    costs = [20 + i % 17 for i in range(60)]
    assert len(fit_budget(costs, [60.0 - i for i in range(60)], 400, 20)) > 10


def test_likeness_is_the_share_of_common_words_and_a_little_more_within_a_session() -> None:
    assert likeness(rival(1.0, "a b", session="s"), rival(1.0, "b c")) == pytest.approx(1 / 3)
    within = SAME_SESSION + (1 - SAME_SESSION) / 3
    assert likeness(rival(1.0, "a b", session="s"), rival(1.0, "b c", session="s")) == pytest.approx(within)
    assert likeness(rival(1.0, "a"), rival(1.0, "b")) == 0.0


def test_a_choice_is_worth_its_score_less_its_likeness_and_never_nothing() -> None:
    novelty = 1 - MMR_LAMBDA
    chosen = diversify([rival(2.0, "a b c d"), rival(1.0, "a e f g")], 2)
    assert chosen == [(0, pytest.approx(MMR_LAMBDA)), (1, pytest.approx(MMR_LAMBDA / 2 - novelty / 7))]
    assert diversify([rival(1.0, "a"), rival(0.0, "b")], 2)[1] == (1, WORTH_LEAST)
