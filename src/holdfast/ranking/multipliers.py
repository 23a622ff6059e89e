"""Bounded multipliers on a fused score.

Each stays within a published range, so that what is learnt about a lesson never outweighs how well it matches the
question: all learnt factors together less than double a score.

The lexical overlap has no multiplier, because the fused score contains it already. Counting the words once more took
two points from questions that share few of them, and gained nothing elsewhere.
"""

from __future__ import annotations

from datetime import datetime
from math import prod

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import Freshness
from holdfast.ranking.aim import Aim
from holdfast.ranking.tuning import FRESHNESS, MILD, RANGES, REWRITTEN, TRUST

LOWEST, HIGHEST = map(prod, zip(*RANGES.values(), strict=True))
"""Least and greatest product of all multipliers."""

NO_AIM = Aim()


def multipliers(
    lesson: Lesson, freshness: Freshness, now: datetime, aim: Aim = NO_AIM, share: float = 1.0
) -> tuple[tuple[str, float], ...]:
    """Return name and factor of each multiplier, in the order of RANGES.

    `share` is how much of the code behind the lesson changed, 0 to 1: a rewrite counts more than a changed word.
    A lesson learnt in the time that the question names, or of a kind that its task prefers, gets the greatest factor.
    """
    return (
        ("freshness", _freshness_factor(freshness, share)),
        ("trust", TRUST[lesson.trust]),
        ("confidence", _within("confidence", lesson.confidence)),
        ("salience", _within("salience", lesson.salience)),
        ("recency", _within("recency", recency(lesson, now))),
        ("time", _within("time", aim.names_time_of(lesson))),
        ("task", _within("task", aim.is_for(lesson))),
    )


def recency(lesson: Lesson, now: datetime) -> float:
    """Return 1 for a lesson recorded now, 0.5 after its kind's half-life, then towards 0; 1 for pinned lessons."""
    if lesson.pinned:
        return 1.0
    age_days = max(0.0, (now - lesson.recorded_at).total_seconds() / 86_400)
    return float(0.5 ** (age_days / profile_of(lesson.kind).half_life_days))


def _freshness_factor(freshness: Freshness, share: float) -> float:
    full = FRESHNESS[freshness]
    return full + (MILD.get(freshness, full) - full) * (1.0 - min(1.0, max(0.0, share) / REWRITTEN))


def _within(name: str, part: float) -> float:
    """Return the value at `part` (0 to 1) of the multiplier's range."""
    low, high = RANGES[name]
    return low + (high - low) * min(1.0, max(0.0, part))
