"""Merges many ranked lists into one: each retriever's own scores on one scale, with a floor under exact matches.

A result's score can be recomputed from its `Why`: the sum of the retrievers' shares times the product of the
multipliers.

The question decides the balance of words and vectors. The text retriever's score is the share of the question's
information that the lesson has (`retrievers.score_text`), and its power TEXT_POWER counts. So words decide a question
whose names and rare words a lesson repeats, and meaning decides one that shares none of them. Ranks alone cannot tell
these two apart: with equal weights, reciprocal rank fusion lets either drown the other.
The weights were fitted on development sets; docs/adr/0011 gives the reasons.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import fsum, prod

from holdfast.domain.briefing import RetrieverShare, Why
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import Freshness, LessonId
from holdfast.ranking.aim import Aim
from holdfast.ranking.retrievers import Hit
from holdfast.ranking.tuning import (
    FRESHNESS,
    MILD,
    MMR_LAMBDA,
    NEAR_COPY,
    RANGES,
    RETRIEVER_WEIGHTS,
    RETRIEVERS_AT_MOST,
    REWRITTEN,
    RRF_K,
    SAME_SESSION,
    SURE_EXACT,
    TEXT_MOST,
    TEXT_POWER,
    TIE,
    TRUST,
    WORTH_LEAST,
)

LOWEST, HIGHEST = map(prod, zip(*RANGES.values(), strict=True))
"""Least and greatest product of all multipliers."""

NO_AIM = Aim()

EXACT_FLOOR = (
    (TEXT_MOST**TEXT_POWER * sum(RETRIEVER_WEIGHTS.values()) + RETRIEVERS_AT_MOST * TIE / (RRF_K + 1))
    * HIGHEST
    / LOWEST
)
"""Added to an exact match's share. It exceeds the sum of all other retrievers with the best multipliers even when the
exact match has the worst multipliers, so no other retriever can bury it. Exact matches compete as usual."""


def fuse(rankings: Mapping[str, Sequence[Hit]], limit: int = 1_000) -> dict[LessonId, tuple[RetrieverShare, ...]]:
    """Return each retriever's share in the best `limit` lessons, by lesson, best sum first, ties by id.

    A retriever adds its weight times the hit's strength (0 to 1) and TIE / (RRF_K + rank), rank counting from 1. The
    strength of a vector is how far its cosine exceeds the least cosine of the ranking. The exact retriever adds
    EXACT_FLOOR for hits from SURE_EXACT on. The order of the retrievers does not matter.
    """
    by_lesson: dict[LessonId, list[tuple[str, int, float, float]]] = {}
    for name in sorted(rankings):
        weight = RETRIEVER_WEIGHTS.get(name, 0.0)
        least = min((hit.score for hit in rankings[name]), default=0.0) if name == "vector" else 0.0
        for rank, hit in enumerate(rankings[name], start=1):
            floor = EXACT_FLOOR if name == "exact" and hit.score >= SURE_EXACT else 0.0
            share = floor + weight * _strength(name, hit.score - least) + TIE / (RRF_K + rank)
            by_lesson.setdefault(hit.id, []).append((name, rank, hit.score, share))
    order = sorted((-fsum(share for _, _, _, share in answers), id) for id, answers in by_lesson.items())
    return {
        id: tuple(
            RetrieverShare(lane=name, rank=rank, raw=raw, share=share) for name, rank, raw, share in by_lesson[id]
        )
        for _, id in order[:limit]
    }


def total(shares: Sequence[RetrieverShare]) -> float:
    """Return the sum of the shares, exact to the last bit in any order."""
    return fsum(share.share for share in shares)


def score_of(why: Why) -> float:
    """Recompute a score from its `Why`: sum of shares times product of multipliers, in their listed order."""
    score = total(why.shares)
    for _, factor in why.multipliers:
        score *= factor
    return score


def is_exact(shares: Sequence[RetrieverShare]) -> bool:
    """Return whether the shares include the floor of an exact match."""
    return any(share.lane == "exact" and share.raw >= SURE_EXACT for share in shares)


def _strength(retriever: str, score: float) -> float:
    if retriever == "text":
        return float(min(TEXT_MOST, max(0.0, score)) ** TEXT_POWER)
    return min(1.0, max(0.0, score))


# Maximal marginal relevance: each next result is compared with those already chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Rival:
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
    relevance = [mmr_lambda * rival.score / best for rival in rivals]
    margins = list(relevance)
    nearest = [0.0] * len(rivals)
    exact = [i for i, rival in enumerate(rivals) if rival.exact]
    others = [i for i, rival in enumerate(rivals) if not rival.exact]
    chosen: list[tuple[int, float]] = []
    while (exact or others) and len(chosen) < limit:
        pool = exact or others
        pick = max(pool, key=margins.__getitem__)  # the first of the greatest, so ties go to the earlier rival
        worth = min(margins[pick], chosen[-1][1]) if chosen else margins[pick]
        chosen.append((pick, max(worth, WORTH_LEAST)))
        pool.remove(pick)
        for i in (*exact, *others):
            alike = likeness(rivals[i], rivals[pick])
            if alike > nearest[i]:
                nearest[i] = alike
                # more than all other terms, so that a near copy comes last
                copied = 1.0 if alike >= NEAR_COPY else 0.0
                margins[i] = relevance[i] - (1 - mmr_lambda) * alike - copied
    return chosen


def likeness(rival: Rival, other: Rival) -> float:
    """Return 0 to 1: the share of words in common (Jaccard), a little more within one session."""
    shared = len(rival.terms & other.terms)
    words = shared / (len(rival.terms) + len(other.terms) - shared) if shared else 0.0
    same = SAME_SESSION if rival.session and rival.session == other.session else 0.0
    return same + (1 - same) * words


# Bounded multipliers on a fused score


def multipliers(
    lesson: Lesson, freshness: Freshness, now: datetime, aim: Aim = NO_AIM, share: float = 1.0
) -> tuple[tuple[str, float], ...]:
    """Return name and factor of each multiplier, in the order of RANGES.

    `share` is how much of the code behind the lesson changed, 0 to 1: a rewrite counts more than a changed word.
    A lesson learnt in the time that the question names, or of a kind that its task prefers, gets the greatest factor.
    """
    return (
        ("freshness", _freshness_factor(freshness, share)),
        ("trust", TRUST[lesson.trust]),
        ("confidence", _within("confidence", lesson.confidence)),
        ("salience", _within("salience", lesson.salience)),
        ("recency", _within("recency", recency(lesson, now))),
        ("time", _within("time", aim.names_time_of(lesson))),
        ("task", _within("task", aim.is_for(lesson))),
    )


def recency(lesson: Lesson, now: datetime) -> float:
    """Return 1 for a lesson recorded now, 0.5 after its kind's half-life, then towards 0; 1 for pinned lessons."""
    if lesson.pinned:
        return 1.0
    age_days = max(0.0, (now - lesson.recorded_at).total_seconds() / 86_400)
    return float(0.5 ** (age_days / profile_of(lesson.kind).half_life_days))


def _freshness_factor(freshness: Freshness, share: float) -> float:
    full = FRESHNESS[freshness]
    return full + (MILD.get(freshness, full) - full) * (1.0 - min(1.0, max(0.0, share) / REWRITTEN))


def _within(name: str, part: float) -> float:
    """Return the value at `part` (0 to 1) of the multiplier's range."""
    low, high = RANGES[name]
    return low + (high - low) * min(1.0, max(0.0, part))
