"""Searches lessons and sessions for a person: by words or newest first, narrowed down by facets.

With words, lessons that answer come first, as `recall` orders them, and then lessons that have words of the question.
Facets narrow down and count what was found. Without words, lessons are listed newest first, a page at a time; facets
are counted by the store among the newest RESULTS_COUNTED that match.

A verdict on the code is computed when it is read, so no store can be asked for it: a list by freshness looks at
RESULTS_JUDGED lessons, and says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, get_args

from holdfast.curation.review import WAITING
from holdfast.domain.briefing import FoundTurn, Why
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import STATES, Freshness, LessonId, LessonKind, SessionId, State, Trust
from holdfast.errors import InvalidValueError
from holdfast.freshness.check import FreshnessCheck
from holdfast.lessons.staging import hidden_here
from holdfast.ports.services import Services
from holdfast.ports.store import ROOT_AREA, Facet, LessonFilter, SessionFilter, SessionRow, get_readable
from holdfast.recall.ask import ask
from holdfast.recall.question import question
from holdfast.recall.sessions import find_turns
from holdfast.rendering.origins import TRUST_WORDS
from holdfast.reports.tuning import (
    ANSWERS,
    ANSWERS_SHOWN,
    CODE_CHECK_S,
    FACET_VALUES,
    JUDGED_AT_ONCE,
    PAGE_TOKENS,
    PERIODS,
    RESULTS_COUNTED,
    RESULTS_JUDGED,
    RESULTS_SHOWN,
    SCORED_SHOWN,
    SESSIONS_COUNTED,
    TURNS,
    TURNS_BESIDE,
    TURNS_WIDE,
    UNCOUNTED,
    WIDE,
)
from holdfast.text.searchkeys import facet_values, is_in_area

SEARCHED: tuple[State, ...] = ("active", "candidate", "superseded", "retired")
"""States in which words are searched, if none is chosen."""

Period = Literal["", "7d", "30d", "365d"]
PERIOD_WORDS = {"7d": "the last 7 days", "30d": "the last 30 days", "365d": "the last 365 days"}
Span = tuple[datetime | None, datetime | None]
Counts = Mapping[str, Mapping[str, int]]
FacetName = Literal["state", "kind", "area", "person", "freshness", "time", "month", "tag", "trust", "host", "branch"]
TITLES: dict[FacetName, str] = {
    "state": "State", "kind": "Kind", "area": "Area", "person": "Person", "freshness": "Code", "time": "Time",
    "month": "Month", "tag": "Tag", "trust": "Rests on", "host": "Agent", "branch": "Branch",
}  # fmt: skip
COUNTED_FACETS: tuple[Facet, ...] = ("state", "kind", "area", "person", "month", "tag", "trust")
ORDER: tuple[FacetName, ...] = ("state", "kind", "area", "person", "freshness", "time", "month", "tag", "trust")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What is searched, and by what it is narrowed down. Empty fields narrow nothing down."""

    q: str = ""
    """Words; empty: everything, newest first."""
    state: Literal["", State] = ""
    kind: Literal["", LessonKind] = ""
    area: str = ""
    path: str = ""
    person: str = ""
    tag: str = ""
    trust: Literal["", Trust] = ""
    freshness: Literal["", Freshness] = ""
    time: Period = ""
    month: str = ""
    """Such as `2026-11`."""
    host: str = ""
    branch: str = ""
    why: bool = False
    """Whether the scores are shown: fewer lessons are then on a page."""
    after: str = ""
    """The `next` of the page before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetValue:
    """A value by which the results can be narrowed down."""

    value: str
    words: str
    """What people call it; empty: the value itself."""
    count: int
    """How many of the results have it; UNCOUNTED where nobody counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FacetList:
    """A facet: its chosen value, or the values that can be chosen."""

    name: FacetName
    title: str
    chosen: str = ""
    chosen_words: str = ""
    values: tuple[FacetValue, ...] = ()
    more: int = 0
    """Further values that are not shown."""
    covers: str = ""
    """What the counts are of, where that is not all that was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLesson:
    """A lesson that was found."""

    lesson: Lesson
    freshness: Freshness
    caveat: str = ""
    """What changed in the code, in words."""
    answers: bool = True
    """False for a lesson that has words of the question and did not pass as an answer."""
    score: float | None = None
    why: Why | None = None
    """How the score is made; None where nothing is scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonSearch:
    """The lessons of a page, and how to narrow them down."""

    lessons: tuple[FoundLesson, ...] = ()
    count: int = 0
    """How many lessons match."""
    is_least: bool = False
    """At least so many: nobody counted further."""
    facets: tuple[FacetList, ...] = ()
    next: str = ""
    """What to ask for the next page with; empty on the last one."""
    looked_at: int = 0
    """With a freshness: how many lessons this page looked at."""
    notes: str = ""
    """Why the answer is weaker than usual; empty: it is not."""
    turns: tuple[FoundTurn, ...] = ()
    """With words: the best turns of sessions that have them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSearch:
    """The sessions, or the turns of sessions, of a page."""

    turns: tuple[FoundTurn, ...] = ()
    sessions: tuple[SessionRow, ...] = ()
    facets: tuple[FacetList, ...] = ()
    next: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Searcher:
    """Who searches: from where, when, and which lessons they may see."""

    services: Services
    location: Location
    now: datetime
    sees: Callable[[Lesson], bool] = lambda lesson: True
    sees_waiting: bool = True
    """Whether lessons that wait are counted: on a server nobody learns how many others have proposed."""
    has_code: bool = True
    """Whether lessons can be compared with code here."""


def search_lessons(searcher: Searcher, request: SearchRequest) -> LessonSearch:
    """Return the lessons for the request. Raises InvalidValueError for a month or a page that cannot be."""
    return _by_words(searcher, request) if request.q.strip() else _newest(searcher, request)


def search_sessions(searcher: Searcher, request: SearchRequest) -> SessionSearch:
    """Return the turns of sessions that have the words; without words the newest sessions."""
    return _turns(searcher, request) if request.q.strip() else _sessions(searcher, request)


# Newest first


def _newest(searcher: Searcher, request: SearchRequest) -> LessonSearch:
    store = searcher.services.store
    where = _filter(searcher, request)
    lessons, looked_at, after = _page(searcher, request, where)
    counts: dict[str, Mapping[str, int]]
    if request.freshness:  # the store knows no verdicts, so what is on the page is counted
        counts, count, is_least = _count_here(searcher, lessons), len(lessons), bool(after)
    else:
        counted = _countable(searcher, replace(where, beyond=None, limit=RESULTS_COUNTED))
        counts = dict(store.count_facets(counted, COUNTED_FACETS, 10 * FACET_VALUES).items())
        counts["time"] = _periods(searcher, request, lessons)
        counts["freshness"] = Counter(each.freshness for each in lessons)
        count = max(sum(counts["state"].values()), len(lessons))  # a member's own proposals are shown and not counted
        is_least = count == RESULTS_COUNTED
    facets = [_facet(request, name, _named(searcher, name, counts, lessons)) for name in ORDER]
    if after and not request.freshness:
        covers = f"of the {len(lessons)} lessons shown"
        facets = [replace(facet, covers=covers) if facet.name == "freshness" else facet for facet in facets]
    return LessonSearch(
        lessons=lessons, count=count, is_least=is_least, next=after, looked_at=looked_at if request.freshness else 0,
        facets=_shown(searcher, facets),
    )  # fmt: skip


def _count_here(searcher: Searcher, lessons: Sequence[FoundLesson]) -> dict[str, Mapping[str, int]]:
    """Count the lessons that were read by every facet."""
    counts: dict[str, Mapping[str, int]] = {
        name: Counter(value for each in lessons for value in _values(each, name)) for name in ORDER
    }
    counts["time"] = {
        name: sum(each.lesson.recorded_at >= searcher.now - timedelta(days=days) for each in lessons)
        for name, days in PERIODS.items()
    }
    return counts


def _page(searcher: Searcher, request: SearchRequest, where: LessonFilter) -> tuple[tuple[FoundLesson, ...], int, str]:
    """Return the lessons of a page, how many were looked at, and where the next page begins."""
    check = FreshnessCheck(searcher.services, searcher.location, CODE_CHECK_S)
    hidden = hidden_here(searcher.services, searcher.location)
    page: list[FoundLesson] = []
    looked_at = 0
    limit = JUDGED_AT_ONCE if request.freshness else RESULTS_SHOWN + 1
    while True:
        batch = searcher.services.store.find(replace(where, limit=limit))
        for lesson in batch:
            if len(page) == RESULTS_SHOWN:
                return tuple(page), looked_at, _place(page[-1].lesson)
            looked_at += 1
            if not searcher.sees(lesson) or lesson.id in hidden:
                continue
            freshness, caveat = check.judge(lesson)
            if request.freshness in ("", freshness):
                page.append(FoundLesson(lesson=lesson, freshness=freshness, caveat=caveat))
        if len(batch) < limit:
            return tuple(page), looked_at, ""
        if looked_at >= RESULTS_JUDGED:
            return tuple(page), looked_at, _place(batch[-1])
        where = replace(where, beyond=(batch[-1].recorded_at, batch[-1].id))


def _filter(searcher: Searcher, request: SearchRequest) -> LessonFilter:
    since, until = _span(searcher.now, request)
    return LessonFilter(
        project=searcher.location.project.id, states=(request.state,) if request.state else (),
        kinds=(request.kind,) if request.kind else (), area=request.area.strip("/"), path=request.path,
        person=request.person, tag=request.tag, trust=request.trust or None, since=since, until=until,
        beyond=_beyond(request.after),
    )  # fmt: skip


def _countable(searcher: Searcher, where: LessonFilter) -> LessonFilter:
    if searcher.sees_waiting:
        return where
    states = tuple(state for state in where.states or STATES if state not in (*WAITING, "forgotten"))
    # no state is left where only what waits is asked for: a limit of 0 counts nothing
    return replace(where, states=states or ("active",), limit=where.limit if states else 0)


def _periods(searcher: Searcher, request: SearchRequest, lessons: Sequence[FoundLesson]) -> dict[str, int]:
    """Return the periods in which there may be lessons, uncounted: each would be a search of its own."""
    if request.time or request.month:
        return {}
    newest = lessons[0].lesson.recorded_at if lessons and not request.after else searcher.now
    return {name: UNCOUNTED for name, days in PERIODS.items() if newest >= searcher.now - timedelta(days=days)}


# By words


def _by_words(searcher: Searcher, request: SearchRequest) -> LessonSearch:
    services, location = searcher.services, searcher.location
    begin, span = _offset(request.after), _span(searcher.now, request)
    states = (request.state,) if request.state else SEARCHED
    kinds = (request.kind,) if request.kind else ()
    query = question(services, location, request.q, states=states, kinds=kinds)
    limit = WIDE if _narrows(request) else ANSWERS
    answer = ask(services, location, query, limit=limit, budget_tokens=PAGE_TOKENS)
    answers = [
        FoundLesson(lesson=item.lesson, freshness=item.freshness, caveat=item.caveat, score=item.score, why=item.why)
        for item in answer.items
        if searcher.sees(item.lesson)
    ]
    others = _with_words(searcher, query, {item.lesson.id for item in answers}, limit - len(answers))
    candidates = [*answers, *others]
    results = [each for each in candidates if _fits(request, span, each)]
    counts = _count_here(searcher, results)
    facets = [_facet(request, name, _named(searcher, name, counts, results)) for name in ORDER]
    end = begin + (SCORED_SHOWN if request.why else ANSWERS_SHOWN)
    return LessonSearch(
        lessons=tuple(results[begin:end]), count=len(results), is_least=len(candidates) >= limit,
        notes=answer.degraded, facets=_shown(searcher, facets), next=str(end) if end < len(results) else "",
        turns=() if begin else find_turns(services, query, TURNS_BESIDE),
    )  # fmt: skip


def _with_words(searcher: Searcher, query: Query, known: set[LessonId], most: int) -> list[FoundLesson]:
    """Return lessons that have words of the question, best first, without those known."""
    if most <= 0:
        return []
    services = searcher.services
    matches = services.store.match_text(query, most, 0).matches
    scores = {match.lesson[1]: match.score for match in matches if match.lesson[1] not in known}
    check = FreshnessCheck(services, searcher.location, CODE_CHECK_S)
    others: list[FoundLesson] = []
    for lesson in get_readable(services.store, list(scores)[:most]):
        if searcher.sees(lesson):
            freshness, caveat = check.judge(lesson)
            others.append(FoundLesson(lesson=lesson, freshness=freshness, caveat=caveat, answers=False))
    return others


def _narrows(request: SearchRequest) -> bool:
    """Return whether anything is chosen by which the store's answer is narrowed down afterwards."""
    chosen = (
        request.area, request.path, request.person, request.tag, request.trust, request.freshness, request.time,
        request.month,
    )  # fmt: skip
    return any(chosen)


