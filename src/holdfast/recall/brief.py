"""The brief: what is known, told within a budget at a session's start. Read it from top to bottom.

1. `collect` reads the lessons that may be told and makes lines of them. The learner does it after each session and
   stores the lines (`prepare`); a start hook reads them and what changed since (`load`).
2. `order` sorts the lines for a session: by newness, branch, person, kind, source, outcomes and freshness.
3. `fit` chooses: commands, rules in full words, then titles, as many as the budget allows.
4. `render` writes the lines under their areas. What is told keeps its place from session to session, so that a host's
   prompt cache stays valid.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import exp

from holdfast.domain.briefing import BriefEntry, Briefing
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.query import Query
from holdfast.domain.statefamilies import BRIEF
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.notice import load_plain, owner_of
from holdfast.lean.texts import SHORT, dumps, loads
from holdfast.lessons.staging import seen_here
from holdfast.outcomes.standing import order_factors
from holdfast.ports.services import Services
from holdfast.ports.store import get_readable
from holdfast.recall.briefline import (
    CHANGED,
    COMMAND,
    OTHER,
    RULE,
    STALE,
    TITLE,
    TOLD_STATES,
    BriefLine,
    from_row,
    lines_of,
    may_be_told,
    title_line,
    to_row,
)
from holdfast.recall.tuning import (
    BRANCH_WORTH,
    CHANGES_READ,
    COLLECTED,
    COLLECTED_IN_A_HOOK,
    COMMAND_LINES,
    COUNTED,
    ID_ROOM,
    KEPT_LINES,
    LEAST_ID,
    LEFT_OUT_SHOWN,
    NEWNESS_LESSONS,
    NEWNESS_WORTH,
    OCCASION_DEPTH,
    OTHERS_WORTH,
    PINNED_READ,
    RULE_LINES,
    RULES_TOKENS,
)
from holdfast.rendering.lines import count_tokens, render_block
from holdfast.text.occasions import COMMAND_KINDS

INTRODUCTION = (
    "Notes of earlier sessions, quoted as data; the code may have changed. Before a note: its id and who said it"
    " (nobody named: an agent). `recall` or `holdfast show ID` has the whole note."
)
PARTS = (COMMAND, RULE, TITLE)
"""In the order in which they are told."""
HEADINGS = {COMMAND: "commands:", RULE: "rules:"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """The lines of a work tree as they were collected."""

    lines: tuple[BriefLine, ...] = ()
    at: str = ""
    """When, as an ISO instant; empty: they have not been collected by the learner yet."""
    person: str = ""
    """Who works here."""
    more: int = 0
    """How many lessons there are besides, up to COUNTED."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What a host accepts at a session's start, frame and task included."""

    tokens: int
    characters: int


# Collect


def collect(services: Services, location: Location, most: int = COLLECTED) -> list[Lesson]:
    """Return the lessons that may be told here: pinned ones, rules of all work and of commands, the newest `most`."""
    query = query_of(services, location)
    occasions = replace(query, occasions=("standing", *COMMAND_KINDS))
    store = services.store
    ids = dict.fromkeys((
        *(match.id for match in store.list_pinned(query, PINNED_READ)),
        *store.match_occasions(occasions, OCCASION_DEPTH),
        *(match.id for match in store.list_recent(query, most)),
    ))  # fmt: skip
    return [lesson for lesson in get_readable(store, list(ids)) if may_be_told(lesson)]


def prepare(services: Services, location: Location, session: SessionId | None = None) -> int:
    """Make the lines of the work tree and store them for the next start; return how many there are.

    What the README or a rules file that agents read says in the same words is left out. `session` is the last one: its
    host may have said which files it reads.
    """
    from holdfast.recall.written import without_written

    now, collected = services.clock.now(), collect(services, location)
    at = max([now, *(lesson.recorded_at for lesson in collected)])  # some may come from a clock that is ahead
    lessons = without_written(services, location, collected, session)
    check = FreshnessCheck(services, location)
    stale = [lesson.id for lesson in lessons if check.judge(lesson)[0] in STALE]
    lines = _with_a_chance(lines_of(lessons, stale, order_factors(services.store, location.project.id)))
    stored = {
        "at": at.isoformat(), "person": services.workspace.person(location).id,
        "more": _count_further(services, location), "lines": list(map(to_row, lines)),
    }  # fmt: skip
    services.store.set_state(BRIEF, owner_of(location), dumps(stored))
    return len(lines)


