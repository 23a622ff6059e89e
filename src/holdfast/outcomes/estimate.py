"""Estimates with intervals: shares and differences of shares over sessions, by a bootstrap.

Deliveries of one session are not independent, so the bootstrap resamples sessions. A plain bootstrap of few sessions is
overconfident: with none of eight heeded its interval is exactly zero. So weights are drawn as in the Bayesian bootstrap
(Rubin, Annals of Statistics 1981). Two sessions, one of each outcome, are added for what was not observed; each weighs
PRIOR_SESSIONS of an observed session.

The draws come from a fixed sequence of numbers: the same records give the same interval in every process.
"""

from __future__ import annotations

from math import log

from holdfast.lean.records import Frozen
from holdfast.outcomes.tuning import DRAWN_LEVEL, DRAWS, PRIOR_SESSIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SEED = 0x9E3779B97F4A7C15
"""What splitmix64 adds to its state for each number."""
_WORD = (1 << 64) - 1
"""All bits of its state."""


class Share(Frozen):
    """`count` of `of`, with an interval that contains the truth in 95 of 100 cases."""

    count: int = 0
    of: int = 0
    low: float = 0.0
    high: float = 1.0

    @property
    def share(self) -> float:
        """The ratio; 0 where there is nothing to divide."""
        return self.count / self.of if self.of else 0.0


class Difference(Frozen):
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
    seen = [pair for pair in sessions if pair[1]]
    hits, total = sum(pair[0] for pair in seen), sum(pair[1] for pair in seen)
    if not total:
        return Share()
    low, high = _interval(sorted(_draws(seen, numbers(len(seen)))))
    return Share(count=hits, of=total, low=min(low, hits / total), high=max(high, hits / total))


def difference_of(pairs: Sequence[tuple[int, int]], other_pairs: Sequence[tuple[int, int]]) -> Difference:
    """Return the share of the first group of sessions minus the second's; the whole range if a group is empty."""
    first, second = [pair for pair in pairs if pair[1]], [pair for pair in other_pairs if pair[1]]
    if not first or not second:
        return Difference()
    # Two seeds, so that the draws are independent even if both groups have the same size.
    left, right = _draws(first, numbers(len(first))), _draws(second, numbers(len(second) + SEED))
    low, high = _interval(sorted(a - b for a, b in zip(left, right, strict=True)))
    return Difference(difference=_ratio(first) - _ratio(second), low=low, high=high)


def numbers(seed: int) -> Callable[[], float]:
    """Return a function that returns the next pseudo-random number in (0, 1) of a fixed sequence (splitmix64)."""
    state = (seed * SEED + SEED) & _WORD

    def next_number() -> float:
        nonlocal state
        state = (state + SEED) & _WORD
        mixed = state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
        return ((mixed ^ (mixed >> 31)) + 0.5) / (_WORD + 1)

    return next_number


def _ratio(sessions: Sequence[tuple[int, int]]) -> float:
    return sum(pair[0] for pair in sessions) / sum(pair[1] for pair in sessions)


def _draws(sessions: Sequence[tuple[int, int]], number: Callable[[], float]) -> list[float]:
    """Return the shares under repeatedly drawn weights."""
    size = sum(pair[1] for pair in sessions) / len(sessions)
    unseen = [(PRIOR_SESSIONS * size, PRIOR_SESSIONS * size), (0.0, PRIOR_SESSIONS * size)]
    return [_weighed([*sessions, *unseen], number) for _ in range(DRAWS)]


def _weighed(sessions: Sequence[tuple[float, float]], number: Callable[[], float]) -> float:
    hits = total = 0.0
    for hit, of in sessions:
        weight = -log(number())
        hits += weight * hit
        total += weight * of
    return hits / total


def _interval(drawn: Sequence[float]) -> tuple[float, float]:
    cut = (1 - DRAWN_LEVEL) / 2
    return drawn[int(cut * len(drawn))], drawn[min(len(drawn) - 1, int((1 - cut) * len(drawn)))]


def pairs_by_session(entries: Iterable[tuple[str, bool]]) -> list[tuple[int, int]]:
    """Return (hits, of) of each session in a fixed order, from (session, hit) entries."""
    sums: dict[str, tuple[int, int]] = {}
    for session, hit in entries:
        hits, of = sums.get(session, (0, 0))
        sums[session] = hits + hit, of + 1
    return [sums[session] for session in sorted(sums)]