def _fits(request: SearchRequest, span: Span, each: FoundLesson) -> bool:
    lesson = each.lesson
    since, until = span
    area = request.area.strip("/")
    return (
        request.freshness in ("", each.freshness)
        and (not area or any(is_in_area(path, area) for path in facet_values(lesson, "file")))
        and (not request.path or request.path in facet_values(lesson, "file"))
        and request.person in ("", lesson.provenance.person)
        and (not request.tag or request.tag in lesson.tags)
        and request.trust in ("", lesson.trust)
        and (since is None or lesson.recorded_at >= since)
        and (until is None or lesson.recorded_at < until)
    )


def _values(each: FoundLesson, name: FacetName) -> Sequence[str]:
    if name == "freshness":
        return [each.freshness]
    return facet_values(each.lesson, name) if name in get_args(Facet) else ()  # type: ignore[arg-type]


# Sessions


def _turns(searcher: Searcher, request: SearchRequest) -> SessionSearch:
    query = question(searcher.services, searcher.location, request.q)
    since, until = _span(searcher.now, request)
    narrows = bool(request.host or request.branch or since or until)
    turns = [
        turn
        for turn in find_turns(searcher.services, query, TURNS_WIDE if narrows else TURNS)
        if request.host in ("", turn.host)
        and request.branch in ("", turn.branch)
        and (since is None or turn.at >= since)
        and (until is None or turn.at < until)
    ]
    counts = {"host": Counter(turn.host for turn in turns), "branch": Counter(turn.branch for turn in turns)}
    return SessionSearch(
        turns=tuple(turns[:TURNS]), facets=_session_facets(searcher, request, counts, "of the turns shown")
    )


