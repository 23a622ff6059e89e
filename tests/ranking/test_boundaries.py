"""Each weight, threshold and cap of the ranking at its boundary: a little less, and the answer is another one.

The numbers here are written out on purpose: a test that computes them from the constants would move with them.
"""

from __future__ import annotations

from datetime import timedelta
from math import log
from typing import Any

import pytest
from tests.ranking.thresholds import meets_threshold

from holdfast.compare.contradiction import relation
from holdfast.compare.settlement import rule
from holdfast.domain.briefing import RetrieverShare
from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.vocabulary import LessonId
from holdfast.ranking.aim import Aim, kinds_asked, task_of
from holdfast.ranking.diversify import Rival, diversify, likeness
from holdfast.ranking.fuse import fuse, is_exact
from holdfast.ranking.multipliers import HIGHEST, LOWEST, multipliers, recency
from holdfast.ranking.names import EVERYDAY_NAME, TELLING, UNNAMED, naming, runs_of
from holdfast.ranking.ranker import FEATURES, applies, features, judge, last_part
from holdfast.ranking.relevance import LexicalOverlap, weigh
from holdfast.ranking.retrievers import Hit
from holdfast.ranking.threshold import (
    ASKED,
    PUSHED,
    CorpusSize,
    Threshold,
    is_certain,
    is_linked,
    is_sufficient_alone,
)
from holdfast.testing.builders import START, make_lesson

TINY, THOUSAND, MILLIONS = (CorpusSize(lessons=lessons, stems=1_000) for lessons in (3, 1_000, 3_000_000))


def shares(**scores: float) -> tuple[RetrieverShare, ...]:
    return tuple(RetrieverShare(lane=retriever, rank=1, raw=raw, share=0.1) for retriever, raw in scores.items())


# What is relevant enough


@pytest.mark.parametrize(
    ("threshold", "corpus", "strength"),
    [
        (PUSHED, THOUSAND, 1.52),
        (ASKED, THOUSAND, 0.899),
        (PUSHED, TINY, 0.528),
        (PUSHED, CorpusSize(lessons=10**5, stems=30), 1.825),
    ],
)
def test_words_pass_from_a_strength_that_grows_with_the_number_of_lessons(
    threshold: Threshold, corpus: CorpusSize, strength: float
) -> None:
    assert meets_threshold(shares(text=1.0), LexicalOverlap(weight=strength), threshold, corpus)
    assert not meets_threshold(shares(text=1.0), LexicalOverlap(weight=strength - 0.01), threshold, corpus)
    assert meets_threshold(shares(text=0.5), LexicalOverlap(weight=2 * strength), threshold, corpus)


def test_an_exact_name_counts_seven_tenths_of_its_score_among_the_words() -> None:
    assert meets_threshold(shares(text=1.0, exact=0.5), LexicalOverlap(weight=1.18), PUSHED, THOUSAND)
    assert not meets_threshold(shares(text=1.0, exact=0.5), LexicalOverlap(weight=1.16), PUSHED, THOUSAND)


@pytest.mark.parametrize(
    ("threshold", "enough", "too_little"),
    [
        (PUSHED, [(3.5, 0), (1.2, 0.2), (0.9, 0.3)], [(3.4, 0), (1.19, 0.2), (1.2, 0.19), (0.89, 0.3), (0.9, 0.29)]),
        (ASKED, [(1.8, 0), (0.9, 0.12), (0.6, 0.2)], [(1.79, 0), (0.89, 0.12), (0.9, 0.11), (0.59, 0.2)]),
    ],
)
def test_where_little_is_kept_words_pass_by_strength_and_coverage(
    threshold: Threshold, enough: list[tuple[float, float]], too_little: list[tuple[float, float]]
) -> None:
    little, more = CorpusSize(lessons=50, stems=30), CorpusSize(lessons=19, stems=79)
    for strength, coverage in enough:
        assert meets_threshold((), LexicalOverlap(weight=strength, coverage=coverage), threshold, little)
        assert not meets_threshold((), LexicalOverlap(weight=strength, coverage=coverage), threshold, more)
    assert not any(
        meets_threshold((), LexicalOverlap(weight=least, coverage=part), threshold, little)
        for least, part in too_little
    )


