"""Queries a question's retrievers and fuses their answers. `score` and `assemble` continue from there."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar, cast

from holdfast.domain.briefing import UNCONFIRMED, Ranked, RetrieverShare, Why
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import Freshness
from holdfast.errors import StoreError
from holdfast.freshness.check import FreshnessCheck
from holdfast.lessons.known import read_known
from holdfast.ports.services import Services
from holdfast.ports.store import Search, Store, TextMatches, damage_words
from holdfast.ranking.aim import Aim, task_of
from holdfast.ranking.fuse import NO_AIM, fuse, multipliers, score_of
from holdfast.ranking.relevance import (
    UNNAMED,
    LexicalOverlap,
    QueryTerms,
    lesson_stems,
    naming,
    overlap_of,
    runs_of,
    stem,
    weigh,
)
from holdfast.ranking.retrievers import (
    Hit,
    score_exact,
    score_linked,
    score_occasions,
    score_paths,
    score_pinned,
    score_recent,
    score_symbols,
    score_text,
    score_triggers,
    score_vector,
)
from holdfast.ranking.threshold import (
    UNKNOWN,
    CorpusSize,
    is_sufficient_alone,
)
from holdfast.ranking.tuning import COMMON_LEAST, COMMON_SHARE, MANY, NEARBY_HITS
from holdfast.recall.surroundings import way_to
from holdfast.recall.tuning import (
    ERRORS_COMPARED,
    LOOKED_AT,
    PLACE_DEPTH,
    POOL,
    RETRIEVER_DEPTH,
)
from holdfast.text.shell import command_target
from holdfast.text.signature import error_signature

R = TypeVar("R")

SETTLING = ("pinned", "recent")
"""Retrievers that settle ties; a lesson that only they find answers no particular question."""

PLACES = ("path", "symbol", "graph")
"""Retrievers that only say where lessons belong."""
BY_CHANCE = ("text", "vector")
"""Retrievers that find something in most stores, so the value of their best hit depends on the number of lessons."""
RETRIEVERS: dict[str, Callable[[Search, Query, int], list[Hit]]] = {
    "exact": lambda search, query, limit: score_exact(
        search.match_tokens(query), search.match_errors(query, ERRORS_COMPARED), limit
    ),
    "text": lambda search, query, limit: score_text(search.match_text(query, limit, NEARBY_HITS), limit),
    "path": lambda search, query, limit: score_paths(search.match_paths(query, limit), limit),
    "symbol": lambda search, query, limit: score_symbols(search.match_symbols(query, limit), limit),
    "graph": lambda search, query, limit: score_linked(search.match_linked(query, limit), query, limit),
    "recent": lambda search, query, limit: score_recent(search.list_recent(query, limit)),
    "pinned": lambda search, query, limit: score_pinned(search.list_pinned(query, limit)),
    "vector": lambda search, query, limit: score_vector(search.match_vector(query, limit)),
    "trigger": lambda search, query, limit: score_triggers(search.match_triggers(query, limit), limit),
    "occasion": lambda search, query, limit: score_occasions(search.match_occasions(query, limit)),
}
"""Every retriever by its name in `RetrieverShare.lane`. It scores the facts of a store: at most `limit`, best first."""
PARTICULAR = tuple(name for name in RETRIEVERS if name != "recent")
"""Retrievers for a question with a subject: there only a multiplier counts how recent a lesson is."""
TIMED = ("recent",)
"""The retriever for a question that names a time and no subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """The retrievers' matches, best first; `degraded` names retrievers that could not answer."""

    matches: tuple[RetrievedLesson, ...] = ()
    degraded: str = ""