def _sessions(searcher: Searcher, request: SearchRequest) -> SessionSearch:
    since, until = _span(searcher.now, request)
    where = SessionFilter(
        project=searcher.location.project.id, host=request.host, branch=request.branch, since=since, until=until,
        limit=SESSIONS_COUNTED,
    )  # fmt: skip
    beyond = _beyond(request.after)
    store = searcher.services.store
    newest = store.list_sessions(where)
    rows = newest
    if beyond is not None:
        rows = store.list_sessions(replace(where, beyond=(beyond[0], SessionId(beyond[1])), limit=RESULTS_SHOWN + 1))
    counts = {"host": Counter(row.host for row in newest), "branch": Counter(row.branch for row in newest)}
    covers = f"of the newest {SESSIONS_COUNTED} sessions" if len(newest) == SESSIONS_COUNTED else ""
    end = rows[RESULTS_SHOWN - 1] if len(rows) > RESULTS_SHOWN else None
    return SessionSearch(
        sessions=tuple(rows[:RESULTS_SHOWN]), next=f"{_micros(end.last)}.{end.session}" if end else "",
        facets=_session_facets(searcher, request, counts, covers),
    )  # fmt: skip


def _session_facets(
    searcher: Searcher, request: SearchRequest, counts: dict[str, Counter[str]], covers: str
) -> tuple[FacetList, ...]:
    periods = dict.fromkeys(PERIODS, UNCOUNTED) if not request.month else {}
    values: dict[FacetName, dict[str, int]] = {"host": counts["host"], "branch": counts["branch"], "time": periods}
    facets = []
    for name, of in values.items():
        shown = [
            FacetValue(value=value, words=_word(name, value), count=count)
            for value, count in (list(of.items()) if name == "time" else _first(of))
        ]
        facets.append(replace(_facet(request, name, shown), covers="" if name == "time" else covers))
    month = _facet(request, "month", [])
    return _shown(searcher, [*facets, *([month] if month.chosen else [])])


