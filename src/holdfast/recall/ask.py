"""Answers explicit questions from the command line, MCP and the SDK.

An answer differs from a delivery at a moment. A learned ranker orders lessons about code. Unconfirmed lessons compete
with the others and are marked. Contradicting lessons come as one block. A question for a kind of lesson is recognised.
When no lesson passes the threshold, a closest one that leads clearly is the answer; otherwise the closest are named.
The first lessons are the same for every limit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.compare.contradiction import relation
from holdfast.domain.briefing import Briefing, Ranked, RetrieverShare
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import TRUSTS, LessonId, Moment, State
from holdfast.errors import LessonNotFoundError
from holdfast.lean.texts import short_id
from holdfast.outcomes.standing import OrderEvidence, order_evidence
from holdfast.ports.services import Services
from holdfast.ranking.aim import kinds_asked, says_only_when, with_verbs
from holdfast.ranking.fuse import Rival, diversify, is_exact, total
from holdfast.ranking.fuse import total as fuse_total
from holdfast.ranking.ranker import applies, features, judge, last_part
from holdfast.ranking.relevance import TELLING, UNNAMED, lesson_stems, overlap_of, stem, weigh
from holdfast.ranking.threshold import (
    ASKED,
    PUSHED,
    Threshold,
    is_certain,
    is_linked,
    meaning_meets_threshold,
    words_meet_threshold,
)
from holdfast.ranking.tuning import AIM_CHARACTERS, WEIGHED_TERMS, WORD_WEIGHT
from holdfast.recall.embed import is_embedded_here
from holdfast.recall.failure import answers_failure, read_failure
from holdfast.recall.question import with_vector
from holdfast.recall.retrieve import (
    PARTICULAR,
    RETRIEVERS,
    SETTLING,
    TIMED,
    Retrieval,
    RetrievedLesson,
    asked_words,
    retrieve,
    score_matches,
    unretrieved,
)
from holdfast.recall.surroundings import linked_files
from holdfast.recall.tuning import (
    ASKED_POOL,
    FOREMOST,
    LEAD,
    LEADER_COVERAGE,
    LINKS_FOLLOWED,
    NEAR_MEANING,
    NEAR_SHOWN,
    ON_DEMAND_LINE_TOKENS,
    POOL,
    POOL_LIMIT,
    SIMILAR,
    WITH_OPPONENTS,
)
from holdfast.rendering.lines import (
    LINE_TOKENS,
    Line,
    compile_line,
    count_tokens,
    fit_budget,
    frame_tokens,
    is_from_commit,
    more_line,
    render_block,
)
from holdfast.text.orders import reservation
from holdfast.text.words import terms

FOLLOWED = ("relates_to", "refines", "caused_by")
"""Kinds of links that are followed from a lesson that the question names."""

Pair = tuple[Ranked, RetrievedLesson]

ANSWERING: tuple[str, ...] = ("person", "verified", "agent")
"""Trusts whose unconfirmed lessons answer. What a repository or a tool states waits until a person has read it, except
lessons from commits that name no host or credential and run nothing that they fetch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """The result of one search, best first."""

    passed: tuple[Pair, ...] = ()
    """The lessons that passed the threshold, at most ASKED_POOL."""
    further: tuple[Pair, ...] = ()
    """Lessons after those, if the limit asks for more."""
    failed: tuple[RetrievedLesson, ...] = ()
    """Lessons that did not pass."""
    notes: str = ""


