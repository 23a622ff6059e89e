"""Estimates with intervals: shares and differences of shares over sessions.

Deliveries of one session are not independent, so the spread between sessions makes the interval. A few sessions say
little of their own spread: with none of eight heeded it would be zero. So two sessions, one of each outcome, are added
for what was not observed; each weighs PRIOR_SESSIONS of an observed session (after Agresti & Caffo, 2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from holdfast.outcomes.tuning import DEVIATIONS, PRIOR_SESSIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`count` of `of`, with an interval that contains the truth in 95 of 100 cases."""

    count: int = 0
    of: int = 0
    low: float = 0.0
    high: float = 1.0

    @property
    def share(self) -> float:
        """The ratio; 0 where there is nothing to divide."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One share minus another, with its interval."""

    difference: float = 0.0
    low: float = -1.0
    high: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


def share_of(sessions: Sequence[tuple[int, int]]) -> Share:
    """Return the share of hits over sessions, each given as (hits, of)."""
    hits, total = sum(pair[0] for pair in sessions), sum(pair[1] for pair in sessions)
    if not total:
        return Share()
    centre, variance = _centre_and_variance(sessions)
    margin = DEVIATIONS * sqrt(variance)
    low, high = max(0.0, min(centre - margin, hits / total)), min(1.0, max(centre + margin, hits / total))
    return Share(count=hits, of=total, low=low, high=high)


def difference_of(pairs: Sequence[tuple[int, int]], other_pairs: Sequence[tuple[int, int]]) -> Difference:
    """Return the share of the first group of sessions minus the second's; the whole range if a group is empty."""
    first, second = share_of(pairs), share_of(other_pairs)
    if not first.of or not second.of:
        return Difference()
    (centre, variance), (other_centre, other_variance) = _centre_and_variance(pairs), _centre_and_variance(other_pairs)
    margin = DEVIATIONS * sqrt(variance + other_variance)
    middle = centre - other_centre
    return Difference(
        difference=first.share - second.share, low=max(-1.0, middle - margin), high=min(1.0, middle + margin)
    )


def _centre_and_variance(sessions: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the share with the unobserved sessions added, and the variance of that ratio over sessions."""
    observed = [pair for pair in sessions if pair[1]]
    size = PRIOR_SESSIONS * sum(pair[1] for pair in observed) / len(observed)
    padded = [*observed, (size, size), (0.0, size)]
    total = sum(pair[1] for pair in padded)
    centre = sum(pair[0] for pair in padded) / total
    return centre, sum((hits - centre * of) ** 2 for hits, of in padded) / total**2