# Facets


def _named(searcher: Searcher, name: FacetName, counts: Counts, lessons: Iterable[FoundLesson]) -> list[FacetValue]:
    """Return the values of a facet with the words for them, the most frequent first, and months the newest first."""
    of = counts.get(name, {})
    ordered = (
        sorted(of.items(), reverse=True) if name == "month" else list(of.items()) if name == "time" else _first(of)
    )
    names: dict[str, str] = {}
    if name == "person":
        names = {each.lesson.provenance.person: each.lesson.provenance.person_name for each in lessons}
        names |= {value: _person(searcher, value) for value, _ in ordered[:FACET_VALUES] if value not in names}
    return [FacetValue(value=value, words=names.get(value) or _word(name, value), count=n) for value, n in ordered]


def _first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(((value, count) for value, count in counts.items() if value), key=lambda item: (-item[1], item[0]))


def _word(name: FacetName, value: str) -> str:
    """Return what people call a value; empty where it is called by itself."""
    if name == "month":
        return f"{datetime.strptime(value, '%Y-%m'):%B %Y}"
    if name == "trust":
        return next((words for trust, words in TRUST_WORDS.items() if trust == value), "")
    if name == "area" and value == ROOT_AREA:
        return "files in no folder"
    return PERIOD_WORDS.get(value, "") if name == "time" else ""


