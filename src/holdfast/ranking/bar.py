"""The bars below which nothing is delivered: better silent than beside the point.

A lesson passes by a place or a name it shares with the question; by a meaning that is near; or by words. In a project
of thousands some lesson shares a few words with any sentence and lies near any meaning, so the least that is asked for
grows with the logarithm of how many lessons there are, as the best of as many chances does:

- words: the weight of the words it shares (`Fit.strength`: how much of them there is) times the text retriever's score
  (how rare they are here: the share it has of what the question could score at all), with EXACT_WORTH for a name, has
  to reach `told x log(lessons)`;
- meaning: the cosine has to reach `meaning + MEANING_STEP x log(lessons)`.

Where little is kept, how rare a word is there says nothing yet: as long as the project's lessons, were all as long as
this one, have no more than FEW_STEMS, other things pass as well: a name alone; words with enough of fixed weights
(`strength`) that are enough of the question (`coverage`); fewer, of a short question that is mostly covered; or so
many that coverage does not matter.

There are two bars. What is *pushed* into a session unasked has to be right; who *asked* would rather see a weak
answer than none. `python -m benchmarks.calibrate_bar` fits the constants and tells what each bar lets through and
keeps; docs/explanation/measurements.md has the figures.
"""

from __future__ import annotations

from math import log

from holdfast.lean.records import Frozen
from holdfast.ranking.tuning import (
    ASKED_BAR,
    DECISIVE_SCORES,
    EXACT_BAR,
    EXACT_WORTH,
    FEW_LESSONS,
    FEW_STEMS,
    LINK_LEAST,
    MANY,
    MEANING_STEP,
    PUSHED_BAR,
    SURE_EXACT,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.briefing import LaneShare
    from holdfast.ranking.relevance import Fit


class Bar(Frozen):
    """What is asked for at least."""

    told: float
    """Weight of shared words times the text retriever's score, for each e-fold of lessons."""
    meaning: float
    """Cosine of question and lesson, before MEANING_STEP."""
    strength: float
    coverage: float
    short_strength: float
    short_coverage: float
    strong: float
    """Where little is kept: strength with coverage for a question of any length and for a short one; strength alone."""


class Chance(Frozen):
    """How much there is for a question to meet by chance."""

    lessons: int = 0
    """Lessons the question was put to, counted as far as MANY; 0: nobody knows."""
    stems: int = 0
    """Different words of this lesson."""


PUSHED, ASKED = Bar(**PUSHED_BAR), Bar(**ASKED_BAR)
UNKNOWN = Chance()

PLACES = ("path", "symbol")


def passes(shares: Sequence[LaneShare], fit: Fit, bar: Bar, chance: Chance = UNKNOWN) -> bool:
    """Whether it may be delivered: for the place or name it shares with the question, its meaning, or its words."""
    return (
        is_sure(shares, chance) or passes_by_words(fit, bar, shares, chance) or passes_by_meaning(shares, bar, chance)
    )


def is_sure(shares: Sequence[LaneShare], chance: Chance = UNKNOWN) -> bool:
    """Whether it is at the very place, or the very thing, asked for; where little is kept, a name will do."""
    exact = EXACT_BAR if _is_little(chance) else SURE_EXACT
    return _score(shares, "exact") >= exact or any(is_decisive(share) for share in shares if share.lane in PLACES)


def is_decisive(share: LaneShare) -> bool:
    """Whether that retriever's own score is enough by itself; never for retrievers without a bar."""
    return share.lane in DECISIVE_SCORES and share.raw >= DECISIVE_SCORES[share.lane]


def is_linked(shares: Sequence[LaneShare], least: float = LINK_LEAST) -> bool:
    """Whether it is about a file linked that closely to the files in play."""
    return any(share.lane == "graph" and share.raw >= least for share in shares)


def passes_by_meaning(shares: Sequence[LaneShare], bar: Bar, chance: Chance = UNKNOWN) -> bool:
    """Whether question and lesson say enough alike."""
    return _score(shares, "vector") >= bar.meaning + MEANING_STEP * _spread(chance)


def passes_by_words(fit: Fit, bar: Bar, shares: Sequence[LaneShare] = (), chance: Chance = UNKNOWN) -> bool:
    """Whether the words alone are enough."""
    strength = fit.strength * _score(shares, "text") + EXACT_WORTH * _score(shares, "exact")
    if strength >= bar.told * _spread(chance):
        return True
    return _is_little(chance) and (
        fit.strength >= bar.strong
        or (fit.strength >= bar.strength and fit.coverage >= bar.coverage)
        or (fit.strength >= bar.short_strength and fit.coverage >= bar.short_coverage)
    )


def _score(shares: Sequence[LaneShare], lane: str) -> float:
    return next((share.raw for share in shares if share.lane == lane), 0.0)


def _is_little(chance: Chance) -> bool:
    return chance.lessons * chance.stems <= FEW_STEMS


def _spread(chance: Chance) -> float:
    return log(1 + min(max(chance.lessons or MANY, FEW_LESSONS), MANY))