def load(services: Services, location: Location) -> Lines:
    """Return the work tree's lines: the stored ones, and those of lessons that were recorded since.

    Without stored lines they are made here, in a hook from fewer lessons. `session_brief` leaves out the lines of
    lessons that have changed otherwise.
    """
    stored = _stored(services, location)
    if stored is None:
        most = COLLECTED_IN_A_HOOK if services.low_latency else COLLECTED
        lines = _made(services, location, collect(services, location, most))
        return Lines(lines=tuple(lines), more=_count_further(services, location, most))
    if services.serves_team:  # the lines are everybody's
        stored = replace(stored, person=services.workspace.person(location).id)
    changed = _changed_since(services, location, stored.at)
    if not changed:
        return stored
    lessons = [lesson for lesson in get_readable(services.store, changed) if may_be_told(lesson)]
    others = [line for line in stored.lines if line.id not in changed]
    return replace(stored, lines=(*others, *_made(services, location, lessons)))


def changed_since_prepared(services: Services, location: Location) -> int:
    """Return how many lessons changed since the lines were prepared, up to CHANGES_READ; that many without lines."""
    stored = _stored(services, location)
    return CHANGES_READ if stored is None else len(_changed_since(services, location, stored.at))


def _changed_since(services: Services, location: Location, at: str) -> list[LessonId]:
    since = datetime.fromisoformat(at)
    recent = services.store.list_recent(query_of(services, location), CHANGES_READ)
    return [match.id for match in recent if match.recorded_at > since]


def _made(services: Services, location: Location, lessons: Sequence[Lesson]) -> list[BriefLine]:
    return lines_of(lessons, (), order_factors(services.store, location.project.id))


def _with_a_chance(lines: Sequence[BriefLine]) -> list[BriefLine]:
    """Return the lines that a brief may reach: the best KEPT_LINES, and those of branches of the newest of them."""
    newest = list(_newest_first(lines))
    worths = {line.id: worth for worth, line in newest}
    best = sorted(lines, key=lambda line: -worths[line.id])
    branches = {line.branch for _, line in newest[:KEPT_LINES] if line.branch}
    return [*best[:KEPT_LINES], *[line for line in best[KEPT_LINES:] if line.branch in branches][:KEPT_LINES]]


def _newest_first(lines: Iterable[BriefLine]) -> Iterator[tuple[float, BriefLine]]:
    """Yield the lines, newest first, each with its worth, newness included."""
    newest = sorted(lines, key=lambda line: (line.since, line.id), reverse=True)
    for rank, line in enumerate(newest):
        yield line.worth + NEWNESS_WORTH * exp(-rank / NEWNESS_LESSONS), line


def _count_further(services: Services, location: Location, most: int = COLLECTED) -> int:
    """Return how many more lessons there are than are collected, up to COUNTED."""
    return max(0, services.store.count_lessons(query_of(services, location), most + COUNTED) - most)


def query_of(services: Services, location: Location) -> Query:
    """Return the query for all lessons that may be told here now."""
    return Query(project=location.project.id, at=services.clock.now(), states=TOLD_STATES, prefix=location.prefix)


def _stored(services: Services, location: Location) -> Lines | None:
    """Return the stored lines; None if there are none, or none that this version can read."""
    text = services.store.get_state(BRIEF, owner_of(location))
    if not text:
        return None
    try:
        stored = loads(text)
        if datetime.fromisoformat(stored["at"]).tzinfo is None:
            return None
        lines = tuple(map(from_row, stored["lines"]))
        return Lines(lines=lines, at=stored["at"], person=stored["person"], more=int(stored["more"]))
    except (KeyError, TypeError, ValueError):
        return None


# Order


def order(services: Services, location: Location, lines: Lines) -> list[tuple[float, BriefLine]]:
    """Return the lines that are visible here with their worth in this session, best first."""
    staged = seen_here(services, location)
    visible = [line for line in lines.lines if _is_visible(line, location, staged)]
    gone_stale = {id_ for id_, plain in load_plain(services, location).items() if plain.get("state") in STALE}
    worths = []
    for worth, line in _newest_first(visible):
        if line.branch and line.branch == location.branch:
            worth += BRANCH_WORTH
        if line.person and lines.person and line.person != lines.person:
            worth -= OTHERS_WORTH
        worths.append((worth, replace(line, is_stale=True) if line.id in gone_stale else line))
    return sorted(worths, key=lambda pair: (-pair[0], pair[1].id))


