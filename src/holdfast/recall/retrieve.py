"""The read path: a question's retrievers are asked, fused, checked against the code, held to the bar, diversified and
fitted to a budget."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing, LaneShare, Ranked, Why
from holdfast.domain.query import Query
from holdfast.errors import EmbedderError, InvalidValueError, LessonNotFoundError, PluginNotFoundError, StoreError
from holdfast.freshness.check import FreshnessCheck
from holdfast.lean.records import Frozen, replace
from holdfast.lessons.staged import seen_here
from holdfast.ports.lessonstore import damage_words, get_readable
from holdfast.ranking.aim import Aim, task_of
from holdfast.ranking.bar import (
    UNKNOWN,
    Bar,
    Chance,
    is_decisive,
    is_sure,
    passes_by_meaning,
    passes_by_words,
)
from holdfast.ranking.diversify import Rival, diversify
from holdfast.ranking.fuse import fuse, is_exact, score_of
from holdfast.ranking.fuse import total as fuse_total
from holdfast.ranking.multipliers import NO_AIM, multipliers
from holdfast.ranking.names import TELLING, UNNAMED, naming, runs_of
from holdfast.ranking.relevance import Fit, fit_of, lesson_stems, weigh
from holdfast.ranking.retrievers import (
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
from holdfast.ranking.tuning import MANY, NEARBY_HITS
from holdfast.recall.surroundings import way_to
from holdfast.recall.tuning import (
    ERRORS_COMPARED,
    LINKS_FOLLOWED,
    LOOKED_AT,
    NEAR_MEANING,
    ON_DEMAND_LINE_TOKENS,
    PLACE_DEPTH,
    POOL,
    RETRIEVER_DEPTH,
    TEXT_LIMIT,
)
from holdfast.rendering.budget import count_tokens, fit
from holdfast.rendering.lines import LINE_TOKENS, Line, compile_line, frame_tokens, more_line, render_block
from holdfast.text.clues import clues_in
from holdfast.text.signature import command_target, error_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.domain.vocabulary import Freshness, LessonId, LessonKind, Moment, State
    from holdfast.ports.parts import Parts
    from holdfast.ports.search import Search
    from holdfast.ranking.relevance import Asked
    from holdfast.ranking.retrievers import Hit

PLACES = ("path", "symbol", "graph")
"""Retrievers that say no more than where lessons belong."""
SETTLING = ("pinned", "recent")
"""Retrievers that settle ties; what only they bring answers no particular question."""
FOLLOWED = ("relates_to", "refines", "caused_by")
"""Kinds of links that are followed from a lesson that the question names."""
BY_CHANCE = ("text", "vector")
"""Retrievers that find something in most stores: what the best of it is worth depends on how many lessons there are."""
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
"""Every retriever by its name in `LaneShare.lane`: the facts of a store, scored, at most `limit`, best first."""
PARTICULAR = tuple(name for name in RETRIEVERS if name != "recent")
"""Retrievers for a question about something: how recent a lesson is only weighs in its multiplier."""
TIMED = ("recent",)
"""The retriever for a question that names a time and no subject."""


class Found(Frozen):
    """A lesson that retrievers answered with, and how its words fit the question."""

    lesson: Lesson
    shares: tuple[LaneShare, ...]
    fit: Fit
    stems: frozenset[str]
    aim: Aim = NO_AIM
    via: str = ""
    """For one that is not about the files in play: how the file it is about is linked to them."""
    named: int = UNNAMED
    """Whether the question has a name of it: see `ranking.names`."""
    chance: Chance = UNKNOWN
    """How much there was for the question to meet by chance."""
    weight: float = 0.0
    """The lesson's own BM25, without what stands near it."""


class Draw(Frozen):
    """What the retrievers gave, weighed, best first; `degraded` says which could not answer."""

    found: tuple[Found, ...] = ()
    degraded: str = ""


