"""A small learned ranker for questions about code: it orders the lessons that retrieval found.

It is a linear model over eleven features of a question and a lesson. Its weights are data, fitted by
`python -m benchmarks.fit_ranker` on the histories of pytest and of SQLAlchemy before 2020: later commits that cite
earlier ones. Fitted on the other project, it puts the cited commit among the first five by title for .50 of pytest's
questions instead of .41 and .57 of SQLAlchemy's instead of .39; with one file .54 instead of .47 and .64 instead of
.51. Without words it gains nothing.

It answers explicit queries among many lessons where most candidates are anchored to code, because it was fitted on such
memories alone. Push deliveries never use it: for them it did no better than rules.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from math import exp, log, log1p

from holdfast.domain.briefing import RetrieverShare
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.ranking.tuning import (
    AGE_SCALE,
    HEAD_CHARACTERS,
    RANK_OFFSET,
    RANKED_ANCHORED,
    RANKED_LESSONS,
    SOFTNESS,
    WITH_VECTORS,
    WORDS_ALONE,
    WORDS_WITHOUT_PLACE,
)

FEATURES = (
    "text_rank", "vector_rank", "path", "head_overlap", "symbol_overlap", "coverage", "text", "vector", "exact",
    "files", "age",
)  # fmt: skip
"""Names of the features, in the order of `features`."""


def applies(lessons: Sequence[Lesson], corpus_size: int) -> bool:
    """Return whether the ranker is valid here: there are many lessons, and most candidates are anchored to code."""
    anchored = sum(bool(lesson.anchors) for lesson in lessons)
    return corpus_size >= RANKED_LESSONS and anchored >= RANKED_ANCHORED * len(lessons) > 0


def features(
    lesson: Lesson,
    shares: Sequence[RetrieverShare],
    coverage: float,
    most_text: float,
    alike_paths: int,
    stems: Collection[str],
    symbols: Collection[str],
    now: datetime | None,
    head: Collection[str],
) -> tuple[float, ...]:
    """Return the features of a lesson, in the order of FEATURES.

    `most_text` is the best text score of all candidates. `alike_paths` is how many candidates are as near to the files
    in play as this one, because a place that many lessons share says less. `stems` are the question's. `symbols` are
    the last parts of the definitions in play, case-folded. Without `now` age does not count. `head` has the stems of
    `head_of` the lesson.
    """
    by_name = {share.lane: share for share in shares}

    def closeness(retriever: str) -> float:
        return 1 / (RANK_OFFSET + by_name[retriever].rank) if retriever in by_name else 0.0

    def raw(retriever: str) -> float:
        return by_name[retriever].raw if retriever in by_name else 0.0

    age_days = 0.0
    if now is not None and not lesson.pinned:
        age_days = max(0.0, (now - lesson.recorded_at).total_seconds() / 86_400)
    return (
        closeness("text"),
        closeness("vector"),
        raw("path") / (1 + log(max(alike_paths, 1))),
        _overlap(stems, head),
        _overlap(symbols, {last_part(symbol) for symbol in lesson.symbols} if symbols else ()),
        coverage,
        raw("text") / most_text if most_text else 0.0,
        raw("vector"),
        raw("exact"),
        log1p(len(lesson.paths)),
        log1p(AGE_SCALE * age_days / profile_of(lesson.kind).half_life_days),
    )


def head_of(lesson: Lesson) -> str:
    """Return the beginning of the rule, which the feature `head_overlap` compares with the question."""
    return lesson.insight[:HEAD_CHARACTERS]


def judge(rows: Sequence[Sequence[float]]) -> list[float]:
    """Return the worth of each lesson from its features, in (0, 1]; the best has 1."""
    by_name = {name: [row[at] for row in rows] for at, name in enumerate(FEATURES)}
    weights = WITH_VECTORS if any(by_name["vector"]) else WORDS_ALONE if any(by_name["path"]) else WORDS_WITHOUT_PLACE
    scores = [sum(weight * value for weight, value in zip(weights, row, strict=True)) for row in rows]
    best = max(scores, default=0.0)
    return [exp((score - best) / SOFTNESS) for score in scores]


def last_part(symbol: str) -> str:
    """Return the last part of a symbol, case-folded: `put` for `Store.put#2`."""
    return symbol.partition("#")[0].replace("::", ".").rpartition(".")[2].casefold()


def _overlap(words: Collection[str], other: Collection[str]) -> float:
    """Return the share of different words that both have (Jaccard)."""
    mine = frozenset(words)
    shared = len(mine.intersection(other))
    return shared / (len(mine) + len(frozenset(other)) - shared) if shared else 0.0