def _is_visible(line: BriefLine, location: Location, staged: Container[LessonId] | None) -> bool:
    here, there = f"{location.prefix}/", f"{line.prefix}/"
    related = not line.prefix or not location.prefix or here.startswith(there) or there.startswith(here)
    return related and (not line.staged or staged is None or line.id in staged)


# Fit


def fit(ordered: Sequence[tuple[float, BriefLine]], room: Room, task: str, more: int = 0) -> Briefing:
    """Return the brief of the lines that fit, and those left out; `more` counts lessons that have no line."""
    queue = sorted(_in_parts(ordered), key=lambda pair: _place_in_queue(pair[1]))
    frame = render_block([], _more(len(ordered) + more), task, INTRODUCTION)
    if count_tokens(frame) > room.tokens or len(frame) > room.characters:
        return fit(ordered, room, "", more) if task else Briefing(moment="session_start", more=len(ordered) + more)
    chosen, left_out = _choose(queue, room, frame)
    if left_out and not more:  # without the line that counts what is left out, perhaps nothing is
        everything, none = _choose(queue, room, render_block([], "", task, INTRODUCTION))
        chosen, left_out = (chosen, left_out) if none else (everything, none)
    briefing = render(chosen, left_out, task, more)
    while chosen and (briefing.tokens > room.tokens or len(briefing.text) > room.characters):
        left_out.insert(0, chosen.pop())  # an id that is not unique is longer than was counted
        briefing = render(chosen, left_out, task, more)
    return briefing


def _choose(
    queue: Iterable[tuple[float, BriefLine]], room: Room, frame: str
) -> tuple[list[tuple[float, BriefLine]], list[tuple[float, BriefLine]]]:
    """Return the lines that fit into the room beside the frame, with their headings, and those that do not."""
    tokens, characters = room.tokens - count_tokens(frame), room.characters - len(frame)
    chosen: list[tuple[float, BriefLine]] = []
    left_out: list[tuple[float, BriefLine]] = []
    headings: set[str] = set()
    for worth, line in queue:
        heading = _heading(line)
        cost, length = _size(line)
        if heading not in headings:
            cost, length = cost + count_tokens(heading), length + len(heading) + 1
        if cost > tokens or length > characters:
            left_out.append((worth, line))
            continue
        tokens, characters = tokens - cost, characters - length
        headings.add(heading)
        chosen.append((worth, line))
    return chosen, left_out


def _size(line: BriefLine) -> tuple[int, int]:
    """Return the tokens and characters of a line, with room for an id and a note."""
    if line.part == RULE:
        return line.full_tokens, len(line.full) + 1
    note = f" ({CHANGED})" if line.is_stale else ""
    return line.tokens + (count_tokens(note) if note else 0), len(line.title) + len(line.source) + len(note) + ID_ROOM


def _in_parts(ordered: Iterable[tuple[float, BriefLine]]) -> Iterator[tuple[float, BriefLine]]:
    """Yield the lines, best first; commands and rules for which their part has no room are titles."""
    commands, rules, tokens = COMMAND_LINES, RULE_LINES, RULES_TOKENS
    for worth, line in ordered:
        if line.part == COMMAND and commands:
            commands -= 1
            yield worth, line
        elif line.part == RULE and rules and line.full_tokens <= tokens:
            rules, tokens = rules - 1, tokens - line.full_tokens
            yield worth, line
        else:
            yield worth, line if line.part == TITLE else replace(line, part=TITLE)


def _place_in_queue(line: BriefLine) -> int:
    """Return the sort key of a line that is already ordered by worth: commands, rules, titles."""
    return PARTS.index(line.part)


def short_ids(ids: Sequence[LessonId]) -> dict[LessonId, str]:
    """Return for each id its shortest end that no other of the ids has, at least LEAST_ID characters."""
    ends = {id_: id_[-LEAST_ID:] for id_ in ids}
    counts: dict[str, int] = {}
    for end in ends.values():
        counts[end] = counts.get(end, 0) + 1
    return {id_: end if counts[end] == 1 else id_[-SHORT:] for id_, end in ends.items()}


