"""The sessions of a project by day, newest first: one line each, read from rows and never from a session's events.

The store's row says when, where and how the session opened (`Store.list_sessions`); the learner's digest says what was
done in it (`outcomes.sessiondigest`). A session that nobody has learnt from yet has no digest, and its line says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import SESSION_DIGESTS
from holdfast.domain.vocabulary import STATES, SessionId, State
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.outcomes.sessiondigest import SessionDigest, load_digests, parse_digest
from holdfast.ports.services import Services
from holdfast.ports.store import EVERY, LessonFilter, SessionFilter, SessionRow
from holdfast.reports.tuning import OPENING_SHOWN, SESSIONS_A_READ, TAUGHT_READ
from holdfast.text.prompts import read_prompt
from holdfast.text.speech import spoken_text
from holdfast.text.window import clip

Sees = Callable[[Lesson], bool]
LISTED: tuple[State, ...] = tuple(state for state in STATES if state != "forgotten")
CONFIRMED: tuple[State, ...] = ("active", "superseded", "retired")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLine:
    """One session in a line."""

    session: SessionId
    host: str
    branch: str
    """The branch worked on last; empty where none is known."""
    person: str
    """The name of whoever worked there; empty where it is not known."""
    began_at: datetime
    ended_at: datetime
    """When it was heard of last: it may go on."""
    active_s: int
    """Seconds of work, pauses left out; without a digest from the first event to the last."""
    opening: str
    """The first prompt, shortened; empty where there is none, or its text was erased."""
    is_erased: bool
    """Whether there was a prompt whose text is not there any more."""
    prompts: int
    events: int
    is_counted: bool
    """Whether the learner has read it; the numbers below are 0 where it has not."""
    edits: int = 0
    files: int = 0
    failures: int = 0
    mended: int = 0
    commits: int = 0
    taught: int = 0
    """Lessons that it taught, waiting ones too."""
    branches: tuple[str, ...] = ()
    """Every branch that it worked on, if it was more than one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineDay:
    """The sessions that were active last on one day, UTC."""

    day: str
    """`2026-11-28`."""
    sessions: tuple[SessionLine, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """A page of the sessions."""

    days: tuple[TimelineDay, ...] = ()
    older: str = ""
    """Where the next page begins; empty: there is none."""

    @property
    def sessions(self) -> tuple[SessionLine, ...]:
        """Its sessions, newest first."""
        return tuple(line for day in self.days for line in day.sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChoice:
    """Which sessions are listed; all conditions hold together."""

    branch: str = ""
    host: str = ""
    person: str = ""
    """A name or an id."""
    since: datetime | None = None
    until: datetime | None = None
    beyond: str = ""
    """`Timeline.older` of the page before."""
    limit: int = 50


def timeline(services: Services, location: Location, choice: SessionChoice, *, counts_waiting: bool = True) -> Timeline:
    """Return the sessions that match, by day, newest first. Raises InvalidValueError for a place that is none.

    Without `counts_waiting` the lines count only lessons that were confirmed, which every reader may see.
    """
    rows = list(_matching(services, location, choice))
    page, rest = rows[: choice.limit], rows[choice.limit :]
    lines = lines_of(services, location, page, LISTED if counts_waiting else CONFIRMED)
    days = [TimelineDay(day=day, sessions=tuple(group)) for day, group in groupby(lines, key=_day)]
    return Timeline(days=tuple(days), older=_place(page[-1]) if rest else "")


def lines_of(
    services: Services, location: Location, rows: Sequence[SessionRow], states: tuple[State, ...]
) -> list[SessionLine]:
    """Return a line for each row; what was done in the sessions is read for these rows alone."""
    digests = load_digests(services, location, [row.session for row in rows])
    return [
        line_of(row, digests.get(row.session), _count_taught(services, location, row.session, states)) for row in rows
    ]


def _count_taught(services: Services, location: Location, session: SessionId, states: tuple[State, ...]) -> int:
    """Count the lessons that the session taught, without reading them."""
    where = LessonFilter(project=location.project.id, session=session, states=states, limit=EVERY)
    return sum(services.store.count_by(where, "state", len(states)).values())


def line_of(row: SessionRow, digest: SessionDigest | None, taught: int) -> SessionLine:
    """Return the line of a session."""
    known = digest or SessionDigest()
    return SessionLine(
        session=row.session, host=row.host, branch="" if row.branch == "HEAD" else row.branch,
        person=known.person_name, began_at=row.first, ended_at=row.last,
        active_s=known.active_s if digest else round((row.last - row.first).total_seconds()),
        opening=gist_of(row.opening), is_erased=bool(row.prompts and not row.opening), prompts=row.prompts,
        events=row.events, is_counted=digest is not None, edits=known.edits, files=known.files,
        failures=known.failures, mended=known.mended, commits=known.commits, taught=taught,
        branches=known.branches if len(known.branches) > 1 else (),
    )  # fmt: skip


def gist_of(prompt: str, limit: int = OPENING_SHOWN) -> str:
    """Return a prompt on one line: the person's words, or what a program wrote where a person wrote nothing."""
    own = " ".join(read_prompt(prompt).own.split()) or " ".join(spoken_text(prompt).split())
    return clip(own or " ".join(prompt.split()), limit)


def taught_by(services: Services, location: Location, session: SessionId) -> list[Lesson]:
    """Return the lessons that the session taught, newest first: confirmed, waiting, and what became of them later."""
    where = LessonFilter(project=location.project.id, session=session, states=LISTED, limit=TAUGHT_READ)
    return services.store.find(where)


def last_on(services: Services, location: Location, branch: str, *, before: SessionId = "") -> SessionId:  # type: ignore[assignment]
    """Return the newest session with a prompt on that branch, other than `before`; empty if there is none."""
    where = SessionFilter(project=location.project.id, branch=branch, limit=SESSIONS_A_READ)
    rows = services.store.list_sessions(where)
    return next((row.session for row in rows if row.prompts and row.session != before), SessionId(""))


def _matching(services: Services, location: Location, choice: SessionChoice) -> Iterator[SessionRow]:
    """Yield the rows that match, one more than are wanted."""
    wanted = choice.limit + 1
    where = SessionFilter(
        project=location.project.id, branch=choice.branch, host=choice.host, since=choice.since, until=choice.until,
        beyond=_parsed_place(choice.beyond) if choice.beyond else None,
        limit=SESSIONS_A_READ if choice.person else wanted,
    )  # fmt: skip
    if not choice.person:
        yield from services.store.list_sessions(where)
        return
    theirs = _sessions_of(services, location, choice.person)
    left = wanted if theirs else 0
    while left:
        rows = services.store.list_sessions(where)
        for row in [row for row in rows if row.session in theirs][:left]:
            left -= 1
            yield row
        if len(rows) < where.limit:
            return
        where = SessionFilter(
            project=where.project, branch=where.branch, host=where.host, since=where.since, until=where.until,
            beyond=(rows[-1].last, rows[-1].session), limit=where.limit,
        )  # fmt: skip


def _sessions_of(services: Services, location: Location, person: str) -> frozenset[SessionId]:
    """Return the sessions of a person, by name or id."""
    rows = services.store.get_rows(SESSION_DIGESTS, location.project.id)
    wanted = person.casefold()
    digests = ((SessionId(session), parse_digest(value)) for session, value in rows.items() if person in value)
    return frozenset(
        session
        for session, digest in digests
        if digest is not None and wanted in (digest.person_name.casefold(), digest.person.casefold())
    )


def _day(line: SessionLine) -> str:
    return f"{line.ended_at:%Y-%m-%d}"


def _place(row: SessionRow) -> str:
    return f"{render_instant(row.last)}~{row.session}"


def _parsed_place(text: str) -> tuple[datetime, SessionId]:
    at, _, session = text.partition("~")
    if not session:
        raise InvalidValueError(f"no place in the list of sessions: {text!r}", hint="use the address of its link")
    return parse_instant(at), SessionId(session)


def length_words(seconds: int) -> str:
    """Return a length of time as people say it: `under a minute`, `25 min`, `3 h 20 min`."""
    minutes = round(timedelta(seconds=seconds) / timedelta(minutes=1))
    if minutes < 1:
        return "under a minute"
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h" + (f" {minutes % 60} min" if minutes % 60 else "")
