from __future__ import annotations

from datetime import timedelta
from math import isclose, prod
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.briefing import Why
from holdfast.domain.vocabulary import FRESHNESSES, TRUSTS, LessonId
from holdfast.ranking.fuse import HIGHEST, LOWEST, fuse, is_exact, multipliers, recency, score_of, total
from holdfast.ranking.retrievers import Hit
from holdfast.ranking.tuning import (
    FRESHNESS,
    MILD,
    RANGES,
    RETRIEVER_WEIGHTS,
    REWRITTEN,
    RRF_K,
    SURE_EXACT,
    TEXT_MOST,
    TEXT_POWER,
    TIE,
)
from holdfast.recall.retrieve import RETRIEVERS
from holdfast.testing.builders import START, make_lesson

ids = st.sampled_from([LessonId(f"lesson-{n}") for n in range(12)])
lists = st.lists(ids, unique=True, max_size=12)
rankings = st.dictionaries(st.sampled_from(list(RETRIEVERS)), lists, max_size=len(RETRIEVERS)).map(
    lambda ids_by_lane: {
        retriever: [Hit(id=id, score=1.0 + 4 * (retriever == "text")) for id in ids]
        for retriever, ids in ids_by_lane.items()
    }
)


def hits(**scores: float) -> list[Hit]:
    return [Hit(id=LessonId(id), score=score) for id, score in scores.items()]


def first(rankings: dict[str, list[Hit]]) -> str:
    return next(iter(fuse(rankings)))


def test_a_retriever_gives_its_weight_times_the_score_and_a_little_for_the_rank() -> None:
    given_ = fuse({"path": hits(a=1.0, b=0.5)})
    assert [share.share for share in given_[LessonId("b")]] == [RETRIEVER_WEIGHTS["path"] * 0.5 + TIE / (RRF_K + 2)]
    assert given_[LessonId("a")][0].raw == 1.0
    assert list(given_) == ["a", "b"]


def test_a_thousand_lessons_are_fused_by_default() -> None:
    many = {"path": [Hit(id=LessonId(f"{n:04}"), score=1.0) for n in range(1_001)]}
    assert list(fuse(many)) == [f"{n:04}" for n in range(1_000)]
    assert list(fuse(many, 2)) == ["0000", "0001"]


def test_words_decide_where_a_lesson_has_most_of_the_question_and_meaning_where_none_has() -> None:
    vectors = hits(alike=0.5, other=0.3, last=0.1)
    assert first({"vector": vectors, "text": hits(other=0.9)}) == "other"
    assert first({"vector": vectors, "text": hits(other=0.3)}) == "alike"


def test_a_retriever_without_a_weight_only_settles_ties() -> None:
    recent = hits(new=9e9, old=1e9)
    assert first({"recent": recent, "path": hits(new=1.0, old=1.0)}) == "new"
    assert first({"recent": recent, "path": hits(old=1.0, new=0.9)}) == "old"


@given(rankings, st.randoms(use_true_random=False))
def test_the_order_of_the_retrievers_does_not_matter(rankings: dict[str, list[Hit]], random: object) -> None:
    names = list(rankings)
    random.shuffle(names)  # type: ignore[attr-defined]
    assert list(fuse(rankings).items()) == list(fuse({name: rankings[name] for name in names}).items())


@given(rankings)
def test_no_other_retriever_and_no_multiplier_can_bury_an_exact_match(rankings: dict[str, list[Hit]]) -> None:
    given_ = fuse(rankings)
    exact = [total(shares) * LOWEST for shares in given_.values() if is_exact(shares)]
    others = [total(shares) * HIGHEST for shares in given_.values() if not is_exact(shares)]
    assert not exact or not others or min(exact) > max(others)


def test_a_name_that_many_lessons_have_gets_no_floor() -> None:
    widespread = fuse({"exact": [Hit(id=LessonId("a"), score=SURE_EXACT / 2)]})[LessonId("a")]
    assert not is_exact(widespread)
    assert total(widespread) < 0.2