def ask(
    services: Services,
    location: Location,
    query: Query,
    *,
    limit: int,
    budget_tokens: int,
    moment: Moment = "on_demand",
    unconfirmed: tuple[State, ...] = (),
) -> Briefing:
    """Return the few lessons that answer the query, or none and the nearest. An empty query asks in general.

    Lessons in the `unconfirmed` states answer like all others, unless a repository or a tool stated them.
    """
    # Another machine may take long to embed the question; others may wait for the store meanwhile.
    placed = None if is_embedded_here(services) else with_vector(services, query)
    with services.store.reading():
        query, degraded = placed or with_vector(services, query)
        if query.paths and not query.linked:
            query = replace(query, linked=linked_files(services, location, query.paths))
        if unconfirmed and query.as_of is None and moment == "on_demand":
            more = (state for state in unconfirmed if state not in query.states)
            query = replace(query, states=(*query.states, *more))
        matches = _search(services, query, frozenset(unconfirmed)) if moment == "on_demand" else _Matches()
        evidence = order_evidence(services.store, location.project.id)
    if moment != "on_demand":
        return _push(services, location, query, limit, budget_tokens, moment, degraded)
    answer = _order(services, location, query, limit, frozenset(unconfirmed), matches, evidence)
    notes = "; ".join(filter(None, (degraded, answer.notes)))
    if not answer.passed:
        near = score_matches(
            services, location, sorted(answer.failed, key=lambda match: -total(match.shares))[:NEAR_SHOWN]
        )
        if not _leads(near):
            rest = len(answer.failed) - len(near)
            return Briefing(near=tuple(item for item, _ in near), near_more=rest, degraded=notes)
        answer = replace(answer, passed=tuple(near[:1]))
    pairs, disputes = _with_opponents(services, location, query, answer.passed)
    # Further lessons come last, so that the first ones are the same for every limit.
    return _assemble_blocks([*pairs, *answer.further], disputes, limit, budget_tokens, notes)


def _leads(near: Sequence[Pair]) -> bool:
    """Return whether the first of the closest lessons has a telling word of the question and a clear lead."""
    if not near or near[0][1].overlap.weight < WORD_WEIGHT or near[0][1].overlap.coverage < LEADER_COVERAGE:
        return False
    return len(near) < 2 or near[0][0].score >= LEAD * near[1][0].score


def find(
    services: Services,
    query: Query,
    retrievers: Iterable[str],
    pool: int = ASKED_POOL,
    unconfirmed: frozenset[str] = frozenset(),
    answers: dict[Hashable, Any] | None = None,
) -> Retrieval:
    """Query the retrievers for a direct question; the ranker orders lessons about code. `answers`: see `retrieve`."""
    retrieval = retrieve(
        services, query, retrievers, pool=pool, admit=lambda match: _may_answer(match, unconfirmed), answers=answers
    )
    return replace(retrieval, matches=_by_ranker(services, query, retrieval.matches))


def _may_answer(match: RetrievedLesson, unconfirmed: frozenset[str]) -> bool:
    lesson = match.lesson
    if lesson.state not in unconfirmed or lesson.trust in ANSWERING:
        return True
    return is_from_commit(lesson) and not reservation(f"{lesson.title}\n{lesson.insight}")


def _by_ranker(services: Services, query: Query, matches: tuple[RetrievedLesson, ...]) -> tuple[RetrievedLesson, ...]:
    """Add a share to each lesson that puts the lessons in the ranker's order; return them unchanged if it is not valid.

    Exact matches keep their floor. The share is the difference between the ranker's score and the fused score, so that
    the shares still add up to the score.
    """
    # Without words nothing matches by chance: then the lessons are not counted, and the ranker does not apply.
    if not matches or not applies([match.lesson for match in matches], matches[0].corpus.lessons):
        return matches
    worths = judge(rows_of(services, query, matches))
    most = max((total(match.shares) for match in matches if not is_exact(match.shares)), default=0.0)
    order = sorted(range(len(matches)), key=lambda at: (not is_exact(matches[at].shares), -worths[at], at))
    ranked = []
    for rank, at in enumerate(order, start=1):
        match, worth = matches[at], worths[at]
        if not is_exact(match.shares):
            share = RetrieverShare(lane="ranker", rank=rank, raw=worth, share=worth * most - total(match.shares))
            match = replace(match, shares=(*match.shares, share))
        ranked.append(match)
    return tuple(ranked)


def rows_of(services: Services, query: Query, matches: Sequence[RetrievedLesson]) -> list[tuple[float, ...]]:
    """Return the ranker's features of each lesson."""
    stems = frozenset(map(stem, terms(asked_words(query))[:WEIGHED_TERMS]))
    symbols = frozenset(map(last_part, query.symbols))
    most_text = max((share.raw for match in matches for share in match.shares if share.lane == "text"), default=0.0)
    # A question that names a time does not prefer the newest lessons.
    now = None if query.since or query.until else query.as_of or services.clock.now()
    places = [next((share.raw for share in match.shares if share.lane == "path"), 0.0) for match in matches]
    ascending = sorted(places)
    return [
        features(
            match.lesson, match.shares, match.overlap.coverage, most_text,
            len(places) - bisect_left(ascending, place), stems, symbols, now, match.head,
        )
        for match, place in zip(matches, places, strict=True)
    ]  # fmt: skip


