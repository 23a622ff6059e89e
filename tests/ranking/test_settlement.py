"""Which of two contradicting lessons comes first follows from the two alone, and only some words close a lesson."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import TRUSTS
from holdfast.lean.records import replace
from holdfast.ranking.settlement import rule
from holdfast.testing.builders import START, make_lesson
from holdfast.text.contradiction import Relation, relation

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


def test_what_is_not_sure_closes_nothing() -> None:
    unsure = Relation(kind="contradicts", slot="polarity", values=("a", "not a"), likeness=0.3)
    ruling = rule(lesson(trust="person"), lesson(PNPM, trust="agent"), unsure, NOW)
    assert (ruling.first, ruling.closes) == (True, False)
