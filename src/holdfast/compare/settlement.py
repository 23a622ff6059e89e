"""Settlement: decides which of two contradicting lessons comes first, and whether it closes the other one.

The order is total and depends on the two lessons alone, so that two machines reach the same answer. It compares who
stated the lesson, whether it holds at the time in question, how much evidence it has, and how new it is.
A lesson is closed only if the contradiction is certain and the better lesson has the authority: only a person closes a
person's lesson, and an agent's word closes nothing, it only proposes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from holdfast.compare.contradiction import OPEN_SLOTS, Relation
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import TRUSTS, Trust

CLOSING: tuple[Trust, ...] = ("person", "verified")
"""Trusts whose lessons may close another lesson."""
WORDS: dict[Trust, str] = {
    "person": "a person's word", "verified": "verified code", "agent": "the agent's word",
    "repository": "the repository's text", "tool": "a tool's text",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The better of two lessons, and why."""

    first: bool
    """Whether the first of the two is the better one."""
    reason: str
    closes: bool = False
    """Whether to close the other one without asking anybody."""


def rule(lesson: Lesson, other: Lesson, relation: Relation, at: datetime) -> Ruling:
    """Return the ruling on two lessons whose insights contradict each other as `relation` describes."""
    ended = _ended(lesson, other, relation)
    if ended is not None:
        better, worse = (lesson, other) if ended else (other, lesson)
        return Ruling(
            first=ended, reason="says that the other one has ended", closes=_may_close(better, worse, relation)
        )
    (key_one, key_other), reasons = (_order(lesson, at), _order(other, at)), _reasons(lesson, other)
    place = next((n for n, (a, b) in enumerate(zip(key_one, key_other, strict=True)) if a != b), len(key_one) - 1)
    first = key_one > key_other
    better, worse = (lesson, other) if first else (other, lesson)
    closes = _may_close(better, worse, relation) and (better.trust != worse.trust or _replaces(better, worse, relation))
    return Ruling(first=first, reason=reasons[place], closes=closes)


def _ended(lesson: Lesson, other: Lesson, relation: Relation) -> bool | None:
    """Return True if the first text says that the second has ended, False for the reverse.

    Return None if neither or both say so, or if the lesson that says so is trusted less.
    """
    if relation.ends[0] == relation.ends[1]:
        return None
    ender, ending = (lesson, other) if relation.ends[0] else (other, lesson)
    return relation.ends[0] if TRUSTS.index(ender.trust) <= TRUSTS.index(ending.trust) else None


def _order(lesson: Lesson, at: datetime) -> tuple[int, bool, int, datetime, datetime, str]:
    ends = lesson.validity.valid_to
    holds = lesson.validity.valid_from <= at and (ends is None or ends > at)
    evidence = len(lesson.provenance.evidence) + len(lesson.sessions_seen)
    since = lesson.validity.valid_from
    return -TRUSTS.index(lesson.trust), holds, evidence, since, lesson.recorded_at, lesson.id


def _reasons(first: Lesson, other: Lesson) -> tuple[str, ...]:
    """Return the reason for each part of the order."""
    better, worse = sorted((first, other), key=lambda lesson: TRUSTS.index(lesson.trust))
    by_trust = f"{WORDS[better.trust]} comes before {WORDS[worse.trust]}"
    return by_trust, "holds now", "has more evidence", "is newer", "is newer", "has the later id"


def _may_close(better: Lesson, worse: Lesson, relation: Relation) -> bool:
    """Return whether the better lesson has the authority to close the other one."""
    if not relation.is_sure or better.trust not in CLOSING or better.state != "active" or worse.pinned:
        return False
    if better.scope.branch or worse.scope.branch:  # a lesson on an unmerged branch closes nothing elsewhere
        return False
    if worse.trust == "person":
        return better.trust == "person" and better.provenance.person == worse.provenance.person
    return TRUSTS.index(better.trust) <= TRUSTS.index(worse.trust)


def _replaces(better: Lesson, worse: Lesson, relation: Relation) -> bool:
    """Return whether a lesson of equal trust replaces the earlier one: it has the newer value of a known slot."""
    return relation.slot not in OPEN_SLOTS and better.validity.valid_from >= worse.validity.valid_from


def differ_in_taste(lesson: Lesson, other: Lesson) -> bool:
    """Return whether the lessons are preferences of two persons, neither of whom is wrong."""
    mine, theirs = lesson.provenance.person, other.provenance.person
    is_taste = lesson.kind == other.kind and profile_of(lesson.kind).is_personal
    return is_taste and bool(mine and theirs and mine != theirs)