def _person(searcher: Searcher, person: str) -> str:
    """Return the name that a lesson of that person has."""
    where = LessonFilter(project=searcher.location.project.id, person=person, limit=1)
    return next((lesson.provenance.person_name for lesson in searcher.services.store.find(where)), "")


def _facet(request: SearchRequest, name: FacetName, values: Sequence[FacetValue]) -> FacetList:
    chosen = str(getattr(request, name))
    if chosen:
        words = next((each.words for each in values if each.value == chosen), "") or _word(name, chosen)
        return FacetList(name=name, title=TITLES[name], chosen=chosen, chosen_words=words)
    return FacetList(
        name=name, title=TITLES[name], values=tuple(values[:FACET_VALUES]), more=max(0, len(values) - FACET_VALUES)
    )


def _shown(searcher: Searcher, facets: Iterable[FacetList]) -> tuple[FacetList, ...]:
    """Return the facets by which something can be chosen or taken back."""
    known = (facet for facet in facets if facet.name != "freshness" or searcher.has_code)
    return tuple(facet for facet in known if facet.chosen or any(each.count for each in facet.values))


# Time and pages


def _span(now: datetime, request: SearchRequest) -> Span:
    """Return the time that is chosen, [since, until). Raises InvalidValueError for an impossible month."""
    since = now - timedelta(days=PERIODS[request.time]) if request.time else None
    if not request.month:
        return since, None
    try:
        begin = datetime.strptime(request.month, "%Y-%m").replace(tzinfo=UTC)
        end = (begin + timedelta(days=32)).replace(day=1)
    except (ValueError, OverflowError):
        raise InvalidValueError(f"no month: {request.month[:40]!r}", hint="such as month=2026-11") from None
    return max(begin, since) if since else begin, end


def _place(lesson: Lesson) -> str:
    return f"{_micros(lesson.recorded_at)}.{lesson.id}"


def _micros(at: datetime) -> int:
    return (at - datetime.fromtimestamp(0, UTC)) // timedelta(microseconds=1)


def _offset(after: str) -> int:
    """Return where a page of answers begins. Raises InvalidValueError for what no page begins with."""
    if after and not (after.isascii() and after.isdigit() and len(after) < 4):
        raise InvalidValueError(f"no page begins at {after[:40]!r}", hint="begin with the first page")
    return int(after or 0)


def _beyond(after: str) -> tuple[datetime, LessonId] | None:
    if not after:
        return None
    at, _, id_ = after.partition(".")
    try:
        return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=int(at)), LessonId(id_)
    except (ValueError, OverflowError):
        raise InvalidValueError(f"no page begins at {after[:40]!r}", hint="begin with the first page") from None