def retrieve(
    services: Services,
    query: Query,
    retrievers: Iterable[str] = tuple(RETRIEVERS),
    pool: int = POOL,
    admit: Callable[[RetrievedLesson], bool] | None = None,
    answers: dict[Hashable, Any] | None = None,
) -> Retrieval:
    """Query the retrievers, fuse, read the best `pool` lessons and measure their lexical overlap; best first.

    `admit` drops matches that a moment cannot use. `answers` is for a question that is asked in several wordings: it
    keeps what a store answered to those parts of the question that are the same. Raises StoreError when no retriever
    could answer.
    """
    search = _Search(services.store, {} if answers is None else answers)
    rankings, corpus_size, common, failures = _ask(search, query, retrievers, max(RETRIEVER_DEPTH, pool))
    shares_by_id = fuse(rankings, pool)
    weights = {hit.id: hit.weight for hit in rankings.get("text", ())}
    question_stems = weigh(asked_words(query), common)
    runs = runs_of(query.text)
    aim = Aim(task=task_of(query.text), since=query.since, until=query.until)
    matches = []
    for known in read_known(services.store, list(shares_by_id), query.as_of):
        lesson = known.lesson
        stems = known.stems if question_stems.stems or len(shares_by_id) > 1 else frozenset()
        shares = shares_by_id[lesson.id]
        matches.append(RetrievedLesson(
            lesson=lesson, shares=shares, overlap=overlap_of(question_stems, stems), stems=stems, aim=aim,
            via=way_to(query.linked, lesson.paths) if not any(map(is_sufficient_alone, shares)) else "",
            named=naming(lesson, runs), corpus=CorpusSize(lessons=corpus_size, stems=len(stems)),
            weight=weights.get(lesson.id, 0.0), head=known.head,
        ))  # fmt: skip
    admitted = tuple(match for match in matches if admit is None or admit(match))
    return Retrieval(matches=admitted, degraded="; ".join(filter(None, [*failures, damage_words(services.store)])))


def unretrieved(lesson: Lesson, question_stems: QueryTerms) -> RetrievedLesson:
    """Return a lesson that no retriever matches as a match, with its lexical overlap."""
    stems = lesson_stems(lesson)
    return RetrievedLesson(
        lesson=lesson,
        shares=(RetrieverShare(lane="link", rank=1, raw=1.0, share=0.0),),
        overlap=overlap_of(question_stems, stems),
        stems=stems,
    )


def asked_words(query: Query) -> str:
    """Return all texts of the query whose words are compared with lessons."""
    if not (query.error or query.command):
        return " \n ".join(filter(None, (query.text, *query.symbols)))
    error = error_signature(query.error) if query.error and query.error != query.text else ""
    return " \n ".join(filter(None, (query.text, error, command_target(query.command), *query.symbols)))


@dataclass(frozen=True, slots=True)
class _Search:
    """The searches of one recall. What does not depend on the words of the question is asked once."""

    store: Store
    answers: dict[Hashable, Any]

    def hits(self, name: str, query: Query, depth: int) -> list[Hit]:
        """Return the hits of a retriever other than text."""
        if name == "vector":
            return RETRIEVERS[name](self.store, query, depth)
        if name == "exact":
            errors = self._once(("errors", _wordless(query)), lambda: self.store.match_errors(query, ERRORS_COMPARED))
            return score_exact(self.store.match_tokens(query), errors, depth)
        return self._once((name, _wordless(query), depth), lambda: RETRIEVERS[name](self.store, query, depth))

    def count(self, query: Query) -> int:
        """Return how many confirmed lessons are searched: what waits for a person makes nothing harder to find."""
        confirmed = tuple(state for state in query.states if state not in UNCONFIRMED) or query.states
        key = "count", query.project, query.all_projects, confirmed
        return self._once(key, lambda: self.store.count_lessons(replace(query, states=confirmed), MANY))

    def _once(self, key: Hashable, ask: Callable[[], R]) -> R:
        if key not in self.answers:
            self.answers[key] = ask()
        return cast("R", self.answers[key])


def _wordless(query: Query) -> Query:
    """Return the query without its words and their vector: only text, vector and exact names depend on them."""
    return replace(query, text="", vector=(), embedder_id="")


def _ask(
    search: _Search, query: Query, retrievers: Iterable[str], depth: int
) -> tuple[dict[str, list[Hit]], int, frozenset[str], list[str]]:
    """Return each retriever's hits, the number of lessons searched, stems that many lessons have, and failures.

    Raises StoreError when no retriever could answer.
    """
    answers: dict[str, list[Hit]] = {}
    corpus_size = 0
    common: frozenset[str] = frozenset()
    failures: list[str] = []
    failed: StoreError | None = None
    retrievers = tuple(retrievers)
    for name in retrievers:
        if name == "vector" and not query.vector:
            continue
        try:
            deep = name in PLACES and "text" in retrievers and bool(query.text)
            if name == "text":
                matches = search.store.match_text(query, depth, NEARBY_HITS)
                hits, common = score_text(matches, depth), common_stems(matches)
            else:
                hits = search.hits(name, query, max(depth, PLACE_DEPTH) if deep else depth)
            if hits and name in BY_CHANCE and not corpus_size:
                corpus_size = search.count(query)
            answers[name] = hits
        except StoreError as exc:
            failed = exc
            failures.append(f"{name}: {exc}")
    if failed is not None and not answers:
        raise failed
    return answers, corpus_size, common, failures


