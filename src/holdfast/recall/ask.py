"""The answer for somebody who asks: command line, MCP and SDK.

What differs from a delivery at a moment: a learned ranker orders lessons about code, lessons that nobody confirmed
yet answer below the others, lessons that contradict each other come as one block, a question for a kind of lesson is
understood, and where nothing passes the threshold the closest are named. The first lessons stay the same whatever the
limit is.
"""

from __future__ import annotations

from holdfast.domain.briefing import Briefing, LaneShare
from holdfast.domain.vocabulary import TRUSTS
from holdfast.errors import LessonNotFoundError
from holdfast.lean.records import Frozen, replace
from holdfast.lean.texts import short_id
from holdfast.ranking.aim import kinds_asked, says_only_when
from holdfast.ranking.bar import ASKED, PUSHED, is_linked
from holdfast.ranking.diversify import Rival, diversify
from holdfast.ranking.fuse import is_exact, total
from holdfast.ranking.ranker import applies, features, judge, last_part
from holdfast.ranking.relevance import weigh
from holdfast.recall.retrieve import (
    ON_DEMAND_LINE_TOKENS,
    PARTICULAR,
    POOL,
    POOL_LIMIT,
    RETRIEVERS,
    TIMED,
    Draw,
    Found,
    admissible,
    asked_words,
    brief,
    draw,
    found_of,
    is_visible,
    render,
    says_something,
    weigh_up,
    with_vector,
)
from holdfast.recall.surroundings import linked_files
from holdfast.rendering.budget import count_tokens
from holdfast.rendering.lines import Line, compile_line, frame_tokens, more_line
from holdfast.text.failure import answers_failure, read_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.domain.briefing import Ranked
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.domain.query import Query
    from holdfast.domain.vocabulary import LessonId, Moment, State
    from holdfast.ports.parts import Parts

    Pair = tuple[Ranked, Found]

ASKED_POOL = 60
"""Lessons that are read, ordered by the ranker and held to the threshold, whatever the limit."""
FOREMOST = 20
"""One of the best so many has to pass the threshold, or none does: among many some pass by chance."""
NEAR_SHOWN = 3
"""How many are named where nothing passes the threshold."""
ANSWERING: tuple[str, ...] = ("person", "verified", "agent")
"""Whose unconfirmed lessons answer. What a repository or a tool's output says waits until a person has read it."""
SIMILAR = 0.6
"""Least share of common stems (Jaccard) of two rules that are compared for a contradiction."""
WITH_OPPONENTS = 12
"""How many of the best are compared with all others: each comparison costs a tenth of a millisecond."""


class _Answer(Frozen):
    """What one search gave, best first."""

    passed: tuple[Pair, ...] = ()
    """The lessons that passed the threshold, at most ASKED_POOL."""
    further: tuple[Pair, ...] = ()
    """Those behind them, where more are wanted."""
    failed: tuple[Found, ...] = ()
    """Those that did not pass."""
    notes: str = ""


def ask(
    parts: Parts,
    place: Place,
    query: Query,
    *,
    limit: int,
    budget_tokens: int,
    moment: Moment = "on_demand",
    unconfirmed: tuple[State, ...] = (),
) -> Briefing:
    """The few lessons that answer the query, or none and the nearest. A question without anything asks in general.

    `unconfirmed`: lessons in these states answer too, below all others, unless a repository or a tool says them.
    """
    query, degraded = with_vector(parts, query)
    if query.paths and not query.linked:
        query = replace(query, linked=linked_files(parts, place, query.paths))
    if moment != "on_demand":
        return _push(parts, place, query, limit, budget_tokens, moment, degraded)
    answer = _search(parts, place, query, limit)
    waiting = _Answer()
    if unconfirmed and query.as_of is None:
        waiting = _search(parts, place, replace(query, states=unconfirmed), limit, ANSWERING)
    passed, failed = [*answer.passed, *waiting.passed], [*answer.failed, *waiting.failed]
    notes = "; ".join(filter(None, (degraded, answer.notes)))
    if not passed:
        near = sorted(failed, key=lambda found: -total(found.shares))
        ranked = weigh_up(parts, place, near[:NEAR_SHOWN])
        rest = len(near) - len(ranked)
        return Briefing(near=tuple(one for one, _ in ranked), near_more=rest, degraded=notes)
    pairs, disputes = _with_opponents(parts, place, query, passed)
    # further ones come last: the first stay the same for whoever wants more
    pairs = [*pairs, *answer.further, *waiting.further]
    return _assemble(pairs, disputes, limit, budget_tokens, notes)


def find(
    parts: Parts, query: Query, retrievers: Iterable[str], pool: int = ASKED_POOL, trusts: tuple[str, ...] = TRUSTS
) -> Draw:
    """What the retrievers give for somebody who asks, lessons about code in the order of the ranker."""
    drawn = draw(parts, query, retrievers, pool=pool, admit=lambda one: one.lesson.trust in trusts)
    return replace(drawn, found=_by_ranker(parts, query, drawn.found))