@pytest.mark.parametrize(("threshold", "cosine"), [(PUSHED, 0.7098), (ASKED, 0.6598)])
def test_a_meaning_passes_from_a_cosine_that_grows_with_the_number_of_lessons(
    threshold: Threshold, cosine: float
) -> None:
    assert meets_threshold(shares(vector=cosine + 0.001), LexicalOverlap(weight=1.0), threshold, THOUSAND)
    assert not meets_threshold(shares(vector=cosine - 0.001), LexicalOverlap(weight=1.0), threshold, THOUSAND)


@pytest.mark.parametrize(("retriever", "least"), [("path", 0.6), ("symbol", 0.6), ("exact", 0.8)])
def test_a_place_or_an_exact_name_is_enough_from_its_score_on(retriever: str, least: float) -> None:
    assert is_certain(shares(**{retriever: least}), THOUSAND)
    assert not is_certain(shares(**{retriever: least - 0.01}), THOUSAND)


def test_lanes_without_a_bar_are_never_decisive_and_a_meaning_is_from_six_tenths() -> None:
    assert not is_sufficient_alone(*shares(text=3.0))
    assert is_sufficient_alone(*shares(vector=0.6))
    assert not is_sufficient_alone(*shares(vector=0.59))
    assert is_certain(shares(exact=0.4), CorpusSize(lessons=50, stems=30))
    assert not is_certain(shares(exact=0.39), CorpusSize(lessons=50, stems=30))


def test_a_link_is_enough_from_a_tenth_or_what_is_asked_for() -> None:
    assert is_linked(shares(graph=0.1))
    assert not is_linked(shares(graph=0.09))
    assert not is_linked(shares(path=1.0))
    assert is_linked(shares(graph=0.3), least=0.3)


# What words weigh


@pytest.mark.parametrize(
    ("word", "weight"), [("ledger", 1.0), ("round_half_even", 1.2), ("error", 0.3), ("404", 0.3), ("4040", 1.2)]
)
def test_a_name_weighs_more_than_a_word_and_an_everyday_word_less(word: str, weight: float) -> None:
    assert max(each for _, each, _ in weigh(word).stems) == weight


def test_a_pair_of_letters_of_a_script_written_in_runs_weighs_less_than_a_word() -> None:
    assert {weight for _, weight, _ in weigh("天気").stems} == {0.6}
    assert {weight for _, weight, _ in weigh("ox").stems} == {1.0}


# How retrievers and factors add up


@pytest.mark.parametrize(
    ("retriever", "score", "share"),
    [
        ("path", 1.0, 0.35), ("symbol", 1.0, 0.15), ("exact", 0.5, 0.1), ("graph", 1.0, 0.1), ("text", 1.0, 0.4),
        ("text", 0.5, 0.4 * 0.5**1.3), ("text", 3.5, 0.4 * 3**1.3), ("path", 2.0, 0.35), ("path", -1.0, 0.0),
        ("unknown", 1.0, 0.0),
    ],
)  # fmt: skip
def test_each_retriever_counts_by_its_weight(retriever: str, score: float, share: float) -> None:
    [[lane_share]] = fuse({retriever: [Hit(id=LessonId("a"), score=score)]}).values()
    assert lane_share.share == pytest.approx(share + 0.2 / 61)


def test_a_vector_counts_by_how_far_it_is_above_the_last_one() -> None:
    fused = fuse({"vector": [Hit(id=LessonId("a"), score=0.9), Hit(id=LessonId("b"), score=0.4)]})
    assert fused[LessonId("a")][0].share == pytest.approx(0.5 + 0.2 / 61)
    assert fused[LessonId("b")][0].share == pytest.approx(0.2 / 62)


def test_an_exact_match_has_the_floor_from_eight_tenths_on() -> None:
    above, below = (Hit(id=LessonId(name), score=score) for name, score in (("a", 0.8), ("b", 0.79)))
    fused = fuse({"exact": [above, below]})
    assert is_exact(fused[above.id])
    assert not is_exact(fused[below.id])
    assert fused[above.id][0].share > 20 > 1 > fused[below.id][0].share


