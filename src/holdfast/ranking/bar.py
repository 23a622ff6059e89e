"""The bar below which nothing is delivered: better silent than beside the point.

A lesson passes by a place or a name it shares with the question, or by words. By words it needs enough of the
question's telling words: STRENGTH_BAR of weight and COVERAGE_BAR of the question; a short question may be met by one
word that is a good part of it. A long one need not be covered: STRONG is enough.

Calibration (`benchmarks/calibrate_bar.py`): the fixed weights of `ranking.relevance`, questions put to the lessons of
another repository as negatives.
"""

from __future__ import annotations

from holdfast.domain.frozen import Frozen
from holdfast.ranking.fuse import EXACT_BAR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.briefing import LaneShare
    from holdfast.ranking.relevance import Fit

STRENGTH_BAR = 1.2
COVERAGE_BAR = 0.2
SHORT_STRENGTH, SHORT_COVERAGE = 0.9, 0.3
STRONG = 3.5
LANE_BARS = {"exact": EXACT_BAR, "path": 0.6, "vector": 0.6}
"""Scores of lanes that are enough by themselves: an exact name that few lessons have; the file itself, a glob of it or
its folder as an anchor (not a neighbour); a cosine of two texts about the same thing, whatever their words."""


class Evidence(Frozen, nested={}):
    """What speaks for a lesson: the lanes it came by and how its words fit."""

    shares: tuple[LaneShare, ...]
    fit: Fit


def passes(evidence: Evidence) -> bool:
    """Whether it may be delivered: for the place or name it shares with the question, its meaning, or its words."""
    return any(is_decisive(share) for share in evidence.shares) or passes_by_words(evidence.fit)


def is_decisive(share: LaneShare) -> bool:
    """Whether that lane's own score is enough by itself; never for lanes without a bar."""
    return share.lane in LANE_BARS and share.raw >= LANE_BARS[share.lane]


def passes_by_words(fit: Fit) -> bool:
    """Whether the words alone are enough."""
    if fit.strength >= STRONG:
        return True
    if fit.strength >= STRENGTH_BAR and fit.coverage >= COVERAGE_BAR:
        return True
    return fit.strength >= SHORT_STRENGTH and fit.coverage >= SHORT_COVERAGE
