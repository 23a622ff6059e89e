"""Many ranked lists into one: each lane's own scores on one scale, with a floor under exact matches.

A result's score can be recomputed from its `Why`: the sum of the lanes' shares times the product of the multipliers.

Words and vectors are weighed by what the question is: the text lane's score is the share of the question's information
that the lesson has (see the store's port), and it counts by its power TEXT_POWER. So a question whose names and rare
words a lesson repeats is decided by words, and one that shares none of them by meaning. Ranks alone cannot tell these
two apart: reciprocal rank fusion of equal weights lets either lane drown the other. `benchmarks/fit_fusion.py` fitted
the weights and prints what each lane is worth; docs/adr/0011 tells why.
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

LANE_WEIGHTS: dict[str, float] = {
    "vector": 1.0,
    "text": 0.4,
    "path": 0.35,
    "symbol": 0.15,
    "exact": 0.2,
    "graph": 0.1,
}
"""What a score of 1 is worth in each lane. Other lanes (pinned, recent, one that this version does not know) only
settle ties."""

TEXT_POWER, TEXT_MOST = 1.3, 3.0
"""Power of a text score: a lesson that has most of what the question tells gains more than one that has a little; and
the score from which more of it counts no more."""

TIE, RRF_K = 0.2, 60
"""What a lane adds for the rank: TIE / (RRF_K + rank), reciprocal rank fusion with its usual constant (Cormack,
Clarke & Buettcher, SIGIR 2009), small enough to only settle ties."""
LANES_AT_MOST = 12
"""For the bound below: more lanes than there will be."""

EXACT_BAR, SURE_EXACT = 0.4, 0.8
"""Scores of the exact lane: from which a hit is enough to be delivered, below the name is one that many lessons have;
and from which it is the very thing asked for: the same error, command or topic, a symbol or a path that few have.
Names that a lesson only mentions are weighed, not put first: first they cost a tenth of recall where names abound."""

_OTHERS_MOST = TEXT_MOST**TEXT_POWER * sum(LANE_WEIGHTS.values()) + LANES_AT_MOST * TIE / (RRF_K + 1)
EXACT_FLOOR = _OTHERS_MOST * HIGHEST / LOWEST
"""Added to an exact match's share: more than all other lanes together can give with the best multipliers while the
exact match has the worst. So no other lane can bury an exact match; among themselves exact matches compete as usual."""


def fuse(rankings: Mapping[str, Sequence[Hit]], limit: int = 1_000) -> dict[LessonId, tuple[LaneShare, ...]]:
    """What each lane gives to each of the best `limit` lessons, best sum first, ties by id.

    A lane adds its weight times the hit's strength (0 to 1) and TIE / (RRF_K + rank), rank counting from 1. A vector's
    strength is how far its cosine is above the last one's that the lane answered with. The exact lane adds EXACT_FLOOR
    on top for hits from SURE_EXACT on. The order of the lanes does not matter.
    """
    given: dict[LessonId, list[tuple[str, int, float, float]]] = {}
    for lane in sorted(rankings):
        weight = LANE_WEIGHTS.get(lane, 0.0)
        least = min((hit.score for hit in rankings[lane]), default=0.0) if lane == "vector" else 0.0
        for rank, hit in enumerate(rankings[lane], start=1):
            floor = EXACT_FLOOR if lane == "exact" and hit.score >= SURE_EXACT else 0.0
            share = floor + weight * _strength(lane, hit.score - least) + TIE / (RRF_K + rank)
            given.setdefault(hit.id, []).append((lane, rank, hit.score, share))
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
    return any(share.lane == "exact" and share.raw >= SURE_EXACT for share in shares)


def _strength(lane: str, score: float) -> float:
    if lane == "text":
        return float(min(TEXT_MOST, max(0.0, score)) ** TEXT_POWER)
    return min(1.0, max(0.0, score))