def _push(
    services: Services, location: Location, query: Query, limit: int, budget_tokens: int, moment: Moment, degraded: str
) -> Briefing:
    """Answer the question in the way that a delivery at that moment would."""
    retrieval = retrieve(services, query, PARTICULAR, pool=max(POOL, min(2 * limit, POOL_LIMIT)))
    good = filter_relevant(services, query, retrieval.matches, PUSHED)
    ranked = score_matches(services, location, good)
    notes = "; ".join(filter(None, (degraded, retrieval.degraded)))
    return assemble(ranked, moment=moment, limit=limit, budget_tokens=budget_tokens, degraded=notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matches:
    """What the readings of a question found, each lesson with its best match, and notes."""

    passed: dict[LessonId, RetrievedLesson] = field(default_factory=dict)
    all: dict[LessonId, RetrievedLesson] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)


def _search(services: Services, query: Query, unconfirmed: frozenset[str]) -> _Matches:
    """Search the lessons in the query's states with every reading of the question."""
    matches = _Matches()
    answers: dict[Hashable, Any] = {}
    for one_query, retrievers in _readings(query):
        retrieval = find(services, one_query, retrievers, unconfirmed=unconfirmed, answers=answers)
        matches.notes[retrieval.degraded] = None
        good = _passing(services, one_query, retrieval.matches, retrievers)
        foremost = {match.lesson.id for match in retrieval.matches[:FOREMOST]}
        if any(match.lesson.id in foremost for match in good):
            _keep_best(matches.passed, good)
        _keep_best(matches.all, retrieval.matches)
    return matches


def _order(
    services: Services, location: Location, query: Query, limit: int, unconfirmed: frozenset[str], matches: _Matches,
    evidence: OrderEvidence,
) -> _Answer:  # fmt: skip
    """Return the matches that passed in their order, checked against the code now."""
    passed = matches.passed
    best = sorted(passed.values(), key=lambda match: -total(match.shares))[:ASKED_POOL]
    ranked = _diversified([(evidence.apply(item), match) for item, match in score_matches(services, location, best)])
    ranked.sort(key=lambda pair: evidence.is_hurt(pair[0].lesson.id))  # exact matches, too, come after all others
    further: list[Pair] = []
    if limit > ASKED_POOL:
        further = _further(services, location, query, [match.lesson.id for match in best], unconfirmed)
    failed = (match for id_, match in matches.all.items() if id_ not in passed)
    return _Answer(
        passed=tuple(ranked), further=tuple(further), notes="; ".join(filter(None, matches.notes)),
        failed=tuple(match for match in failed if any(map(says_something, match.shares))),
    )  # fmt: skip


def _readings(query: Query) -> list[tuple[Query, tuple[str, ...]]]:
    """Return the queries that a question stands for, each with its retrievers.

    A question that names only a time or a kind lists all such lessons. A question for a kind of lesson about something
    is also asked among the lessons of that kind, without the words for the kind. One that names a tool (the linter) is
    asked again by what it does (lint). An error is asked as a text, like any
    question, and again by its signature and class without the output around it.
    """
    says = bool(query.text or query.symbols or query.command or query.error)
    if (query.since or query.until) and says_only_when(query.text) and not query.paths:
        return [(query, TIMED)]
    if not (says or query.paths):
        return [(query, tuple(RETRIEVERS))]
    readings = [(query, PARTICULAR)]
    kinds, subject = kinds_asked(query.text)
    if kinds and not query.kinds:
        of_kind = replace(query, kinds=kinds, text=subject)
        if not subject and not query.paths:
            return [(of_kind, TIMED)]
        readings.append((of_kind, PARTICULAR))
    verbs = with_verbs(query.text)
    if verbs != " ".join(query.text[:AIM_CHARACTERS].split()):
        readings.append((replace(query, text=verbs), PARTICULAR))
    if query.error:
        words = read_failure(query.error, query.command).words
        if words and words != query.text:
            readings.append((replace(query, text=words, vector=(), embedder_id=""), PARTICULAR))
    return readings