def common_stems(matches: TextMatches) -> frozenset[str]:
    """Return the stems of the question's words that many lessons have: they point at none of them."""
    if matches.lessons < COMMON_LEAST:
        return frozenset()
    return frozenset(stem(term) for term, count in matches.terms if count > COMMON_SHARE * matches.lessons)


# Gives each match its score, its reason, and its freshness as of now


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievedLesson:
    """A lesson that retrievers found, with its lexical overlap."""

    lesson: Lesson
    shares: tuple[RetrieverShare, ...]
    overlap: LexicalOverlap
    stems: frozenset[str]
    aim: Aim = NO_AIM
    via: str = ""
    """For a lesson about another file than those in play: how that file is linked to them."""
    named: int = UNNAMED
    """Whether the question contains a name of it: see `ranking.relevance`."""
    corpus: CorpusSize = UNKNOWN
    """The amount of text that the question could match by chance."""
    weight: float = 0.0
    """The lesson's own BM25, without shares from neighbouring hits."""
    head: tuple[str, ...] = ()
    """The stems of its beginning, for the ranker."""


def score_matches(
    services: Services,
    location: Location,
    matches: Sequence[RetrievedLesson],
    because: str = "",
    offer: Callable[[list[tuple[Ranked, RetrievedLesson]]], None] | None = None,
) -> list[tuple[Ranked, RetrievedLesson]]:
    """Return the matches with score, reason and freshness as of now, best first. Ranks are set when they are chosen.

    `because` is the moment's own reason; otherwise retrievers and words give it. A close freshness check can take
    longer than a host waits, so `offer` is called with the list as it is before the first one; it is not called when
    no close check is needed.
    """
    check = FreshnessCheck(services, location)
    now = services.clock.now()
    quick_checked = ((match, check.quick_check(match.lesson)) for match in matches)
    scored = sorted(
        (_score_match(match, judged, because, now, check.share(match.lesson)) for match, judged in quick_checked),
        key=_best_first,
    )
    while lesson := check.next_to_verify([ranked.lesson for ranked, _ in scored[:LOOKED_AT]]):
        if offer is not None:
            offer(scored)
            offer = None
        judged, share = check.judge(lesson), check.share(lesson)
        again = (
            _score_match(match, judged, because, now, share) if match.lesson is lesson else (r, match)
            for r, match in scored
        )
        scored = sorted(again, key=_best_first)
    return scored


def _score_match(
    match: RetrievedLesson, judged: tuple[Freshness, str], because: str, now: datetime, share: float
) -> tuple[Ranked, RetrievedLesson]:
    freshness, caveat = judged
    why = Why(
        shares=match.shares,
        multipliers=multipliers(match.lesson, freshness, now, match.aim, share),
        words=(match.via and reason(match)) or because or reason(match),
    )
    ranked = Ranked(lesson=match.lesson, rank=1, score=score_of(why), why=why, freshness=freshness, caveat=caveat)
    return ranked, match


def _best_first(pair: tuple[Ranked, RetrievedLesson]) -> tuple[float, str]:
    return -pair[0].score, pair[0].lesson.id


def reason(match: RetrievedLesson) -> str:
    """Return why it was chosen, in a few words."""
    reasons = [match.via] if match.via else []
    for share in match.shares:
        if share.lane in SETTLING or (share.lane in _REASONS and is_sufficient_alone(share)):
            reasons.append(_REASONS[share.lane])
    if match.overlap.matched:
        reasons.append("shares " + ", ".join(match.overlap.matched[:4]))
    return "; ".join(reasons) or "nearest"


_REASONS = {
    "exact": "names the same thing", "path": "about this file", "symbol": "about this symbol",
    "vector": "similar in meaning", "pinned": "pinned", "recent": "recent",
}  # fmt: skip