def question(
    parts: Parts,
    place: Place,
    text: str = "",
    paths: Sequence[str] = (),
    symbols: Sequence[str] = (),
    command: str = "",
    error: str = "",
    as_of: datetime | None = None,
    states: Sequence[State] = ("active",),
    kinds: Sequence[LessonKind] = (),
    all_projects: bool = False,
) -> Query:
    """The query for a question asked at a place. Paths, identifiers and an error in the text inform it like given ones.

    Raises InvalidValueError for what is no text and when there is an `as_of` without a time zone.
    """
    for name, value in (("text", text), ("command", command), ("error", error)):
        if not isinstance(value, str):
            raise InvalidValueError(f"{name} must be a text, not {type(value).__name__}")
    if as_of is not None and as_of.tzinfo is None:
        raise InvalidValueError("as_of must be an aware time", hint="add a zone, e.g. 2026-11-21T08:45:29Z")
    from holdfast.text.timespan import span_in  # before a file or a command nothing is asked in words

    question_text = shorten(text)
    now = parts.clock.now()
    since, until = span_in(question_text, as_of or now) or (None, None)
    clues = clues_in(question_text)
    named = [*paths, *clues.paths]
    relative = [parts.workspace.relative(place, path) for path in named]
    return Query(
        project=place.project.id,
        text=question_text,
        paths=tuple(dict.fromkeys(path for path in relative if path)),
        symbols=tuple(dict.fromkeys([*symbols, *clues.symbols])),
        command=command,
        error=error or (question_text if error_signature(question_text) else ""),
        staged=seen_here(parts, place),
        prefix=place.prefix,
        as_of=as_of,
        at=None if as_of else now,
        since=since,
        until=until,
        states=tuple(states),
        kinds=tuple(kinds),
        all_projects=all_projects,
    )


def draw(
    parts: Parts,
    query: Query,
    retrievers: Iterable[str] = tuple(RETRIEVERS),
    pool: int = POOL,
    admit: Callable[[Found], bool] | None = None,
) -> Draw:
    """Ask the retrievers, fuse, read the best `pool` lessons and measure how their words fit, best first.

    `admit` drops what a moment has no use for. Raises StoreError when no retriever could answer.
    """
    rankings, among, failures = _ask(parts, query, retrievers, max(RETRIEVER_DEPTH, pool))
    shares_by_id = fuse(rankings, pool)
    weights = {hit.id: hit.weight for hit in rankings.get("text", ())}
    question_stems = weigh(asked_words(query))
    runs = runs_of(query.text)
    aim = Aim(task=task_of(query.text), since=query.since, until=query.until)
    matches = []
    for lesson in get_readable(parts.store, list(shares_by_id), query.as_of) if shares_by_id else ():
        stems = lesson_stems(lesson) if question_stems.stems or len(shares_by_id) > 1 else frozenset()
        shares = shares_by_id[lesson.id]
        matches.append(Found(
            lesson=lesson, shares=shares, fit=fit_of(question_stems, stems), stems=stems, aim=aim,
            via=way_to(query.linked, lesson.paths) if not any(map(is_decisive, shares)) else "",
            named=naming(lesson, runs), chance=Chance(lessons=among, stems=len(stems)),
            weight=weights.get(lesson.id, 0.0),
        ))  # fmt: skip
    admitted = tuple(match for match in matches if admit is None or admit(match))
    return Draw(found=admitted, degraded="; ".join(filter(None, [*failures, damage_words(parts.store)])))


def found_of(lesson: Lesson, question_stems: Asked) -> Found:
    """A lesson that no retriever brought, and how its words fit the question."""
    stems = lesson_stems(lesson)
    return Found(
        lesson=lesson,
        shares=(LaneShare(lane="link", rank=1, raw=1.0, share=0.0),),
        fit=fit_of(question_stems, stems),
        stems=stems,
    )


def admissible(parts: Parts, query: Query, matches: Sequence[Found], bar: Bar) -> list[Found]:
    """Return the matches that may be delivered because of a name, a place, their meaning or their words, and the
    lessons that the named ones are linked to.

    A question that names a lesson is about that lesson: all others then need strong words.
    """

    def has_words(match: Found) -> bool:
        return passes_by_words(match.fit, bar, match.shares, match.chance)

    def is_named(match: Found) -> bool:
        return match.named == TELLING or (match.named != UNNAMED and has_words(match))

    def is_fit(match: Found) -> bool:
        if some_named:
            return match.fit.strength >= bar.strong
        return has_words(match) or passes_by_meaning(match.shares, bar, match.chance)

    some_named = any(map(is_named, matches))
    good = [match for match in matches if is_named(match) or is_sure(match.shares, match.chance) or is_fit(match)]
    return good + _linked_by(parts, query, good)