def _passing(
    services: Services, query: Query, matches: tuple[RetrievedLesson, ...], retrievers: tuple[str, ...]
) -> list[RetrievedLesson]:
    """Return the matches that pass the threshold of a direct question."""
    if retrievers != PARTICULAR:
        return list(matches)
    good = filter_relevant(services, query, matches, ASKED)
    passed = {match.lesson.id for match in good}
    if not (query.text or query.symbols or query.command or query.error):
        good += [match for match in matches if match.lesson.id not in passed and is_linked(match.shares)]
    if query.error:
        failure = read_failure(query.error, query.command)
        good += [match for match in matches if match.lesson.id not in passed and answers_failure(failure, match.lesson)]
    return good


def _keep_best(known: dict[LessonId, RetrievedLesson], matches: Iterable[RetrievedLesson]) -> None:
    """Add the matches; where several readings found a lesson, keep the match with the better score."""
    for match in matches:
        before = known.get(match.lesson.id)
        if before is None or total(match.shares) > total(before.shares):
            known[match.lesson.id] = match


def _further(
    services: Services, location: Location, query: Query, known: Sequence[LessonId], unconfirmed: frozenset[str]
) -> list[Pair]:
    """Return lessons beyond those that the ranker ordered, for a caller with a high limit."""
    query, retrievers = _readings(query)[0]
    query = replace(query, exclude=(*query.exclude, *known))
    retrieval = retrieve(
        services, query, retrievers, pool=POOL_LIMIT, admit=lambda match: _may_answer(match, unconfirmed)
    )
    return score_matches(services, location, _passing(services, query, retrieval.matches, retrievers))


def _diversified(ranked: Sequence[Pair]) -> list[Pair]:
    """Return all pairs, with near copies behind the lessons that say something new."""
    rivals = [
        Rival(score=r.score, terms=f.stems, session=f.lesson.provenance.session, exact=is_exact(f.shares))
        for r, f in ranked
    ]
    return [ranked[at] for at, _ in diversify(rivals, len(rivals))]


def _assemble_blocks(
    pairs: Sequence[Pair], disputes: Sequence[tuple[LessonId, LessonId]], limit: int, budget_tokens: int, notes: str
) -> Briefing:
    """Return a briefing with the first lessons, in order, that fit the limit and the budget."""
    room = budget_tokens - frame_tokens(more_line(max(len(pairs), 1), "holdfast recall"))
    items: list[Ranked] = []
    lines: list[Line] = []
    for ranked, _ in pairs:
        if len(items) == limit:
            break
        line = compile_line(ranked.lesson, _remark(ranked, disputes), ON_DEMAND_LINE_TOKENS)
        if line.tokens <= room:
            room -= line.tokens
            items.append(replace(ranked, rank=len(items) + 1))
            lines.append(line)
    shown = {item.lesson.id for item in items}
    text = render(_with_headings(items, lines, disputes), len(pairs) - len(items), "holdfast recall", "")
    return Briefing(
        items=tuple(items),
        more=len(pairs) - len(items),
        tokens=count_tokens(text),
        disputes=tuple(pair for pair in disputes if shown.issuperset(pair)),
        text=text,
        degraded=notes,
    )


DISAGREE = "These two disagree; the first is better proven or newer:"


def _with_headings(
    items: Sequence[Ranked], lines: Sequence[Line], disputes: Sequence[tuple[LessonId, LessonId]]
) -> list[Line]:
    """Return the lines, with a heading before two that disagree."""
    headed: list[Line] = []
    for at, line in enumerate(lines):
        if tuple(item.lesson.id for item in items[at : at + 2]) in disputes:
            headed.append(Line(text=DISAGREE, tokens=count_tokens(DISAGREE)))
        headed.append(line)
    return headed


def _remark(ranked: Ranked, disputes: Sequence[tuple[LessonId, LessonId]]) -> str:
    """Return a note besides the rule and its source: what contradicts it, and what changed in its code."""
    id_ = ranked.lesson.id
    others = [first if other == id_ else other for first, other in disputes if id_ in (first, other)]
    against = "disagrees with " + ", ".join(map(short_id, others)) if others else ""
    return "; ".join(filter(None, (against, ranked.caveat)))


