"""Maximal marginal relevance: each next result is compared with those already chosen."""

from __future__ import annotations

from holdfast.lean.records import Frozen
from holdfast.ranking.tuning import MMR_LAMBDA, NEAR_COPY, SAME_SESSION, WORTH_LEAST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


class Rival(Frozen):
    """A candidate for selection: its score, its words, the session in which it was learnt."""

    score: float
    terms: frozenset[str] = frozenset()
    session: str = ""
    exact: bool = False
    """An exact match: novelty never puts other lessons before it."""


def diversify(rivals: Sequence[Rival], limit: int, mmr_lambda: float = MMR_LAMBDA) -> list[tuple[int, float]]:
    """Choose at most `limit` rivals greedily; return (position, worth) pairs in the order of choice.

    Each choice has the largest mmr_lambda x score - (1 - mmr_lambda) x likeness to the nearest rival already chosen,
    with scores relative to the best. Exact matches are chosen first, near copies of a chosen rival last. Ties go to
    the earlier rival.
    A choice's worth is that margin (at least WORTH_LEAST), for the knapsack that follows; it never rises.
    """
    best = max((rival.score for rival in rivals), default=0.0) or 1.0
    nearest = [0.0] * len(rivals)
    left = list(range(len(rivals)))
    chosen: list[tuple[int, float]] = []

    def margin(i: int) -> float:
        # more than all other terms, so that a near copy comes last
        copied = 1.0 if nearest[i] >= NEAR_COPY else 0.0
        return mmr_lambda * rivals[i].score / best - (1 - mmr_lambda) * nearest[i] - copied

    while left and len(chosen) < limit:
        pool = [i for i in left if rivals[i].exact] or left
        pick = max(pool, key=lambda i: (margin(i), -i))
        worth = min(margin(pick), chosen[-1][1]) if chosen else margin(pick)
        chosen.append((pick, max(worth, WORTH_LEAST)))
        left.remove(pick)
        for i in left:
            nearest[i] = max(nearest[i], likeness(rivals[i], rivals[pick]))
    return chosen


def likeness(rival: Rival, other: Rival) -> float:
    """Return 0 to 1: the share of words in common (Jaccard), a little more within one session."""
    shared = len(rival.terms & other.terms)
    words = shared / (len(rival.terms) + len(other.terms) - shared) if shared else 0.0
    same = SAME_SESSION if rival.session and rival.session == other.session else 0.0
    return same + (1 - same) * words
