"""Each number that outcomes go by, at its boundary; it is written out, so that it cannot move alone."""

from __future__ import annotations

import pytest

from holdfast import Memory
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.outcomes import tuning
from holdfast.outcomes.advice import advice_of
from holdfast.outcomes.estimate import difference_of, share_of
from holdfast.outcomes.judge import Telling, _after_call
from holdfast.outcomes.missed import Library
from holdfast.outcomes.standing import order_evidence, standing_of, store_evidence
from holdfast.outcomes.story import Story, clipped
from holdfast.testing.builders import make_event, make_lesson
from tests.outcomes.test_outcome_rules import made


@pytest.mark.parametrize(
    ("verdicts", "judge", "credit"),
    [(["heeded"], "judge/1", 1), (["helped"], "", 3), (["helped"], "agent", 2), (["ignored"], "", 0)],
)
def test_a_persons_statement_counts_three_an_agents_two(verdicts: list[str], judge: str, credit: int) -> None:
    assert standing_of(made(*verdicts, judge=judge)).credit == credit


def test_a_factor_is_the_odds_of_need_against_one_need_in_four() -> None:
    assert standing_of(made("heeded", *["ignored"] * 4)).factor == pytest.approx(2 / 7 * 3, abs=0.001)
    assert standing_of(made("helped", judge="") + made(*["ignored"] * 9)).factor == 1.0
    assert standing_of(made("heeded", "heeded")).factor == 1.0  # LEAST_OUTCOMES


def test_the_five_hundred_lessons_in_doubt_or_most_needed_are_kept(memory: Memory) -> None:
    store, project = memory.services.store, memory.location.project.id
    for n in range(501):
        store.record(made("missed", "missed", project=project, lesson=LessonId(f"n{n:03}"), session=SessionId("")))
    store.record(made("missed", project=project, lesson=LessonId("a-seldom"), session=SessionId("")))
    store.record(made("hurt", judge="", project=project, lesson=LessonId("z-hurt")))
    store_evidence(store, project)
    evidence = order_evidence(store, project)
    assert evidence.factors["z-hurt"] == tuning.HURT_FACTOR  # type: ignore[index]
    assert len(evidence.factors) == 500
    assert {"n498", "z-hurt"} <= set(evidence.factors)
    assert not {"n499", "n500", "a-seldom"} & set(evidence.factors)


@pytest.mark.parametrize(("before", "expected"), [(2, "heeded"), (3, "unclear")])
def test_the_call_that_caused_a_delivery_is_looked_for_among_three_events(before: int, expected: str) -> None:
    """By NEAR_CALL: the first run after the delivery is its cause unless an earlier call was."""
    call = make_event(kind="tool_result", command="make seed now", tool="Bash", text="")
    others = [make_event(kind="reply", text="") for _ in range(before)]
    story = Story([call, *others, call])
    telling = Telling(begin=1 + before, end=tuning.HORIZON, moment="before_command", trigger="make seed now")
    assert _after_call(story, telling) == telling.begin + (expected == "unclear")


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
