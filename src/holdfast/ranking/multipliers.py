"""Bounded multipliers on a fused score. Each stays within a published range, so that what is learnt about a lesson
never beats how well it fits the question: all learnt factors together less than double a score.

How well a lesson fits is the fused score itself, and no factor of its own: the words counted once more took two points
from questions that share few of them, and gave nothing elsewhere.
"""

from __future__ import annotations

from math import prod

from holdfast.domain.kinds import profile_of
from holdfast.ranking.aim import Aim
from holdfast.ranking.tuning import FRESHNESS, MILD, RANGES, REWRITTEN, TRUST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.vocabulary import Freshness

LOWEST, HIGHEST = map(prod, zip(*RANGES.values(), strict=True))
"""Least and most of all multipliers together."""

NO_AIM = Aim()


def multipliers(
    lesson: Lesson, freshness: Freshness, now: datetime, aim: Aim = NO_AIM, share: float = 1.0
) -> tuple[tuple[str, float], ...]:
    """Name and factor of each multiplier, in the order of RANGES.

    `share` is how much of the code behind it changed, 0 to 1: a rewrite counts more than a word.
    A lesson learnt in the time that the question names, and one of a kind that its task asks for, has the most.
    """
    return (
        ("freshness", _of_code(freshness, share)),
        ("trust", TRUST[lesson.trust]),
        ("confidence", _within("confidence", lesson.confidence)),
        ("salience", _within("salience", lesson.salience)),
        ("recency", _within("recency", recency(lesson, now))),
        ("time", _within("time", aim.names_time_of(lesson))),
        ("task", _within("task", aim.is_for(lesson))),
    )


def recency(lesson: Lesson, now: datetime) -> float:
    """1 for a lesson of now, 0.5 after its kind's half-life, towards 0; pinned lessons do not age."""
    if lesson.pinned:
        return 1.0
    age_days = max(0.0, (now - lesson.recorded_at).total_seconds() / 86_400)
    return float(0.5 ** (age_days / profile_of(lesson.kind).half_life_days))


def _of_code(freshness: Freshness, share: float) -> float:
    full = FRESHNESS[freshness]
    return full + (MILD.get(freshness, full) - full) * (1.0 - min(1.0, max(0.0, share) / REWRITTEN))


def _within(name: str, part: float) -> float:
    """The point at `part` (0 to 1) of the multiplier's range."""
    low, high = RANGES[name]
    return low + (high - low) * min(1.0, max(0.0, part))
