"""Which of two contradicting lessons comes first follows from the two alone, and only some words close a lesson."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compare.contradiction import Relation, Ruling, relation, rule
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import TRUSTS
from holdfast.testing.builders import START, make_lesson

NPM, PNPM = "Install dependencies with npm.", "Install dependencies with pnpm."
NOW = START + timedelta(days=30)


def lesson(insight: str = NPM, days: int = 0, person: str = "", **fields: Any) -> Lesson:
    """A lesson of that many days after the start."""
    at = START + timedelta(days=days)
    made = make_lesson(insight=insight, recorded_at=at, valid_from=at, **fields)
    return replace(made, provenance=replace(made.provenance, person=person))


lessons = st.builds(
    lesson,
    st.sampled_from([NPM, PNPM, "We switched from npm to pnpm for dependencies."]),
    st.integers(0, 3),
    st.sampled_from(["", "ada", "bob"]),
    trust=st.sampled_from(TRUSTS),
    pinned=st.booleans(),
    state=st.sampled_from(["active", "candidate"]),
)


@given(lessons, lessons)
def test_the_ruling_does_not_depend_on_which_lesson_is_named_first(first: Lesson, second: Lesson) -> None:
    there = rule(first, second, relation(first.insight, second.insight), NOW)
    back = rule(second, first, relation(second.insight, first.insight), NOW)
    assert there.first is not back.first
    assert (there.reason, there.closes) == (back.reason, back.closes)


@given(lessons, lessons)
def test_nobody_but_the_same_person_closes_a_persons_lesson_and_no_agent_closes_any(
    first: Lesson, second: Lesson
) -> None:
    ruling = rule(first, second, relation(first.insight, second.insight), NOW)
    better, worse = (first, second) if ruling.first else (second, first)
    if ruling.closes:
        assert better.trust in ("person", "verified")
        assert not worse.pinned
        assert worse.trust != "person" or better.provenance.person == worse.provenance.person
        assert worse.trust != "person" or better.trust == "person"


@pytest.mark.parametrize(
    ("better", "other", "reason"),
    [
        ({"trust": "person"}, {"trust": "verified", "days": 3}, "a person's word comes before verified code"),
        ({"trust": "verified"}, {"trust": "agent", "days": 3}, "verified code comes before the agent's word"),
        ({}, {"days": 3, "valid_to": START + timedelta(days=4)}, "holds now"),
        ({"sessions_seen": ("s1", "s2")}, {"days": 3}, "has more evidence"),
        ({"days": 3}, {}, "is newer"),
    ],
)
def test_trust_comes_before_validity_evidence_and_age(
    better: dict[str, Any], other: dict[str, Any], reason: str
) -> None:
    ended = other.pop("valid_to", None)
    worse = lesson(PNPM, **other)
    worse = replace(worse, validity=replace(worse.validity, valid_to=ended)) if ended else worse
    ruling = rule(lesson(NPM, **better), worse, relation(NPM, PNPM), NOW)
    assert (ruling.first, ruling.reason) == (True, reason)


ENDED = "We switched from npm to pnpm for dependencies."


@pytest.mark.parametrize(
    ("ender", "ending", "reason", "closes"),
    [
        ("verified", "agent", "says that the other one has ended", True),
        ("verified", "verified", "says that the other one has ended", True),
        ("agent", "agent", "says that the other one has ended", False),
        ("verified", "person", "a person's word comes before verified code", True),
        ("agent", "verified", "verified code comes before the agent's word", True),
    ],
)
def test_a_lesson_that_says_the_other_has_ended_is_better_where_it_is_trusted_as_much(
    ender: Any, ending: Any, reason: str, closes: bool
) -> None:
    lesson_before, other = lesson(ENDED, trust=ender), lesson(NPM, trust=ending, days=3)
    there, back = (
        rule(lesson_before, other, relation(ENDED, NPM), NOW),
        rule(other, lesson_before, relation(NPM, ENDED), NOW),
    )
    is_ended = reason.startswith("says")
    assert (there.first, there.reason) == (is_ended, reason)
    assert (back.first, back.reason) == (not is_ended, reason)
    assert there.closes is back.closes is closes


@pytest.mark.parametrize(("better", "worse", "closes"), [("ada", "ada", True), ("ada", "bob", False), ("", "", True)])
def test_a_person_closes_a_lesson_of_the_same_person_only(better: str, worse: str, closes: bool) -> None:
    newer, older = lesson(NPM, trust="person", person=better, days=3), lesson(PNPM, trust="person", person=worse)
    ruling = rule(newer, older, relation(NPM, PNPM), NOW)
    assert (ruling.first, ruling.closes) == (True, closes)


def test_a_newer_or_equally_new_word_of_equal_trust_takes_the_place_of_the_other() -> None:
    better = lesson(NPM, trust="verified", sessions_seen=("s1", "s2"))
    assert rule(better, lesson(PNPM, trust="verified"), relation(NPM, PNPM), NOW).closes
    older = rule(better, lesson(PNPM, trust="verified", days=1), relation(NPM, PNPM), NOW)
    assert (older.first, older.reason, older.closes) == (True, "has more evidence", False)


def test_a_lesson_is_not_better_than_itself() -> None:
    same = lesson()
    ruling = rule(same, same, relation(NPM, PNPM), NOW)
    assert (ruling.first, ruling.reason) == (False, "has the later id")


def test_a_ruling_closes_nothing_unless_it_says_so() -> None:
    assert not Ruling(first=True, reason="is newer").closes


def test_what_is_not_sure_closes_nothing() -> None:
    unsure = Relation(kind="contradicts", slot="polarity", values=("a", "not a"), likeness=0.3)
    ruling = rule(lesson(trust="person"), lesson(PNPM, trust="agent"), unsure, NOW)
    assert (ruling.first, ruling.closes) == (True, False)


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
