"""The bars below which nothing is delivered: better silent than beside the point.

A lesson passes by a place or a name it shares with the question, or by words: enough weight of the question's telling
words (`strength`) that is enough of the question (`coverage`); a short question may be met by one word that is a good
part of it; a long one need not be covered when the strength is large.

There are two bars. What is *pushed* into a session unasked has to be right; who *asked* would rather see a weak
answer than none. `benchmarks/calibrate_bar.py` puts questions to the lessons of their own and of other repositories.
Of prompts people really typed, 1 % get something pushed from a foreign repository and 49 % from their own (without a
bar 76 % and 86 %); asked, 10 % and 66 %. Of questions paraphrased to share at most a word or two with their lesson,
5 % and 22 %; asked, 17 % and 48 %. Words alone cannot part those: a logistic regression on nine features of the match
drew the same curve, and so did one that also saw the cosine, its margin over the other lessons and their product. The
weights were chosen with the same data in view. `meaning` was set where, beside the words, one unrelated question in
twenty gets something pushed (one in ten where asked); both embedders it was measured with agree within .03.
"""

from __future__ import annotations

from holdfast.domain.frozen import Frozen
from holdfast.ranking.fuse import EXACT_BAR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.briefing import LaneShare
    from holdfast.ranking.relevance import Fit


class Bar(Frozen):
    """Least strength with least coverage, for a question of any length, a short one, and a long one."""

    strength: float
    coverage: float
    short_strength: float
    short_coverage: float
    strong: float
    meaning: float = 0.6
    """Least cosine of question and lesson, whatever their words."""


PUSHED = Bar(strength=1.2, coverage=0.2, short_strength=0.9, short_coverage=0.3, strong=3.5, meaning=0.5)
ASKED = Bar(strength=0.9, coverage=0.12, short_strength=0.6, short_coverage=0.2, strong=1.8, meaning=0.45)

LANE_BARS = {"exact": EXACT_BAR, "path": 0.6, "symbol": 0.6, "vector": 0.6}
"""Scores of lanes that are enough by themselves: an exact name that few lessons have; the file itself, a glob of it or
its folder as an anchor (not a neighbour); the symbol or what it is in; a cosine of two texts about the same thing,
whatever their words."""
LINKED, CLOSELY_LINKED = 0.1, 0.75
"""Weights of links that are enough by themselves: for who asks about a file and says no more, and before an edit."""


def passes(shares: Sequence[LaneShare], fit: Fit, bar: Bar) -> bool:
    """Whether it may be delivered: for the place or name it shares with the question, its meaning, or its words."""
    return any(map(is_decisive, shares)) or passes_by_words(fit, bar) or passes_by_meaning(shares, bar)


def is_decisive(share: LaneShare) -> bool:
    """Whether that lane's own score is enough by itself; never for lanes without a bar."""
    return share.lane in LANE_BARS and share.raw >= LANE_BARS[share.lane]


def is_linked(shares: Sequence[LaneShare], least: float = LINKED) -> bool:
    """Whether it is about a file linked that closely to the files in play."""
    return any(share.lane == "graph" and share.raw >= least for share in shares)


def passes_by_meaning(shares: Sequence[LaneShare], bar: Bar) -> bool:
    """Whether question and lesson say enough alike."""
    return any(share.lane == "vector" and share.raw >= bar.meaning for share in shares)


def passes_by_words(fit: Fit, bar: Bar) -> bool:
    """Whether the words alone are enough."""
    return (
        fit.strength >= bar.strong
        or (fit.strength >= bar.strength and fit.coverage >= bar.coverage)
        or (fit.strength >= bar.short_strength and fit.coverage >= bar.short_coverage)
    )