def _by_ranker(parts: Parts, query: Query, found: tuple[Found, ...]) -> tuple[Found, ...]:
    """The lessons with a share that puts them in the ranker's order; unchanged where it does not apply.

    Exact matches keep their floor. The share is what is missing from the fused score to the ranker's, so that the
    shares still add up to the score.
    """
    if not (query.text or query.paths) or not applies(
        [one.lesson for one in found], found[0].chance.lessons if found else 0
    ):
        return found
    worths = judge(rows_of(parts, query, found))
    most = max((total(one.shares) for one in found if not is_exact(one.shares)), default=0.0)
    order = sorted(range(len(found)), key=lambda at: (not is_exact(found[at].shares), -worths[at], at))
    ranked = []
    for rank, at in enumerate(order, start=1):
        one, worth = found[at], worths[at]
        if not is_exact(one.shares):
            share = LaneShare(lane="ranker", rank=rank, raw=worth, share=worth * most - total(one.shares))
            one = replace(one, shares=(*one.shares, share))
        ranked.append(one)
    return tuple(ranked)


def rows_of(parts: Parts, query: Query, found: Sequence[Found]) -> list[tuple[float, ...]]:
    """The ranker's features of each lesson."""
    stems = frozenset(root for root, _, _ in weigh(asked_words(query)).stems)
    symbols = frozenset(map(last_part, query.symbols))
    most_text = max((share.raw for one in found for share in one.shares if share.lane == "text"), default=0.0)
    # a question that names a time does not want the newest
    now = None if query.since or query.until else query.as_of or parts.clock.now()
    places = [next((share.raw for share in one.shares if share.lane == "path"), 0.0) for one in found]
    return [
        features(
            one.lesson, one.shares, one.fit.coverage, most_text, sum(other >= place for other in places), stems,
            symbols, now,
        )
        for one, place in zip(found, places, strict=True)
    ]  # fmt: skip


def _push(
    parts: Parts, place: Place, query: Query, limit: int, budget_tokens: int, moment: Moment, degraded: str
) -> Briefing:
    """What a moment would be given for the same question."""
    drawn = draw(parts, query, PARTICULAR, pool=max(POOL, min(2 * limit, POOL_LIMIT)))
    good = admissible(parts, query, drawn.found, PUSHED)
    ranked = weigh_up(parts, place, good)
    notes = "; ".join(filter(None, (degraded, drawn.degraded)))
    return brief(ranked, moment=moment, limit=limit, budget_tokens=budget_tokens, degraded=notes)


def _search(parts: Parts, place: Place, query: Query, limit: int, trusts: tuple[str, ...] = TRUSTS) -> _Answer:
    """Every way in which the question is asked of the lessons in the query's states, together."""
    if trusts == ANSWERING and not parts.store.list_recent(query, 1):
        return _Answer()
    passed: dict[LessonId, Found] = {}
    failed: dict[LessonId, Found] = {}
    notes: dict[str, None] = {}
    for one_query, retrievers in _readings(query):
        drawn = find(parts, one_query, retrievers, trusts=trusts)
        notes[drawn.degraded] = None
        good = _passing(parts, one_query, drawn.found, retrievers)
        foremost = {one.lesson.id for one in drawn.found[:FOREMOST]}
        if any(one.lesson.id in foremost for one in good):
            _keep_best(passed, good)
        _keep_best(failed, drawn.found)
    best = sorted(passed.values(), key=lambda found: -total(found.shares))[:ASKED_POOL]
    ranked = _diversified(weigh_up(parts, place, best))
    further: list[Pair] = []
    if limit > ASKED_POOL:
        further = _further(parts, place, query, [found.lesson.id for found in best], trusts)
    near = tuple(found for id_, found in failed.items() if id_ not in passed and any(map(says_something, found.shares)))
    return _Answer(
        passed=tuple(ranked), further=tuple(further), failed=near, notes="; ".join(filter(None, notes))
    )  # fmt: skip


