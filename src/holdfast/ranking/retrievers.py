"""Turns the facts of a store into each retriever's hits with scores, best first, newer first among equals.

- exact: names, errors and commands. The chances of several tokens combine as independent ones do.
- text: the share (0 to 1) that a lesson's BM25 is of the most that the question's terms could give, times 1 to
  FAMILIAR_MOST for how familiar its words are here (ADR 27), plus shares of the scores of neighbouring hits. A hit's
  weight is its own BM25 with the same factor.
- path, symbol, linked, triggers: the nearest relation to the question counts.
- recent, pinned, occasion, vector: the fact is the score.

An answer rarely repeats the words of its question, so a lesson takes a share of the text score of the lesson before it
and of the best of its session. On turns of recorded conversations that finds a tenth more than words alone. On lessons
of coding sessions its effect cannot be told from chance. A share for the lesson before a hit has no effect on either,
so there is none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log, log2

from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.store import (
    ErrorMatches,
    LinkedMatch,
    Numbered,
    PathMatch,
    PinnedMatch,
    RecentMatch,
    SymbolMatch,
    TextMatch,
    TextMatches,
    TokenMatch,
    TriggerMatch,
    VectorMatch,
)
from holdfast.ranking.tuning import (
    AFTER_SHARE,
    AROUND_FACTOR,
    ASKED_LINK,
    EXACT_LEAST,
    FAMILIAR,
    FAMILIAR_ENOUGH,
    FAMILIAR_MOST,
    IDF_LEAST,
    LEVEL_FACTORS,
    NAME_WORTH,
    NAMED_ONLY,
    NEAR_ERROR_LEAST,
    NEAR_ERROR_WORDS,
    NEAR_ERROR_WORTH,
    NEARBY_HITS,
    PATH_WORTH,
    SESSION_HITS,
    SESSION_SHARE,
    SHARING_SCALE,
    SURE_SOURCES,
    TERM_MOST,
    TOKEN_WORTH,
    TRIGGER_WORTH,
)
from holdfast.text.searchkeys import LINKED_LIMIT
from holdfast.text.words import terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A lesson that a retriever found. Scores are larger for better hits and comparable only within the retriever."""

    id: LessonId
    score: float = 0.0
    weight: float = 0.0
    """For a text hit: the lesson's own BM25, of which the score is a share; 0 for a lesson that is only near a hit."""


def score_exact(tokens: Iterable[TokenMatch], errors: ErrorMatches, limit: int) -> list[Hit]:
    """Return the lessons that have names, errors and commands of the question."""
    scores: dict[Numbered, float] = {}
    for match in tokens:
        worth = TOKEN_WORTH[match.source]
        if match.source not in SURE_SOURCES:
            worth /= 1 + log2(match.sharing) / SHARING_SCALE
        for lesson in match.lessons:
            scores[lesson] = 1 - (1 - scores.get(lesson, 0.0)) * (1 - worth)
    asked_words = frozenset(terms(errors.signature))
    for signature, lesson in errors.lessons if len(asked_words) >= NEAR_ERROR_WORDS else ():
        words = frozenset(terms(signature))
        share = len(asked_words & words) / len(asked_words | words)
        if share >= NEAR_ERROR_LEAST:
            scores[lesson] = max(NEAR_ERROR_WORTH * share, scores.get(lesson, 0.0))
    return _best({lesson: score for lesson, score in scores.items() if score >= EXACT_LEAST}, limit)


def score_text(answer: TextMatches, limit: int) -> list[Hit]:
    """Return the lessons that have words of the question, and the lessons learnt next to them."""
    most = TERM_MOST * fsum(_idf(count, answer.lessons) for _, count in answer.terms) or 1.0
    factor = _familiarity(max((count for _, count in answer.terms), default=0))
    if answer.kind == "share":
        factor *= most
    weights = {match.lesson: factor * match.score for match in answer.matches}
    shares = {lesson: weight / most for lesson, weight in weights.items()}
    return _best(_with_nearby(shares, answer.matches), limit, weights)


def _idf(count: int, lessons: int) -> float:
    """Return BM25's inverse document frequency, with a floor."""
    return max(IDF_LEAST, log((max(lessons - count, 0) + 0.5) / (count + 0.5)))


def _familiarity(most_common: int) -> float:
    """Return the factor for how many lessons have the question's most common word."""
    growth = log(max(most_common, FAMILIAR) / FAMILIAR) / log(FAMILIAR_ENOUGH / FAMILIAR)
    return min(FAMILIAR_MOST, 1 + (FAMILIAR_MOST - 1) * growth)