def _with_opponents(
    services: Services, location: Location, query: Query, passed: Sequence[Pair]
) -> tuple[list[Pair], tuple[tuple[LessonId, LessonId], ...]]:
    """Put the first opponent of each of the best lessons beside it; return the lessons, and pairs better one first."""
    passed = [*passed, *_linked_opponents(services, location, query, passed)]
    ordered: list[Pair] = []
    disputes: list[tuple[LessonId, LessonId]] = []
    placed: set[LessonId] = set()
    for position, pair in enumerate(passed):
        if pair[1].lesson.id in placed:
            continue
        rivals = passed if position < WITH_OPPONENTS else []
        opponent = next(
            (other for other in rivals if other[1].lesson.id not in placed and _disagree(pair, other)), None
        )
        block = sorted((pair, opponent), key=_proof) if opponent else [pair]
        ordered += block
        placed.update(match.lesson.id for _, match in block)
        if opponent:
            disputes.append((block[0][1].lesson.id, block[1][1].lesson.id))
    return ordered, tuple(disputes)


def _linked_opponents(services: Services, location: Location, query: Query, passed: Sequence[Pair]) -> list[Pair]:
    """Return the lessons that a match says it contradicts and that are not among the matches."""
    if query.as_of is not None:
        return []
    known = {match.lesson.id for _, match in passed}
    opponents = []
    for target in [link.target for _, match in passed for link in match.lesson.links if link.kind == "contradicts"]:
        if target in known or target in query.exclude:
            continue
        known.add(target)
        try:
            (lesson,) = services.store.get([target])
        except LessonNotFoundError:
            continue
        if is_visible(lesson, replace(query, states=("active",))):
            opponents.append(unretrieved(lesson, weigh(asked_words(query))))
    return score_matches(services, location, opponents, because="contradicts a lesson that was found")


def _disagree(pair: Pair, other: Pair) -> bool:
    """Return whether two lessons contradict each other: by a link, or as opposed rules about the same thing."""
    mine, theirs = pair[1].lesson, other[1].lesson
    if mine.id == theirs.id:
        return False
    if _contradicts(mine, theirs) or _contradicts(theirs, mine):
        return True
    if not _are_similar(pair[1].stems, other[1].stems):
        return False
    if mine.paths and theirs.paths and not set(mine.paths) & set(theirs.paths):
        return False
    return relation(mine.insight, theirs.insight).kind == "contradicts"


