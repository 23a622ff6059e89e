"""Many ranked lists into one: weighted reciprocal rank fusion, with a floor under exact matches.

A result's score can be recomputed from its `Why`: the sum of the lanes' shares times the product of the multipliers.
"""

from __future__ import annotations

from math import fsum

from holdfast.domain.briefing import LaneShare, Why
from holdfast.ranking.multipliers import HIGHEST, LOWEST

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.domain.query import Hit
    from holdfast.domain.vocabulary import LessonId

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke & Buettcher, SIGIR 2009)."""

LANE_WEIGHTS: dict[str, float] = {
    "exact": 1.0,
    "text": 1.0,
    "vector": 0.8,
    "path": 0.8,
    "symbol": 0.8,
    "graph": 0.4,
    "pinned": 0.2,
    "recent": 0.1,
}
"""How much a lane's first place is worth. What is merely recent or pinned only settles ties."""

EXACT_BAR = 0.4
"""Score of the exact lane from which a hit is one exact thing; below, the name is one that many lessons have."""

UNKNOWN_LANE_WEIGHT = 0.5
"""For a lane this version does not know."""

_OTHERS_MOST = (sum(LANE_WEIGHTS.values()) + UNKNOWN_LANE_WEIGHT) / (RRF_K + 1)
EXACT_FLOOR = _OTHERS_MOST * HIGHEST / LOWEST
"""Added to an exact match's share: more than all other lanes together can give with the best multipliers while the
exact match has the worst. So no other lane can bury an exact match; among themselves exact matches compete as usual."""


def fuse(rankings: Mapping[str, Sequence[Hit]], limit: int = 1_000) -> dict[LessonId, tuple[LaneShare, ...]]:
    """What each lane gives to each of the best `limit` lessons, best sum first, ties by id.

    A lane of weight w adds w / (RRF_K + rank) to every lesson it holds; rank counts from 1. The exact lane adds
    EXACT_FLOOR on top for hits from EXACT_BAR on. The order of the lanes does not matter.
    """
    given: dict[LessonId, list[tuple[str, int, float, float]]] = {}
    for lane in sorted(rankings):
        weight = LANE_WEIGHTS.get(lane, UNKNOWN_LANE_WEIGHT)
        for rank, hit in enumerate(rankings[lane], start=1):
            floor = EXACT_FLOOR if lane == "exact" and hit.score >= EXACT_BAR else 0.0
            given.setdefault(hit.id, []).append((lane, rank, hit.score, floor + weight / (RRF_K + rank)))
    order = sorted((-fsum(share for _, _, _, share in held), id) for id, held in given.items())
    return {
        id: tuple(LaneShare(lane=lane, rank=rank, raw=raw, share=share) for lane, rank, raw, share in given[id])
        for _, id in order[:limit]
    }


def total(shares: Sequence[LaneShare]) -> float:
    """The sum of the shares, exact to the last bit whatever their order."""
    return fsum(share.share for share in shares)


def score_of(why: Why) -> float:
    """The score a `Why` stands for: sum of shares times product of multipliers, in the order they are listed."""
    score = total(why.shares)
    for _, factor in why.multipliers:
        score *= factor
    return score


def is_exact(shares: Sequence[LaneShare]) -> bool:
    """Whether the floor is under it."""
    return any(share.lane == "exact" and share.raw >= EXACT_BAR for share in shares)