def _with_nearby(scores: Mapping[Numbered, float], matches: Sequence[TextMatch]) -> dict[Numbered, float]:
    """Return the scores plus the shares that hits give to their session and to the lesson learnt next."""
    shared = dict(scores)
    session_of: dict[Numbered, str] = {}
    hits_of: dict[str, list[float]] = {}
    for match in sorted(matches, key=lambda match: (-scores[match.lesson], -match.lesson[0]))[:NEARBY_HITS]:
        if not match.session:
            continue
        score = scores[match.lesson]
        hits_of.setdefault(match.session, []).append(score)
        session_of[match.lesson] = match.session
        if match.after is not None:
            session_of[match.after] = match.session
            shared[match.after] = shared.get(match.after, 0.0) + AFTER_SHARE * score
    for lesson, session in session_of.items():
        shared[lesson] += SESSION_SHARE * sum(sorted(hits_of[session], reverse=True)[:SESSION_HITS])
    return shared


def score_paths(matches: Iterable[PathMatch], limit: int) -> list[Hit]:
    """Return the lessons about the query's files, and about what is near them."""
    worths = (
        (PATH_WORTH[match.relation] * LEVEL_FACTORS[match.relation] ** match.levels, match.lessons) for match in matches
    )
    return _best(_highest(worths), limit)


def score_symbols(matches: Iterable[SymbolMatch], limit: int) -> list[Hit]:
    """Return the lessons about the query's definitions, their enclosing definitions and their members."""
    return _best(_highest((_worth_of_name(match), match.lessons) for match in matches), limit)


def _worth_of_name(match: SymbolMatch) -> float:
    worth = NAME_WORTH[match.relation] * AROUND_FACTOR**match.levels
    return worth if match.is_anchor else NAMED_ONLY * worth


def score_linked(matches: Iterable[LinkedMatch], query: Query, limit: int) -> list[Hit]:
    """Return the lessons about files linked to those in play, scored by the heaviest link."""
    weights: dict[str, float] = {}
    for neighbour in query.linked[:LINKED_LIMIT]:
        weights[neighbour.path] = max(neighbour.weight, weights.get(neighbour.path, 0.0))
    weights.update(dict.fromkeys(query.paths, ASKED_LINK))
    return _best(_highest((weights[match.path], match.lessons) for match in matches), limit)


def score_triggers(matches: Iterable[TriggerMatch], limit: int) -> list[Hit]:
    """Return the lessons with a matching trigger."""
    return _best(_highest((TRIGGER_WORTH[match.kind], match.lessons) for match in matches), limit)


def score_occasions(ids: Iterable[LessonId]) -> list[Hit]:
    """Return the lessons of an occasion in order, each with the score 1."""
    return [Hit(id=id_, score=1.0) for id_ in ids]


def score_vector(matches: Iterable[VectorMatch]) -> list[Hit]:
    """Return the lessons near in meaning, scored by cosine."""
    return [Hit(id=match.id, score=match.cosine) for match in matches]


def score_recent(matches: Iterable[RecentMatch]) -> list[Hit]:
    """Return the lessons scored by when they were recorded, in seconds since 1970."""
    return [Hit(id=match.id, score=match.recorded_at.timestamp()) for match in matches]


def score_pinned(matches: Iterable[PinnedMatch]) -> list[Hit]:
    """Return the pinned lessons scored by salience."""
    return [Hit(id=match.id, score=match.salience) for match in matches]


def _highest(worths: Iterable[tuple[float, Sequence[Numbered]]]) -> dict[Numbered, float]:
    """Return each lesson with the largest worth of its matches."""
    scores: dict[Numbered, float] = {}
    for worth, lessons in worths:
        for lesson in lessons:
            scores[lesson] = max(worth, scores.get(lesson, worth))
    return scores


def _best(scores: Mapping[Numbered, float], limit: int, weights: Mapping[Numbered, float] | None = None) -> list[Hit]:
    """Return the best hits, newer first among equals."""
    weights = weights or {}
    newest_first = sorted(scores, reverse=True)
    best_first = sorted(newest_first, key=scores.__getitem__, reverse=True)
    return [
        Hit(id=lesson[1], score=scores[lesson], weight=weights.get(lesson, 0.0))
        for lesson in best_first[: max(0, limit)]
    ]
