"""A small learned ranker for questions about code: which of the lessons that retrieval found is meant.

A linear model over eleven features of a question and a lesson. Its weights are data, fitted by
`python -m benchmarks.fit_ranker` on the histories of pytest and of SQLAlchemy before 2020: later commits that cite
earlier ones. Fitted on the other project it puts the cited commit among the first five by title for .50 of pytest's
questions instead of .41 and .57 of SQLAlchemy's instead of .39; with one file .54 instead of .47 and .64 instead of
.51. Without words it gains nothing.

It is used where somebody asks, among many lessons, where most of the candidates are anchored to code: it was fitted
on such memories alone. It is never used for what is delivered unasked: for that it did no better than rules.
"""

from __future__ import annotations

from math import exp, log, log1p

from holdfast.domain.kinds import profile_of
from holdfast.ranking.relevance import stems_of
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

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from holdfast.domain.briefing import LaneShare
    from holdfast.domain.lesson import Lesson

FEATURES = (
    "text_rank", "vector_rank", "path", "head_overlap", "symbol_overlap", "coverage", "text", "vector", "exact",
    "files", "age",
)  # fmt: skip
"""What a lesson is judged by, in the order of `features`."""


def applies(lessons: Sequence[Lesson], among: int) -> bool:
    """Whether the ranker's judgement holds: it is asked of many lessons, and most candidates are anchored to code."""
    anchored = sum(bool(lesson.anchors) for lesson in lessons)
    return among >= RANKED_LESSONS and anchored >= RANKED_ANCHORED * len(lessons) > 0


def features(
    lesson: Lesson,
    shares: Sequence[LaneShare],
    coverage: float,
    most_text: float,
    alike_paths: int,
    stems: Collection[str],
    symbols: Collection[str],
    now: datetime | None,
) -> tuple[float, ...]:
    """The features of a lesson, in the order of FEATURES.

    `most_text` is the best text score of all candidates; `alike_paths` how many of them are as near to the files in
    play as this one, for a place says less where many lessons share it; `stems` are the question's; `symbols` the last
    parts of the definitions in play, case-folded. Without `now` age does not count.
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
        _overlap(set(stems), stems_of(lesson.insight[:HEAD_CHARACTERS])),
        _overlap(set(symbols), {last_part(symbol) for symbol in lesson.symbols}),
        coverage,
        raw("text") / most_text if most_text else 0.0,
        raw("vector"),
        raw("exact"),
        log1p(len(lesson.paths)),
        log1p(AGE_SCALE * age_days / profile_of(lesson.kind).half_life_days),
    )


def judge(rows: Sequence[Sequence[float]]) -> list[float]:
    """The worth of each lesson from its features, in (0, 1]; the best has 1."""
    by_name = {name: [row[at] for row in rows] for at, name in enumerate(FEATURES)}
    weights = WITH_VECTORS if any(by_name["vector"]) else WORDS_ALONE if any(by_name["path"]) else WORDS_WITHOUT_PLACE
    scores = [sum(weight * value for weight, value in zip(weights, row, strict=True)) for row in rows]
    best = max(scores, default=0.0)
    return [exp((score - best) / SOFTNESS) for score in scores]


def last_part(symbol: str) -> str:
    """`put` of `Store.put#2`, case-folded."""
    return symbol.partition("#")[0].replace("::", ".").rpartition(".")[2].casefold()


def _overlap(words: set[str], other: Collection[str]) -> float:
    """The share of words that both have (Jaccard)."""
    shared = len(words.intersection(other))
    return shared / (len(words) + len(set(other)) - shared) if shared else 0.0