@given(rankings, st.sampled_from(FRESHNESSES), st.floats(0, 1), st.sampled_from(TRUSTS))
def test_a_score_can_be_computed_anew_from_its_why(
    rankings: dict[str, list[Hit]], freshness: str, part: float, trust: str
) -> None:
    lesson = make_lesson(trust=trust, confidence=part, salience=part)
    factors = multipliers(lesson, freshness, START + timedelta(days=90))  # type: ignore[arg-type]
    for shares in fuse(rankings).values():
        why = Why(shares=shares, multipliers=factors)
        anew = sum(share.share for share in why.shares) * prod(factor for _, factor in why.multipliers)
        assert isclose(score_of(why), anew, rel_tol=1e-12)
        assert score_of(Why(shares=shares[::-1], multipliers=factors)) == score_of(why)


@given(st.sampled_from(FRESHNESSES), st.floats(0, 1), st.integers(0, 5000))
def test_each_multiplier_stays_within_its_published_range(freshness: str, part: float, days: int) -> None:
    lesson = make_lesson(confidence=part, salience=part, trust="tool")
    named = dict(multipliers(lesson, freshness, START + timedelta(days=days)))  # type: ignore[arg-type]
    assert list(named) == list(RANGES)
    assert all(RANGES[name][0] <= factor <= RANGES[name][1] for name, factor in named.items())


def test_what_is_learnt_never_makes_a_lesson_twice_as_good() -> None:
    learnt = ("trust", "confidence", "salience", "recency")
    assert prod(RANGES[name][1] / RANGES[name][0] for name in learnt) < 2


def test_rules_age_slower_than_what_happened_and_pinned_lessons_do_not() -> None:
    later = START + timedelta(days=180)
    assert recency(make_lesson(kind="failed_approach"), later) == 0.5
    assert recency(make_lesson(kind="decision"), later) > 0.8
    assert recency(make_lesson(kind="exploration", pinned=True), later) == 1.0
    assert recency(make_lesson(), START - timedelta(days=5)) == 1.0


@pytest.mark.parametrize(
    ("retriever", "score", "strength"),
    [
        ("path", 1.0, 1.0), ("path", 2.0, 1.0), ("path", -1.0, 0.0), ("graph", 0.5, 0.5), ("exact", 0.5, 0.5),
        ("text", 0.5, 0.5**TEXT_POWER), ("text", TEXT_MOST, TEXT_MOST**TEXT_POWER),
        ("text", TEXT_MOST + 1, TEXT_MOST**TEXT_POWER), ("unknown", 1.0, 0.0),
    ],
)  # fmt: skip
def test_a_score_counts_up_to_its_most_and_not_below_nothing(retriever: str, score: float, strength: float) -> None:
    [[share]] = fuse({retriever: hits(a=score)}).values()
    assert share.share == pytest.approx(RETRIEVER_WEIGHTS.get(retriever, 0.0) * strength + TIE / (RRF_K + 1))


def test_a_vector_counts_by_how_far_it_is_above_the_last_one() -> None:
    best, last = fuse({"vector": hits(a=0.9, b=0.4)}).values()
    assert best[0].share == pytest.approx(RETRIEVER_WEIGHTS["vector"] * 0.5 + TIE / (RRF_K + 1))
    assert last[0].share == pytest.approx(TIE / (RRF_K + 2))


def test_an_exact_match_has_the_floor_from_its_sure_score_on() -> None:
    above, below = fuse({"exact": hits(a=SURE_EXACT, b=SURE_EXACT - 0.01)}).values()
    assert is_exact(above)
    assert not is_exact(below)
    assert above[0].share > 20 > 1 > below[0].share


def factors(name: str, freshness: Any = "fresh", share: float = 1.0, **fields: Any) -> float:
    return dict(multipliers(make_lesson(**fields), freshness, START, share=share))[name]


def test_more_trust_confidence_and_salience_weigh_more() -> None:
    trusts = ("tool", "repository", "agent", "verified", "person")
    assert sorted(trusts, key=lambda trust: factors("trust", trust=trust)) == list(trusts)
    for name in ("confidence", "salience"):
        least, most = RANGES[name]
        assert [factors(name, **{name: part}) for part in (0.0, 0.5, 1.0)] == pytest.approx([least, 1.0, most])


@pytest.mark.parametrize("state", MILD)
def test_stale_code_takes_the_more_the_more_of_it_changed(state: Any) -> None:
    between = (MILD[state] + FRESHNESS[state]) / 2
    expected = [MILD[state], MILD[state], between, FRESHNESS[state], FRESHNESS[state]]
    changed = (-1.0, 0.0, REWRITTEN / 2, REWRITTEN, 1.0)
    assert [factors("freshness", state, share) for share in changed] == pytest.approx(expected)