@pytest.mark.parametrize(
    ("fields", "factors"),
    [
        ({"trust": "person", "confidence": 1, "salience": 1}, {"trust": 1.04, "confidence": 1.05, "salience": 1.05}),
        ({"trust": "verified", "confidence": 0, "salience": 0}, {"trust": 1.03, "confidence": 0.95, "salience": 0.95}),
        ({"trust": "agent", "confidence": 0.5}, {"trust": 1.0, "confidence": 1.0}),
        ({"trust": "repository"}, {"trust": 0.96}),
        ({"trust": "tool"}, {"trust": 0.92}),
    ],
)  # fmt: skip
def test_each_multiplier_has_its_value(fields: dict[str, Any], factors: dict[str, float]) -> None:
    known = dict(multipliers(make_lesson(**fields), "fresh", START))
    assert {name: known[name] for name in factors} == pytest.approx(factors)
    assert (known["freshness"], known["recency"], known["time"], known["task"]) == (1.0, 1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("freshness", "share", "factor"),
    [
        ("moved", 1.0, 1.0), ("unanchored", 1.0, 1.0), ("unverified", 1.0, 0.95), ("orphaned", 1.0, 0.6),
        ("drifted", 1.0, 0.8), ("drifted", 0.5, 0.8), ("drifted", 0.25, 0.875), ("drifted", 0.0, 0.95),
        ("changed", 1.0, 0.7), ("changed", 0.0, 0.9), ("changed", -1.0, 0.9),
    ],
)  # fmt: skip
def test_stale_code_takes_the_more_the_more_of_it_changed(freshness: Any, share: float, factor: float) -> None:
    assert dict(multipliers(make_lesson(), freshness, START, share=share))["freshness"] == pytest.approx(factor)


def test_age_takes_at_most_six_hundredths_and_a_future_lesson_has_none() -> None:
    decision = make_lesson(kind="decision")
    assert dict(multipliers(decision, "fresh", START + timedelta(days=720)))["recency"] == pytest.approx(0.97)
    assert recency(decision, START - timedelta(days=720)) == 1.0
    assert pytest.approx((0.4689, 1.565), abs=0.001) == (LOWEST, HIGHEST)


def test_the_time_named_lifts_by_three_tenths_and_the_task_by_a_twentieth() -> None:
    aim = Aim(task="fix", since=START, until=START + timedelta(days=1))
    factors = dict(multipliers(make_lesson(kind="fix"), "fresh", START, aim))
    assert (factors["time"], factors["task"]) == pytest.approx((1.3, 1.05))
    assert not aim.names_time_of(make_lesson(recorded_at=START + timedelta(days=1), valid_from=aim.until))
    assert Aim(until=aim.until).names_time_of(make_lesson())
    assert not Aim(since=aim.until).names_time_of(make_lesson())
    assert not Aim().names_time_of(make_lesson())


@pytest.mark.parametrize(
    ("task", "kinds"),
    [
        ("fix", {"bug_cause", "fix", "failed_approach"}), ("test", {"tooling", "convention", "fix"}),
        ("refactor", {"constraint", "decision", "convention"}), ("review", {"convention", "constraint", "preference"}),
        ("operate", {"tooling", "constraint", "fix"}), ("feature", {"decision", "constraint", "convention"}),
        ("", set()),
    ],
)  # fmt: skip
def test_a_task_asks_for_its_kinds_first(task: str, kinds: set[str]) -> None:
    assert {kind for kind in LESSON_KINDS if Aim(task=task).is_for(make_lesson(kind=kind))} == kinds


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("what went wrong before", {"failed_approach", "bug_cause", "fix"}), ("which limits", {"constraint"}),
        ("what was decided", {"decision"}), ("what do i prefer", {"preference"}),
        ("which rules", {"convention", "preference"}), ("known bugs", {"bug_cause", "fix"}),
        ("which tools", {"tooling"}), ("why", set()),
    ],
)  # fmt: skip
def test_a_question_for_a_kind_asks_for_it(question: str, kinds: set[str]) -> None:
    assert set(kinds_asked(question)[0]) == kinds


def test_a_task_is_looked_for_in_the_first_four_hundred_characters() -> None:
    assert task_of("x" * 395 + " fix") == "fix"
    assert task_of("x" * 400 + " fix") == ""