def _linked_by(parts: Parts, query: Query, good: Sequence[Found]) -> list[Found]:
    """Return the first lessons linked to those the question names, each with half the score of the named one."""
    taken = {*query.exclude, *(match.lesson.id for match in good)}
    followed: list[Found] = []
    for match in good if query.as_of is None else ():
        for link in match.lesson.links if match.named == TELLING else ():
            if link.kind not in FOLLOWED or link.target in taken or len(followed) == LINKS_FOLLOWED:
                continue
            taken.add(link.target)
            try:
                (lesson,) = parts.store.get([link.target])
            except LessonNotFoundError:
                continue  # purged since
            if is_visible(lesson, query):
                share = LaneShare(lane="link", rank=len(followed) + 1, raw=1.0, share=fuse_total(match.shares) / 2)
                stems = lesson_stems(lesson)
                fit = fit_of(weigh(asked_words(query)), stems)
                via = "linked to one that is named"
                followed.append(Found(lesson=lesson, shares=(share,), fit=fit, stems=stems, aim=match.aim, via=via))
    return followed


def is_visible(lesson: Lesson, query: Query) -> bool:
    """Whether the query allows a lesson that no retriever found."""
    scope, ends = lesson.scope, lesson.validity.valid_to
    mine = query.all_projects or scope.level == "user" or scope.project == query.project
    holds = query.at is None or ends is None or ends > query.at
    here = not scope.branch or query.staged is None or scope.project != query.project or lesson.id in query.staged
    return mine and holds and here and lesson.state in query.states and lesson.kind in (query.kinds or (lesson.kind,))


def weigh_up(
    parts: Parts,
    place: Place,
    matches: Sequence[Found],
    because: str = "",
    offer: Callable[[list[tuple[Ranked, Found]]], None] | None = None,
) -> list[tuple[Ranked, Found]]:
    """Each with its score, reason and freshness as of now, best first. Ranks are set when they are chosen.

    `because` is the moment's own reason; otherwise retrievers and words give it. `offer` is given the list as it is
    before the first close look, which can take longer than a host waits; it is not called where none is needed.
    """
    check = FreshnessCheck(parts, place)
    now = parts.clock.now()
    glanced = ((match, check.glance(match.lesson)) for match in matches)
    weighed = sorted(
        (_weigh(match, judged, because, now, check.share(match.lesson)) for match, judged in glanced), key=_best_first
    )
    while lesson := check.next_look([ranked.lesson for ranked, _ in weighed[:LOOKED_AT]]):
        if offer is not None:
            offer(weighed)
            offer = None
        judged, share = check.judge(lesson), check.share(lesson)
        again = (
            _weigh(match, judged, because, now, share) if match.lesson is lesson else (r, match) for r, match in weighed
        )
        weighed = sorted(again, key=_best_first)
    return weighed


def _weigh(
    match: Found, judged: tuple[Freshness, str], because: str, now: datetime, share: float
) -> tuple[Ranked, Found]:
    freshness, caveat = judged
    why = Why(
        shares=match.shares,
        multipliers=multipliers(match.lesson, freshness, now, match.aim, share),
        words=(match.via and reason(match)) or because or reason(match),
    )
    ranked = Ranked(lesson=match.lesson, rank=1, score=score_of(why), why=why, freshness=freshness, caveat=caveat)
    return ranked, match


def _best_first(pair: tuple[Ranked, Found]) -> tuple[float, str]:
    return -pair[0].score, pair[0].lesson.id