def _text(line: BriefLine, end: str) -> str:
    if line.part == RULE:
        return line.full
    return title_line(end, line.title, line.source, CHANGED if line.is_stale else "")


def _heading(line: BriefLine) -> str:
    return HEADINGS.get(line.part, f"{line.area}:")


# Render


def render(
    chosen: Sequence[tuple[float, BriefLine]],
    left_out: Sequence[tuple[float, BriefLine]],
    task: str,
    more: int,
) -> Briefing:
    """Return the brief. Lines stand under their headings in the order in which they were learnt."""
    named = [*chosen, *left_out[:LEFT_OUT_SHOWN]]
    ids = short_ids([line.id for _, line in named])
    texts = {line.id: _text(line, ids[line.id]) for _, line in named}
    placed = sorted(chosen, key=lambda pair: (_heading_order(pair[1]), pair[1].since, pair[1].id))
    rows: list[str] = []
    entries: list[BriefEntry] = []
    heading = ""
    for rank, (worth, line) in enumerate(placed, start=1):
        if _heading(line) != heading:
            heading = _heading(line)
            rows.append(heading)
        rows.append(texts[line.id])
        entries.append(_entry(line, rank, worth, texts[line.id]))
    further = len(left_out) + more
    text = render_block(rows, _more(further), task, INTRODUCTION) if rows or task or further else ""
    next_ones = tuple(_entry(line, 0, worth, texts[line.id]) for worth, line in left_out[:LEFT_OUT_SHOWN])
    return Briefing(
        moment="session_start", entries=tuple(entries), left_out=next_ones, more=further, tokens=count_tokens(text),
        checkpoint_text=task, text=text,
    )  # fmt: skip


def _entry(line: BriefLine, rank: int, worth: float, text: str) -> BriefEntry:
    return BriefEntry(
        id=line.id,
        rank=rank,
        score=max(0.0, round(worth, 4)),
        reason=f"{line.part} of the brief",
        text=text,
        also=line.also,
    )


def _heading_order(line: BriefLine) -> tuple[int, bool, bool, str]:
    """Return the sort key of a heading: commands, rules, kinds of work, folders, other."""
    area = line.area if line.part == TITLE else ""
    return PARTS.index(line.part), area == OTHER, area.endswith("/"), area


def _more(count: int) -> str:
    return f"{count} more: `recall` a subject, or `holdfast list`" if count > 0 else ""


def session_brief(
    services: Services,
    location: Location,
    room: Room,
    *,
    task: str = "",
    leave_out: Container[LessonId] = (),
    learnt_in: str = "",
    is_withheld: Callable[[LessonId], bool] | None = None,
) -> tuple[Briefing, tuple[LessonId, ...]]:
    """Return the brief of a session here, and the lessons that chance withheld from it.

    `leave_out` names what the agent has in its context, and `learnt_in` the session whose own lessons it has there.
    `is_withheld` draws which titles a session is not told.
    """
    lines = load(services, location)
    ordered = [
        pair
        for pair in order(services, location, lines)
        if pair[1].id not in leave_out and not (learnt_in and pair[1].session == learnt_in)
    ]
    briefing = fit(ordered, room, task, lines.more)
    while outdated := _outdated(services, ordered, briefing):
        ordered = [pair for pair in ordered if pair[1].id not in outdated]
        briefing = fit(ordered, room, task, lines.more)
    fixed = {line.id for _, line in ordered if line.is_fixed or line.part == COMMAND}
    drawn = is_withheld or (lambda _: False)
    withheld = tuple(entry.id for entry in briefing.entries if entry.id not in fixed and drawn(entry.id))
    if withheld:
        briefing = fit([pair for pair in ordered if pair[1].id not in withheld], room, task, lines.more)
    return briefing, withheld


def _outdated(
    services: Services, ordered: Iterable[tuple[float, BriefLine]], briefing: Briefing
) -> frozenset[LessonId]:
    """Return the lessons of the brief whose line was made from another version, or that may not be told any more."""
    chosen = [entry.id for entry in briefing.entries]
    made_of = {line.id: line.recorded_at for _, line in ordered}
    versions = services.store.current_versions(chosen)
    return frozenset(
        id_
        for id_ in chosen
        if id_ not in versions or versions[id_][0] not in TOLD_STATES or versions[id_][1].isoformat() != made_of[id_]
    )