def test_a_kind_is_asked_for_in_at_most_four_hundred_characters() -> None:
    question = "what failed before with "
    kinds, _ = kinds_asked(question + "x" * (400 - len(question)))
    assert set(kinds) == {"failed_approach", "bug_cause", "fix"}
    assert kinds_asked(question + "x" * (401 - len(question))) == ((), "")


# Novelty


def rival(score: float, words: str, session: str = "") -> Rival:
    return Rival(score=score, terms=frozenset(words), session=session)


def order(*rivals: Rival) -> list[int]:
    return [at for at, _ in diversify(rivals, len(rivals))]


def test_likeness_is_the_share_of_common_words_and_a_little_more_within_a_session() -> None:
    first, second = rival(1.0, "ab", "s"), rival(1.0, "bc", "s")
    assert likeness(first, rival(1.0, "bc")) == pytest.approx(1 / 3)
    assert likeness(first, second) == pytest.approx(0.15 + 0.85 / 3)
    assert likeness(rival(1.0, "a"), rival(1.0, "b")) == 0.0


def test_a_choice_is_worth_seven_tenths_of_its_score_less_three_of_its_likeness() -> None:
    rivals = [rival(2.0, "abcd"), rival(1.0, "aefg")]
    assert diversify(rivals, 2) == [(0, pytest.approx(0.7)), (1, pytest.approx(0.35 - 0.3 / 7))]


def test_a_copy_comes_last_from_four_fifths_of_its_words_on() -> None:
    weak = rival(0.1, "z")
    assert order(rival(1.0, "abcde"), rival(0.9, "abcd"), weak) == [
        0,
        2,
        1,
    ]
    assert order(rival(1.0, "abcd"), rival(0.9, "abc"), weak) == [
        0,
        1,
        2,
    ]


def test_what_is_worth_next_to_nothing_is_worth_a_hundredth() -> None:
    assert diversify([rival(1.0, "a"), rival(0.0, "b")], 2)[1] == (1, 0.01)


# Names


@pytest.mark.parametrize(
    ("name", "text", "level"),
    [
        ("dead letter queue topic", "the dead letter queue topic", TELLING),
        ("one dead letter queue topic", "one dead letter queue topic", UNNAMED),
        ("ledger", "the leddger", TELLING),
        ("ledger", "the lefger", UNNAMED),
        ("pgsql", "is psgql up", TELLING),
        ("pgsq", "is psgq up", UNNAMED),
        ("ledger", "kedger", UNNAMED),
        ("error", "an error", EVERYDAY_NAME),
        ("ledger", " ".join(["word"] * 39) + " leddger", TELLING),
        ("ledger", " ".join(["word"] * 40) + " leddger", UNNAMED),
        ("ledger", "x" * 1993 + " ledger", TELLING),
        ("ledger", "x" * 1996 + " ledger", UNNAMED),
    ],
)  # fmt: skip
def test_a_name_is_found_up_to_its_limits(name: str, text: str, level: int) -> None:
    assert naming(make_lesson(tags=(name,)), runs_of(text)) == level


# The learned ranker


def test_the_last_part_of_a_symbol_is_its_own_name() -> None:
    assert [last_part(symbol) for symbol in ("Store.put#2", "store::Store::Put", "put")] == ["put", "put", "put"]


def test_the_ranker_is_asked_of_five_hundred_lessons_half_of_them_about_code() -> None:
    code, plain = make_lesson(path="a.py"), make_lesson()
    assert applies([code, plain], 500)
    assert not applies([code, plain], 499)
    assert not applies([code, plain, plain], 500)
    assert not applies([], 500)


def test_each_feature_is_what_its_name_says() -> None:
    lesson = make_lesson(kind="decision", insight="Round the ledger.", path="ledger.py", symbol="Ledger.round")
    lane_shares = (*shares(path=0.8, exact=0.5, vector=0.3), RetrieverShare(lane="text", rank=6, raw=1.5, share=0.1))
    known = features(lesson, lane_shares, 0.4, 3.0, 1, {"round", "sum"}, {"round", "post"}, START + timedelta(days=30))
    expected = (1 / 16, 1 / 11, 0.8, 1 / 3, 0.5, 0.4, 0.5, 0.3, 0.5, 0.6931, 0.6931)
    assert known == pytest.approx(expected, abs=0.0001)
    crowded = features(lesson, lane_shares, 0.4, 0.0, 10, (), (), None)
    assert crowded == pytest.approx((1 / 16, 1 / 11, 0.8 / 3.3026, 0, 0, 0.4, 0, 0.3, 0.5, 0.6931, 0), abs=0.0001)