def brief(
    ranked: Sequence[tuple[Ranked, Found]],
    *,
    moment: Moment,
    limit: int,
    budget_tokens: int,
    checkpoint_text: str = "",
    extra: int = 0,
    hint: str = "holdfast recall",
    degraded: str = "",
) -> Briefing:
    """Choose, order and compile: at most `limit` lessons within the budget, the frame and checkpoint included.

    `extra` counts lessons that fit but were not read; `hint` is what reaches those left out.
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
    taken = fit([line.tokens for line in lines], [worth for _, worth in chosen], room, limit)
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


def reason(match: Found) -> str:
    """Why it was chosen, in a few words."""
    reasons = [match.via] if match.via else []
    for share in match.shares:
        if share.lane in SETTLING or (share.lane in _REASONS and is_decisive(share)):
            reasons.append(_REASONS[share.lane])
    if match.fit.matched:
        reasons.append("shares " + ", ".join(match.fit.matched[:4]))
    return "; ".join(reasons) or "nearest"


_REASONS = {
    "exact": "names the same thing", "path": "about this file", "symbol": "about this symbol",
    "vector": "alike in meaning", "pinned": "pinned", "recent": "recent",
}  # fmt: skip


def shorten(text: str) -> str:
    """The head and the tail of a long text; a pasted log says what matters at its ends."""
    if len(text) <= TEXT_LIMIT:
        return text
    return text[: TEXT_LIMIT // 2] + "\n" + text[-TEXT_LIMIT // 2 :]


def asked_words(query: Query) -> str:
    """Everything in the query that words can fit."""
    error = error_signature(query.error) if query.error and query.error != query.text else ""
    return " \n ".join(filter(None, (query.text, error, command_target(query.command), *query.symbols)))


def says_something(share: LaneShare) -> bool:
    """Whether that retriever's answer is about the question: not a settling one, nor the nearest of nothing near."""
    return share.lane not in (*SETTLING, "ranker") and (share.lane != "vector" or share.raw >= NEAR_MEANING)


def render(lines: Sequence[Line], more: int, hint: str, checkpoint_text: str) -> str:
    """The fenced text of a briefing; empty when there is nothing to say."""
    if not lines and not checkpoint_text:
        return ""
    return render_block([line.text for line in lines], more_line(more, hint), checkpoint_text)


def _ask(
    parts: Parts, query: Query, retrievers: Iterable[str], depth: int
) -> tuple[dict[str, list[Hit]], int, list[str]]:
    """What each retriever answers, how many lessons the question was put to where that is counted, and words for
    those that could not answer; raises when none could."""
    answers: dict[str, list[Hit]] = {}
    among = 0
    failures: list[str] = []
    failed: StoreError | None = None
    retrievers = tuple(retrievers)
    for name in retrievers:
        if name == "vector" and not query.vector:
            continue
        try:
            deep = name in PLACES and "text" in retrievers and bool(query.text)
            hits = RETRIEVERS[name](parts.store, query, max(depth, PLACE_DEPTH) if deep else depth)
            if hits and name in BY_CHANCE and not among:
                among = parts.store.count_lessons(query, MANY)
            answers[name] = hits
        except StoreError as exc:
            failed = exc
            failures.append(f"{name}: {exc}")
    if failed is not None and not answers:
        raise failed
    return answers, among, failures


def with_vector(parts: Parts, query: Query, local: bool = False) -> tuple[Query, str]:
    """The query with its text's vector when an embedder is there; without, and why, when it fails.

    `local`: only from one that waits for no endpoint.
    """
    if not query.text.strip() or query.vector:
        return query, ""
    try:
        embedder = parts.embedder()
        if embedder is None or (local and not getattr(embedder, "is_local", False)):
            return query, ""
        from holdfast.recall.embed import embed_question  # redacted first: the endpoint may be somebody else's

        placed = embed_question(parts, query.text)
    except (EmbedderError, InvalidValueError, PluginNotFoundError) as exc:
        return query, f"without vectors: {exc}"
    return replace(query, vector=placed.vector, embedder_id=placed.embedder_id), placed.missing


def without(ids: Iterable[LessonId], query: Query) -> Query:
    """The query, never answering with these."""
    return replace(query, exclude=tuple(dict.fromkeys([*query.exclude, *ids])))
