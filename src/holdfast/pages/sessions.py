"""The timeline of sessions, what was done last time on this branch, and the story of one session."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta

from holdfast.domain.vocabulary import SessionId
from holdfast.errors import InvalidValueError
from holdfast.pages.page import Page, PageRow
from holdfast.pages.reading import WrongQueryError
from holdfast.pages.view import View
from holdfast.reports.sessionstory import Part, SessionStory, tell_session
from holdfast.reports.threads import ThreadChoice, ThreadLine, threads
from holdfast.reports.timeline import SessionChoice, SessionLine, Timeline, last_on, timeline
from holdfast.text.window import clip

SESSIONS_ON_PAGE = 30
LAST_PROMPTS, LAST_COMMITS, LAST_LESSONS = 2, 4, 4
"""Prompts besides the first, commits and lessons of the last session that the timeline shows above itself."""
LEAST_WORDS = 4
"""Words of a prompt that asks for something: `yes, commit` says nothing later."""
PROMPT_SHOWN = 220
"""Characters of such a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineQuery:
    """Which sessions are listed."""

    branch: str = ""
    person: str = ""
    host: str = ""
    since: str = ""
    """A day, `2026-11-28`, UTC."""
    until: str = ""
    """The last day."""
    beyond: str = ""
    """Where the page before ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTime:
    """What was done last time on a branch, in a few lines."""

    branch: str
    line: SessionLine
    prompts: tuple[str, ...]
    """The first request and the last ones."""
    commits: tuple[str, ...]
    taught: tuple[tuple[str, str], ...]
    """Id and title of lessons."""
    open: tuple[ThreadLine, ...]
    """What is still failing on the branch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionsData:
    """What the page of sessions says."""

    timeline: Timeline
    query: TimelineQuery
    last: LastTime | None = None
    is_filtered: bool = False
    branches: tuple[str, ...] = ()
    persons: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """Names that the sessions shown have, to choose from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryQuery:
    """Which part of a story is given whole."""

    whole: Part = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryData:
    """What the page of a session says."""

    story: SessionStory


def make_sessions(view: View, query: TimelineQuery) -> Page:
    """Return the timeline."""
    memory = view.memory
    until = _day(query.until)
    choice = SessionChoice(
        branch=query.branch, person=query.person, host=query.host, since=_day(query.since),
        until=until + timedelta(days=1) if until else None, beyond=query.beyond, limit=SESSIONS_ON_PAGE,
    )  # fmt: skip
    try:
        listed = timeline(memory.services, memory.location, choice, counts_waiting=not view.is_served)
    except InvalidValueError as exc:
        raise WrongQueryError(str(exc), hint=exc.hint) from exc
    is_filtered = any(getattr(query, each.name) for each in fields(query))
    branch = query.branch or ("" if is_filtered else memory.location.branch)
    shows_last = bool(branch) and not (query.person or query.host or query.since or query.until or query.beyond)
    lines = listed.sessions
    return Page(
        template="sessions",
        data=SessionsData(
            timeline=listed,
            query=query,
            last=_last_time(view, branch) if shows_last else None,
            is_filtered=is_filtered,
            branches=_names(line.branch for line in lines),
            persons=_names(line.person for line in lines),
            hosts=_names(line.host for line in lines),
        ),
    )


def make_session(view: View, query: StoryQuery) -> Page:
    """Return the story of a session. Raises NotFoundError for an unknown one."""
    memory = view.memory
    session = SessionId(view.parameters["session"])
    story = tell_session(memory.services, memory.location, session, whole=query.whole, sees=view.sees)
    return Page(template="session", title=story.line.opening or "A session", data=StoryData(story=story))


def _last_time(view: View, branch: str) -> LastTime | None:
    """Return what the last session on the branch did; None if there was none."""
    services, location = view.memory.services, view.memory.location
    session = last_on(services, location, branch)
    if not session:
        return None
    story = tell_session(services, location, session, sees=view.sees)
    still_open = threads(services, location, ThreadChoice(standing="open", branch=branch, limit=2), sees=view.sees)
    own = [prompt.text for prompt in story.prompts if prompt.text and not prompt.from_program]
    own = [text for text in own if len(text.split()) >= LEAST_WORDS] or own
    return LastTime(
        branch=branch,
        line=story.line,
        prompts=tuple(clip(" ".join(text.split()), PROMPT_SHOWN) for text in [*own[:1], *own[1:][-LAST_PROMPTS:]]),
        commits=tuple(commit.subject for commit in story.commits if commit.subject)[-LAST_COMMITS:],
        taught=tuple((lesson.lesson, lesson.title) for lesson in story.taught[:LAST_LESSONS]),
        open=still_open.threads,
    )


def _names(values: object) -> tuple[str, ...]:
    return tuple(sorted(set(filter(None, values)), key=str.casefold))  # type: ignore[call-overload]


def _day(text: str) -> datetime | None:
    """Return the beginning of a day. Raises WrongQueryError for a text that is none."""
    if not text:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError as exc:
        raise WrongQueryError(f"not a day: {text[:40]!r}", hint="write it as 2026-11-28") from exc


PAGES = (
    PageRow(
        path="/p/{project}/sessions", name="sessions", title="Sessions", make=make_sessions, query=TimelineQuery
    ),
    PageRow(
        path="/p/{project}/sessions/{session}", name="session", title="A session", make=make_session,
        query=StoryQuery, under="sessions",
    ),
)  # fmt: skip