def test_a_score_three_lower_is_worth_a_third_and_the_weights_are_chosen_by_what_answered() -> None:
    def row(**values: float) -> list[float]:
        names = (
            "text_rank",
            "vector_rank",
            "path",
            "head",
            "symbol",
            "coverage",
            "text",
            "vector",
            "exact",
            "files",
            "age",
        )
        return [values.get(name, 0.0) for name in names]

    assert judge([row(path=1.0, text=1.0), row(path=1.0)])[1] == pytest.approx(0.6168, abs=0.0001)
    assert judge([row(text=1.0), row()])[1] == pytest.approx(0.2636, abs=0.0001)
    assert judge([row(vector=1.0, text=1.0), row(vector=1.0)])[1] == pytest.approx(0.6681, abs=0.0001)
    assert judge([]) == []


@pytest.mark.parametrize(
    ("answered", "weights"),
    [
        ({"vector": 1.0}, (11.98, 16.09, 3.95, 3.43, 1.81, 4.72, 1.21, 0.24, 1.45, 0.54, -0.88)),
        ({"path": 1.0}, (16.2, 0.0, 4.14, 4.51, 1.91, 4.73, 1.45, 0.0, 1.44, 0.44, -0.89)),
        ({}, (16.2, 0.0, None, 4.51, 1.91, 2.36, 4.0, 0.0, 1.44, 0.44, -0.44)),
    ],
)
def test_each_feature_weighs_as_it_was_fitted(answered: dict[str, float], weights: tuple[float | None, ...]) -> None:
    base = [answered.get(name, 0.0) for name in FEATURES]
    for place, weight in enumerate(weights):
        if weight is None or (FEATURES[place] == "vector" and not answered.get("vector")):
            continue  # a place or a vector brings weights of its own
        more = [value + (at == place) for at, value in enumerate(base)]
        with_it, without_it = judge([more, base])
        assert 3 * log(with_it / without_it) == pytest.approx(weight)


# Which of two contradicting lessons comes first

NOW = START + timedelta(days=30)
NPM, PNPM = "Install dependencies with npm.", "Install dependencies with pnpm."


def ruling(first_fields: dict[str, Any], second_fields: dict[str, Any]) -> tuple[bool, str, bool]:
    first, second = make_lesson(id="a", insight=NPM, **first_fields), make_lesson(id="b", insight=PNPM, **second_fields)
    decision = rule(first, second, relation(NPM, PNPM), NOW)
    return decision.first, decision.reason, decision.closes


def test_a_lesson_holds_from_the_very_instant_and_up_to_before_its_end() -> None:
    later, end = {"valid_from": NOW + timedelta(days=1)}, {"valid_to": NOW}
    assert ruling({"valid_from": NOW}, later)[:2] == (True, "holds now")
    assert ruling({}, end)[:2] == (True, "holds now")
    assert ruling(end, {"valid_to": NOW + timedelta(days=1)})[:2] == (False, "holds now")


@pytest.mark.parametrize(
    ("better", "worse", "closes"),
    [
        ({"trust": "verified"}, {"trust": "agent"}, True),
        ({"trust": "verified"}, {"trust": "agent", "pinned": True}, False),
        ({"trust": "verified", "state": "candidate"}, {"trust": "agent"}, False),
        ({"trust": "verified", "branch": "topic"}, {"trust": "agent"}, False),
        ({"trust": "verified"}, {"trust": "agent", "branch": "topic"}, False),
        ({"trust": "agent"}, {"trust": "tool"}, False),
        ({"trust": "verified", "valid_from": NOW}, {"trust": "verified"}, True),
    ],
)
def test_a_better_lesson_closes_another_only_where_its_word_may(
    better: dict[str, Any], worse: dict[str, Any], closes: bool
) -> None:
    assert ruling(better, worse)[0::2] == (True, closes)
    assert ruling(worse, better)[0::2] == (False, closes)
