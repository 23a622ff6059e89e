"""The relevance thresholds: no result is better than an irrelevant one.

A lesson passes by a path or a name that it shares with the question, by a similar meaning, or by words. In a project of
thousands of lessons some lesson shares a few words with any sentence and is close to any meaning. So the thresholds for
words and meaning grow with the logarithm of the number of lessons, like the expected maximum of so many random scores:

- words: the weight of the shared words (`Fit.strength`) times the text retriever's score (their rarity here: the share
  of the most that the question could score), plus EXACT_WORTH for a name, must reach `told x log(lessons)`;
- meaning: the cosine must reach `meaning + MEANING_STEP x log(lessons)`.

In a small memory the rarity of a word says nothing yet. While the project's lessons, if all had as many words as this
one, have no more than FEW_STEMS words in total, other combinations pass as well: a name alone; words with enough fixed
weight (`strength`) that cover enough of the question (`coverage`); fewer words of a short question that is mostly
covered; or so many words that coverage does not matter.

There are two thresholds. A lesson *pushed* into a session must be right; somebody who *asked* prefers a weak answer to
none. `python -m benchmarks.calibrate_bar` fits the constants and reports what each threshold admits;
docs/explanation/measurements.md has the figures.
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
    """The least values that a lesson needs."""

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
    """The amount of text that a question can match by chance."""

    lessons: int = 0
    """Lessons that were searched, counted up to MANY; 0: not known."""
    stems: int = 0
    """Number of different words in this lesson."""


PUSHED, ASKED = Bar(**PUSHED_BAR), Bar(**ASKED_BAR)
UNKNOWN = Chance()

PLACES = ("path", "symbol")


def passes(shares: Sequence[LaneShare], fit: Fit, bar: Bar, chance: Chance = UNKNOWN) -> bool:
    """Return whether a lesson may be delivered, for a shared path or name, for its meaning, or for its words."""
    return (
        is_sure(shares, chance) or passes_by_words(fit, bar, shares, chance) or passes_by_meaning(shares, bar, chance)
    )


def is_sure(shares: Sequence[LaneShare], chance: Chance = UNKNOWN) -> bool:
    """Return whether it is about exactly the path or name in question; in a small memory a weaker name is enough."""
    exact = EXACT_BAR if _is_little(chance) else SURE_EXACT
    return _score(shares, "exact") >= exact or any(is_decisive(share) for share in shares if share.lane in PLACES)


def is_decisive(share: LaneShare) -> bool:
    """Return whether the retriever's own score is enough alone; False for retrievers without such a threshold."""
    return share.lane in DECISIVE_SCORES and share.raw >= DECISIVE_SCORES[share.lane]


def is_linked(shares: Sequence[LaneShare], least: float = LINK_LEAST) -> bool:
    """Return whether it is about a file linked to the files in play with at least that weight."""
    return any(share.lane == "graph" and share.raw >= least for share in shares)


def passes_by_meaning(shares: Sequence[LaneShare], bar: Bar, chance: Chance = UNKNOWN) -> bool:
    """Return whether question and lesson are close enough in meaning."""
    return _score(shares, "vector") >= bar.meaning + MEANING_STEP * _spread(chance)


def passes_by_words(fit: Fit, bar: Bar, shares: Sequence[LaneShare] = (), chance: Chance = UNKNOWN) -> bool:
    """Return whether the words alone are enough."""
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
    # 0 lessons means that the number is not known: assume the strictest threshold
    return log(1 + min(max(chance.lessons or MANY, FEW_LESSONS), MANY))
