"""The relevance thresholds: no result is better than an irrelevant one.

A lesson passes by a path or a name that it shares with the question, by a similar meaning, or by words. In a project of
thousands of lessons some lesson shares a few words with any sentence and is close to any meaning. So the thresholds for
words and meaning grow with the logarithm of the number of lessons, like the expected maximum of so many random scores:

- words: the weight of the shared words (`LexicalOverlap.weight`) times the text retriever's score (their rarity here:
  the share of the most that the question could score), plus EXACT_WORTH for a name, must reach `weighted_overlap x
  log(lessons)`;
- meaning: the cosine must reach `meaning + MEANING_STEP x log(lessons)`, and MEANING_ALONE more without a shared word.

In a small memory the rarity of a word says nothing yet. While the project's lessons, if all had as many words as this
one, have no more than FEW_STEMS words in total, other combinations pass as well: a name alone; words with enough fixed
weight (`weight`) that cover enough of the question (`coverage`); fewer words of a short question that is mostly
covered; or so many words that coverage does not matter.

There are two thresholds. A lesson *pushed* into a session must be right; somebody who *asked* prefers a weak answer to
none. `python -m benchmarks.calibrate_threshold` fits the constants and reports what each threshold admits;
docs/explanation/measurements.md has the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from holdfast.domain.briefing import RetrieverShare
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.ranking.tuning import (
    ALONE_COVERAGE,
    ASKED_THRESHOLD,
    BM25_UNIT,
    DECISIVE_SCORES,
    EXACT_THRESHOLD,
    EXACT_WORTH,
    FEW_LESSONS,
    FEW_STEMS,
    LINK_LEAST,
    MANY,
    MEANING_ALONE,
    MEANING_LEAST,
    MEANING_STEP,
    PUSHED_THRESHOLD,
    SURE_EXACT,
    TELLING_COVERAGE,
    TELLING_WEIGHT,
    WORD_WEIGHT,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The least values that a lesson needs."""

    weighted_overlap: float
    """Weight of shared words times the text retriever's score, for each e-fold of lessons."""
    meaning: float
    """Cosine of question and lesson, before MEANING_STEP."""
    weight: float
    coverage: float
    short_weight: float
    short_coverage: float
    weight_alone: float
    """Where little is kept: weight with coverage for a question of any length and for a short one; weight alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorpusSize:
    """The amount of text that a question can match by chance."""

    lessons: int = 0
    """Lessons that were searched, counted up to MANY; 0: not known."""
    stems: int = 0
    """Number of different words in this lesson."""


PUSHED, ASKED = Threshold(**PUSHED_THRESHOLD), Threshold(**ASKED_THRESHOLD)
UNKNOWN = CorpusSize()

PLACES = ("path", "symbol")


def is_certain(shares: Sequence[RetrieverShare], corpus: CorpusSize = UNKNOWN) -> bool:
    """Return whether it is about exactly the path or name in question; in a small memory a weaker name is enough."""
    exact = EXACT_THRESHOLD if _is_small(corpus) else SURE_EXACT
    return _score(shares, "exact") >= exact or any(
        is_sufficient_alone(share) for share in shares if share.lane in PLACES
    )


def is_sufficient_alone(share: RetrieverShare) -> bool:
    """Return whether the retriever's own score is enough alone; False for retrievers without such a threshold."""
    return share.lane in DECISIVE_SCORES and share.raw >= DECISIVE_SCORES[share.lane]


def is_linked(shares: Sequence[RetrieverShare], least: float = LINK_LEAST) -> bool:
    """Return whether it is about a file linked to the files in play with at least that weight."""
    return any(share.lane == "graph" and share.raw >= least for share in shares)


def meaning_meets_threshold(
    shares: Sequence[RetrieverShare], threshold: Threshold, overlap: LexicalOverlap, corpus: CorpusSize = UNKNOWN
) -> bool:
    """Return whether question and lesson are close enough in meaning; closer if they share no telling word."""
    alone = 0.0 if overlap.weight >= WORD_WEIGHT else MEANING_ALONE
    return _score(shares, "vector") >= threshold.meaning + alone + MEANING_STEP * _log_lessons(corpus)


def words_meet_threshold(
    overlap: LexicalOverlap, threshold: Threshold, shares: Sequence[RetrieverShare] = (), corpus: CorpusSize = UNKNOWN
) -> bool:
    """Return whether the words alone are enough."""
    weighted_overlap = overlap.weight * _score(shares, "text") + EXACT_WORTH * _score(shares, "exact")
    if weighted_overlap >= threshold.weighted_overlap * _log_lessons(corpus):
        return True
    return _is_small(corpus) and (
        overlap.weight >= threshold.weight_alone
        or (overlap.weight >= threshold.weight and overlap.coverage >= threshold.coverage)
        or (overlap.weight >= threshold.short_weight and overlap.coverage >= threshold.short_coverage)
    )


def _score(shares: Sequence[RetrieverShare], retriever: str) -> float:
    return next((share.raw for share in shares if share.lane == retriever), 0.0)


def _is_small(corpus: CorpusSize) -> bool:
    return corpus.lessons * corpus.stems <= FEW_STEMS


def _log_lessons(corpus: CorpusSize) -> float:
    # 0 lessons means that the number is not known: assume the strictest threshold
    return log(1 + min(max(corpus.lessons or MANY, FEW_LESSONS), MANY))


# How near a lesson is to a prompt, and whether it shares anything informative with it


def relevance_of(shares: Sequence[RetrieverShare], weight: float) -> float:
    """Return BM25, cosine and the nearness of a named place as one sum, on the scale of a cosine."""
    return weight / BM25_UNIT + _score(shares, "vector") + max(_score(shares, "path"), _score(shares, "exact")) / 2


def shares_subject_with(shares: Sequence[RetrieverShare], overlap: LexicalOverlap, corpus: CorpusSize) -> bool:
    """Return whether prompt and lesson have in common a name, a place, a meaning, or words that tell a subject.

    Two telling words are enough in any prompt. One telling word needs a second word beside it, or must be half of the
    prompt. Everyday words alone must be two and half of the prompt.
    """
    if _score(shares, "exact") >= EXACT_THRESHOLD or _score(shares, "path") >= 1.0:
        return True
    if _score(shares, "vector") >= MEANING_LEAST + MEANING_STEP * log(1 + corpus.lessons):
        return True
    if overlap.weight >= TELLING_WEIGHT:
        return True
    beside = len(overlap.matched) > 1
    if overlap.weight >= WORD_WEIGHT:
        return overlap.coverage >= (TELLING_COVERAGE if beside else ALONE_COVERAGE)
    return beside and overlap.coverage >= ALONE_COVERAGE
