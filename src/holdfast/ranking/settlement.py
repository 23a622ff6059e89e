"""Settlement: which of two lessons that contradict each other comes first, and whether that closes the other one.

The order is total and depends on the two lessons alone, so that two machines come to one answer: who said it, whether
it holds at the time asked about, how much evidence it has, how new it is. It closes a lesson only where the
contradiction is sure and the better one may close the other: a person's lesson is closed by a person alone, and an
agent's word closes nothing, it only proposes.
"""

from __future__ import annotations

from holdfast.domain.vocabulary import TRUSTS, Trust
from holdfast.lean.records import Frozen
from holdfast.text.contradiction import OPEN_SLOTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.lesson import Lesson
    from holdfast.text.contradiction import Relation

CLOSING: tuple[Trust, ...] = ("person", "verified")
"""Whose word may close a lesson."""
WORDS: dict[Trust, str] = {
    "person": "a person's word", "verified": "verified code", "agent": "the agent's word",
    "repository": "the repository's text", "tool": "a tool's text",
}  # fmt: skip


class Ruling(Frozen):
    """The better of two lessons, and why."""

    first: bool
    """Whether the first of the two is the better one."""
    reason: str
    closes: bool = False
    """Whether the other one is to be closed without asking anybody."""


def rule(lesson: Lesson, other: Lesson, relation: Relation, at: datetime) -> Ruling:
    """The ruling on two lessons that contradict each other, as `relation` says of their insights."""
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
    """Whether the first (True) or the second text says that the other one has ended and is trusted as much."""
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
    """What each part of the order says, the better one being the first or the second."""
    better, worse = sorted((first, other), key=lambda lesson: TRUSTS.index(lesson.trust))
    by_trust = f"{WORDS[better.trust]} comes before {WORDS[worse.trust]}"
    return by_trust, "holds now", "has more evidence", "is newer", "is newer", "has the later id"


def _may_close(better: Lesson, worse: Lesson, relation: Relation) -> bool:
    """Whether the better one's word is enough to close the other one."""
    if not relation.is_sure or better.trust not in CLOSING or better.state != "active" or worse.pinned:
        return False
    if better.scope.branch or worse.scope.branch:  # what holds on an unmerged branch closes nothing elsewhere
        return False
    if worse.trust == "person":
        return better.trust == "person" and better.provenance.person == worse.provenance.person
    return TRUSTS.index(better.trust) <= TRUSTS.index(worse.trust)


def _replaces(better: Lesson, worse: Lesson, relation: Relation) -> bool:
    """Whether a word of equal trust takes the place of an earlier one: the newer value of a known slot."""
    return relation.slot not in OPEN_SLOTS and better.validity.valid_from >= worse.validity.valid_from