def _are_similar(stems: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two rules have enough stems in common (Jaccard) to be compared."""
    if min(len(stems), len(other)) < SIMILAR * max(len(stems), len(other)):
        return False  # even if all of the shorter one were in the longer one
    shared = len(stems & other)
    return shared >= SIMILAR * (len(stems) + len(other) - shared)


def _contradicts(lesson: Lesson, other: Lesson) -> bool:
    return bool(lesson.links) and any(link.kind == "contradicts" and link.target == other.id for link in lesson.links)


def _proof(pair: Pair) -> tuple[bool, int, float]:
    """Return a sort key: confirmed lessons first, then the most trusted, then the newest."""
    lesson = pair[1].lesson
    return pair[0].is_unconfirmed, TRUSTS.index(lesson.trust), -lesson.recorded_at.timestamp()


# Assembles an answer from matches: which may be delivered, how many of them, in which order, as which lines


def filter_relevant(
    services: Services, query: Query, matches: Sequence[RetrievedLesson], threshold: Threshold
) -> list[RetrievedLesson]:
    """Return the matches that pass by a name, a place, their meaning or words, and the lessons linked to named ones.

    A question that names a lesson is about that lesson: all others then need strong words.
    """

    def has_words(match: RetrievedLesson) -> bool:
        return words_meet_threshold(match.overlap, threshold, match.shares, match.corpus)

    def is_named(match: RetrievedLesson) -> bool:
        return match.named == TELLING or (match.named != UNNAMED and has_words(match))

    def is_relevant(match: RetrievedLesson) -> bool:
        if some_named:
            return match.overlap.weight >= threshold.weight_alone
        return has_words(match) or meaning_meets_threshold(match.shares, threshold, match.overlap, match.corpus)

    some_named = any(map(is_named, matches))
    good = [
        match for match in matches if is_named(match) or is_certain(match.shares, match.corpus) or is_relevant(match)
    ]
    return good + _linked_by(services, query, good)


def _linked_by(services: Services, query: Query, good: Sequence[RetrievedLesson]) -> list[RetrievedLesson]:
    """Return the first lessons linked to those the question names, each with half the score of the named one."""
    taken = {*query.exclude, *(match.lesson.id for match in good)}
    followed: list[RetrievedLesson] = []
    for match in good if query.as_of is None else ():
        for link in match.lesson.links if match.named == TELLING else ():
            if link.kind not in FOLLOWED or link.target in taken or len(followed) == LINKS_FOLLOWED:
                continue
            taken.add(link.target)
            try:
                (lesson,) = services.store.get([link.target])
            except LessonNotFoundError:
                continue  # purged since
            if is_visible(lesson, query):
                share = RetrieverShare(lane="link", rank=len(followed) + 1, raw=1.0, share=fuse_total(match.shares) / 2)
                stems = lesson_stems(lesson)
                overlap = overlap_of(weigh(asked_words(query)), stems)
                via = "linked to a lesson that the question names"
                followed.append(
                    RetrievedLesson(
                        lesson=lesson, shares=(share,), overlap=overlap, stems=stems, aim=match.aim, via=via
                    )
                )
    return followed


def is_visible(lesson: Lesson, query: Query) -> bool:
    """Return whether the query allows a lesson that no retriever found."""
    scope, ends = lesson.scope, lesson.validity.valid_to
    mine = query.all_projects or scope.owner in ("", query.project)
    holds = query.at is None or ends is None or ends > query.at
    here = not scope.branch or query.staged is None or scope.project != query.project or lesson.id in query.staged
    return mine and holds and here and lesson.state in query.states and lesson.kind in (query.kinds or (lesson.kind,))


def assemble(
    ranked: Sequence[tuple[Ranked, RetrievedLesson]],
    *,
    moment: Moment,
    limit: int,
    budget_tokens: int,
    checkpoint_text: str = "",
    extra: int = 0,
    hint: str = "holdfast recall",
    degraded: str = "",
) -> Briefing:
    """Choose, order and compile at most `limit` lessons within the budget, which includes the frame and checkpoint.

    `extra` counts further lessons that were not read; `hint` is the command that shows those left out.
    """
    rivals = [
        Rival(score=r.score, terms=f.stems, session=f.lesson.provenance.session, exact=is_exact(f.shares))
        for r, f in ranked
    ]
    chosen = diversify(rivals, 2 * limit)
    order = [at for at, _ in chosen]
    line_budget = ON_DEMAND_LINE_TOKENS if moment == "on_demand" else LINE_TOKENS
    lines = [compile_line(ranked[i][0].lesson, ranked[i][0].caveat, line_budget) for i in order]
    total = len(ranked) + extra
    room = budget_tokens - frame_tokens(more_line(max(total, 1), hint), checkpoint_text)
    taken = fit_budget([line.tokens for line in lines], [worth for _, worth in chosen], room, limit)
    items = tuple(replace(ranked[order[at]][0], rank=n) for n, at in enumerate(taken, start=1))
    text = render([lines[at] for at in taken], total - len(items), hint, checkpoint_text)
    return Briefing(
        moment=moment,
        items=items,
        more=total - len(items),
        tokens=count_tokens(text),
        checkpoint_text=checkpoint_text,
        text=text,
        degraded=degraded,
    )


def says_something(share: RetrieverShare) -> bool:
    """Return whether the share is evidence: it does more than settle ties, and its meaning is near enough."""
    return share.lane not in (*SETTLING, "ranker") and (share.lane != "vector" or share.raw >= NEAR_MEANING)


def render(lines: Sequence[Line], more: int, hint: str, checkpoint_text: str) -> str:
    """Return the fenced text of a briefing; empty when there is nothing to deliver."""
    if not lines and not checkpoint_text:
        return ""
    return render_block([line.text for line in lines], more_line(more, hint), checkpoint_text)