def _readings(query: Query) -> list[tuple[Query, tuple[str, ...]]]:
    """The queries a question stands for, each with its retrievers.

    A question of a time or a kind alone lists what there is. One for a kind of lesson about something is also asked
    without the words for the kind, among lessons of the kind. An error is asked as a text, like any question, and by
    its signature and class without the output around it.
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
    if query.error:
        words = read_failure(query.error, query.command).words
        if words and words != query.text:
            readings.append((replace(query, text=words, vector=(), embedder_id=""), PARTICULAR))
    return readings


def _passing(parts: Parts, query: Query, found: tuple[Found, ...], retrievers: tuple[str, ...]) -> list[Found]:
    """Those that pass the threshold of who asks."""
    if retrievers != PARTICULAR:
        return list(found)
    good = admissible(parts, query, found, ASKED)
    passed = {one.lesson.id for one in good}
    if not (query.text or query.symbols or query.command or query.error):
        good += [one for one in found if one.lesson.id not in passed and is_linked(one.shares)]
    if query.error:
        failure = read_failure(query.error, query.command)
        good += [one for one in found if one.lesson.id not in passed and answers_failure(failure, one.lesson)]
    return good


def _keep_best(known: dict[LessonId, Found], found: Iterable[Found]) -> None:
    """Add lessons; of one that several readings found, the better score counts."""
    for one in found:
        before = known.get(one.lesson.id)
        if before is None or total(one.shares) > total(before.shares):
            known[one.lesson.id] = one


def _further(
    parts: Parts, place: Place, query: Query, known: Sequence[LessonId], trusts: tuple[str, ...]
) -> list[Pair]:
    """Lessons behind those that the ranker ordered, for somebody who wants many."""
    query, retrievers = _readings(query)[0]
    query = replace(query, exclude=(*query.exclude, *known))
    drawn = draw(parts, query, retrievers, pool=POOL_LIMIT, admit=lambda one: one.lesson.trust in trusts)
    return weigh_up(parts, place, _passing(parts, query, drawn.found, retrievers))


def _diversified(ranked: Sequence[Pair]) -> list[Pair]:
    """All of them, near copies behind what says something new."""
    rivals = [
        Rival(score=r.score, terms=f.stems, session=f.lesson.provenance.session, exact=is_exact(f.shares))
        for r, f in ranked
    ]
    return [ranked[at] for at, _ in diversify(rivals, len(rivals))]


def _assemble(
    pairs: Sequence[Pair], disputes: Sequence[tuple[LessonId, LessonId]], limit: int, budget_tokens: int, notes: str
) -> Briefing:
    """The first lessons, in order, that fit the limit and the budget."""
    room = budget_tokens - frame_tokens(more_line(max(len(pairs), 1), "holdfast recall"))
    items: list[Ranked] = []
    lines: list[Line] = []
    for ranked, _ in pairs:
        line = compile_line(ranked.lesson, _remark(ranked, disputes), ON_DEMAND_LINE_TOKENS)
        if len(items) < limit and line.tokens <= room:
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
    """The lines, with one that says so before two that disagree."""
    headed: list[Line] = []
    for at, line in enumerate(lines):
        if tuple(item.lesson.id for item in items[at : at + 2]) in disputes:
            headed.append(Line(text=DISAGREE, tokens=count_tokens(DISAGREE)))
        headed.append(line)
    return headed


def _remark(ranked: Ranked, disputes: Sequence[tuple[LessonId, LessonId]]) -> str:
    """What a reader has to know besides the rule and its source: what contradicts it, and what changed."""
    id_ = ranked.lesson.id
    others = [one if other == id_ else other for one, other in disputes if id_ in (one, other)]
    against = "disagrees with " + ", ".join(map(short_id, others)) if others else ""
    return "; ".join(filter(None, (against, ranked.caveat)))


def _with_opponents(
    parts: Parts, place: Place, query: Query, passed: Sequence[Pair]
) -> tuple[list[Pair], tuple[tuple[LessonId, LessonId], ...]]:
    """The lessons, the best each beside the first one that contradicts it; and these pairs, the better one first."""
    passed = [*passed, *_linked_opponents(parts, place, query, passed)]
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
        placed.update(found.lesson.id for _, found in block)
        if opponent:
            disputes.append((block[0][1].lesson.id, block[1][1].lesson.id))
    return ordered, tuple(disputes)


def _linked_opponents(parts: Parts, place: Place, query: Query, passed: Sequence[Pair]) -> list[Pair]:
    """Lessons that were not found and that a found one says it contradicts."""
    if query.as_of is not None:
        return []
    known = {found.lesson.id for _, found in passed}
    opponents = []
    for target in [link.target for _, found in passed for link in found.lesson.links if link.kind == "contradicts"]:
        if target in known or target in query.exclude:
            continue
        known.add(target)
        try:
            (lesson,) = parts.store.get([target])
        except LessonNotFoundError:
            continue
        if is_visible(lesson, replace(query, states=("active",))):
            opponents.append(found_of(lesson, weigh(asked_words(query))))
    return weigh_up(parts, place, opponents, because="contradicts one that was found")


def _disagree(one: Pair, other: Pair) -> bool:
    """Whether two lessons contradict each other: a link says so, or they are opposed rules about one thing."""
    mine, theirs = one[1].lesson, other[1].lesson
    if mine.id == theirs.id:
        return False
    if _contradicts(mine, theirs) or _contradicts(theirs, mine):
        return True
    if mine.paths and theirs.paths and not set(mine.paths) & set(theirs.paths):
        return False
    shared = len(one[1].stems & other[1].stems)
    if shared < SIMILAR * len(one[1].stems | other[1].stems):
        return False
    from holdfast.text.contradiction import relation

    return relation(mine.insight, theirs.insight).kind == "contradicts"


def _contradicts(lesson: Lesson, other: Lesson) -> bool:
    return any(link.kind == "contradicts" and link.target == other.id for link in lesson.links)


def _proof(pair: Pair) -> tuple[bool, int, float]:
    """Confirmed ones first, then the most trusted, then the newest."""
    lesson = pair[1].lesson
    return pair[0].is_unconfirmed, TRUSTS.index(lesson.trust), -lesson.recorded_at.timestamp()
