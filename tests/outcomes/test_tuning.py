"""Each number that outcomes go by, at its boundary; it is written out, so that it cannot move alone."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.kinds import profile_of
from holdfast.domain.vocabulary import LessonId, LessonKind
from holdfast.outcomes.advice import advice_of
from holdfast.outcomes.estimate import difference_of, share_of
from holdfast.outcomes.missed import Library
from holdfast.outcomes.standing import standing_of
from holdfast.outcomes.story import clipped
from holdfast.outcomes.weighing import factor_of, factors_of, shift_of, weights_of
from holdfast.outcomes.weights import OutcomeWeights
from holdfast.testing.builders import make_lesson
from tests.outcomes.test_outcome_rules import made


@pytest.mark.parametrize(
    ("verdicts", "judge", "credit"),
    [(["heeded"], "judge/1", 1), (["helped"], "", 3), (["helped"], "agent", 2), (["ignored"], "", 0)],
)
def test_a_persons_statement_counts_three_an_agents_two(verdicts: list[str], judge: str, credit: int) -> None:
    assert standing_of(make_lesson(), made(*verdicts, judge=judge)).credit == credit


@pytest.mark.parametrize(
    ("fields", "verdicts", "words"),
    [
        ({"state": "probation"}, [], "no outcome yet; active after 2 more heeded uses"),
        ({"state": "probation"}, ["heeded"], "1 heeded; active after 1 more heeded use"),
        ({"state": "probation"}, ["overridden"],
         "1 overridden; not confirmed by uses while something speaks against it"),
        ({}, ["heeded"], "1 heeded; retired after 2 more overridden or 5 more ignored in a row"),
        ({}, ["overridden"], "1 overridden; retired after 1 more overridden or 5 more ignored in a row"),
        ({"pinned": True}, ["ignored", "ignored"],
         "2 ignored; put up for review after 2 more overridden or 3 more ignored in a row"),
        ({"pinned": True}, ["ignored"] * 5, "5 ignored; a person decides"),
    ],
)  # fmt: skip
def test_a_standing_says_what_would_change_it(fields: dict[str, Any], verdicts: list[str], words: str) -> None:
    assert standing_of(make_lesson(**fields), made(*verdicts)).words == words


def test_a_factor_is_the_odds_of_need_against_one_need_in_four() -> None:
    assert factor_of(made("heeded")) == 2.0
    assert factor_of(made("heeded", "ignored", "ignored", "ignored", "ignored")) == pytest.approx(2 / 7 * 3, abs=0.001)
    assert factor_of(made("helped", *["ignored"] * 12, judge="")) == 0.5
    assert factor_of(made("helped", judge="") + made(*["ignored"] * 9)) == 1.0


def test_a_factor_needs_three_outcomes_or_one_statement() -> None:
    assert factors_of(made("heeded", "heeded")) == {}
    assert factors_of(made("heeded", "heeded", "heeded"))[""] == 2.0
    assert factors_of(made("helped", judge=""))[""] == 2.0


@pytest.mark.parametrize(
    ("verdicts", "shift"),
    [
        (["ignored"] * 19, 1.0), (["ignored"] * 20, 1.1), (["missed"] * 20, 0.9), (["ignored", "missed"] * 10, 1.0),
        (["ignored"] * 15 + ["heeded"] * 5, 1.05),
    ],
)  # fmt: skip
def test_a_threshold_shifts_by_a_tenth_from_twenty_outcomes_on(verdicts: list[str], shift: float) -> None:
    assert shift_of(made(*verdicts)) == shift


def test_what_a_mark_says_stays_within_the_ranges() -> None:
    weights = OutcomeWeights(lessons={"a": {"": 9.0}, "b": {"": 0.1}}, shifts={"prompt": 9.0, "before_file": 0.1})
    assert (weights.factor(LessonId("a"), "prompt"), weights.factor(LessonId("b"), "prompt")) == (2.0, 0.5)
    assert (weights.shift("prompt"), weights.shift("before_file")) == (1.1, 0.9)


def test_the_five_hundred_lessons_furthest_from_one_are_kept() -> None:
    outcomes = [o for n in range(500) for o in made("missed", "missed", "missed", lesson=LessonId(f"n{n}"))]
    nearer = made("heeded", "ignored", "ignored", lesson=LessonId("nearer"))
    weights = weights_of(outcomes + nearer).lessons
    assert len(weights) == 500
    assert "nearer" not in weights
    assert "nearer" in weights_of(outcomes[3:] + nearer).lessons


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("Use `a_b`.", []), ("Use `ab_c`.", ["ab_c"]), ("Use `" + "a_" * 60 + "`.", ["a_" * 60]),
        ("Use `" + "a_" * 60 + "b`.", []),
    ],
)  # fmt: skip
def test_names_of_four_to_a_hundred_and_twenty_characters_are_looked_for(words: str, names: list[str]) -> None:
    assert [*advice_of(make_lesson(title="Names", insight=words)).names] == names


def test_two_dozen_names_of_a_lesson_are_looked_for() -> None:
    words = ", ".join(f"`load_{number:02}`" for number in range(30))
    assert len(advice_of(make_lesson(insight=f"Use {words}.")).names) == 24


@pytest.mark.parametrize(
    ("words", "denied"),
    [("Never ever once use `load_all`.", True), ("Never, as of last spring, use `load_all`.", False)],
)
def test_a_denial_reaches_fourteen_characters(words: str, denied: bool) -> None:
    assert (advice_of(make_lesson(insight=words)).denied == ("load_all",)) is denied


def test_a_rule_is_said_by_half_of_its_weight_in_three_words() -> None:
    known = make_lesson(insight="Harbour pilots announce beacons.")
    library = Library([known, *(make_lesson() for _ in range(9))])
    assert library.saying("Harbour pilots announce buoys tomorrow.") == [known]
    assert library.saying("Harbour pilots sleep.") == []
    assert library.saying("Harbour pilots announce buoys tomorrow beside quays while ferries moor.") == []


def test_an_outcome_keeps_two_hundred_characters_of_evidence() -> None:
    assert clipped("a" * 200) == "a" * 200
    assert len(clipped("a" * 201)) <= 200


def test_an_interval_of_few_sessions_is_wide_and_of_many_narrow() -> None:
    few, many = share_of([(0, 1)] * 8), share_of([(1, 2)] * 400)
    assert few.low == 0.0 < 0.15 < few.high < 0.4
    assert 0.45 < many.low < 0.5 < many.high < 0.55
    assert difference_of([(1, 1)] * 50, [(0, 1)] * 50).is_clear
    assert not difference_of([(1, 1)], [(0, 1)]).is_clear


def test_minutes_are_assumed_for_every_kind_and_none_for_a_checkpoint() -> None:
    kinds: tuple[LessonKind, ...] = ("bug_cause", "fix", "decision", "preference", "checkpoint")
    assert [profile_of(kind).rediscovery_minutes for kind in kinds] == [6, 4, 3, 1, 0]
