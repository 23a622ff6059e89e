"""Failures across sessions for people: what is open, what was cured and how, which lesson it left (ADR 53)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import EventId, LessonId, SessionId
from holdfast.outcomes.threads import STANDINGS, Standing, Thread, load_threads, standing_of
from holdfast.ports.services import Services
from holdfast.reports.timeline import Sees, taught_by
from holdfast.reports.tuning import THREAD_SESSIONS, THREADS_SHOWN

StandingChoice = Literal["", "open", "cured", "not seen again"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadTry:
    """The failing runs of a thread in one session."""

    session: SessionId
    at: datetime
    branch: str
    runs: int
    edits: int
    """Edits of files between its runs there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadMend:
    """The run that showed a thread as cured."""

    session: SessionId
    at: datetime
    branch: str
    files: tuple[str, ...]
    """Files edited before it passed, the newest last."""
    is_other_form: bool
    """Another form of the command passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadLesson:
    """A lesson that the failure left."""

    lesson: LessonId
    title: str
    state: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadLine:
    """A failure, its tries and its cure."""

    key: str
    kind: str
    """`test`, `check` or `command`."""
    text: str
    others: tuple[str, ...]
    """Other tests that failed and were cured in the same runs."""
    error: str
    purpose: str
    standing: Standing
    branch: str
    first_at: datetime
    since_at: datetime
    """When it failed first since it was cured last."""
    last_at: datetime
    runs: int
    sessions: int
    came_back: int
    """How often it failed again after it had been cured."""
    tries: tuple[ThreadTry, ...]
    """By session, the newest first."""
    cure: ThreadMend | None
    lessons: tuple[ThreadLesson, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Threads:
    """The threads of a project that match, the open ones first, then the newest."""

    threads: tuple[ThreadLine, ...]
    counts: dict[str, int]
    """Threads by standing, those of one slip left out."""
    slips: int
    """Failures that the next try cured, which are left out unless they are asked for."""
    older: str = ""
    """The key behind which the next page begins; empty: there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadChoice:
    """Which threads are listed; all conditions hold together."""

    standing: StandingChoice = ""
    branch: str = ""
    with_slips: bool = False
    key: str = ""
    """Only this thread."""
    beyond: str = ""
    """`Threads.older` of the page before."""
    limit: int = THREADS_SHOWN


def threads(
    services: Services,
    location: Location,
    choice: ThreadChoice = ThreadChoice(),
    *,
    sees: Sees = lambda lesson: True,
) -> Threads:
    """Return the threads that match; `sees` says whether the reader may see a lesson."""
    now = services.clock.now()
    lines = sorted(_lines(load_threads(services, location), now), key=lambda line: line.last_at, reverse=True)
    if choice.key:
        named = [line for line in lines if line.key == choice.key]
        return Threads(threads=tuple(_with_lessons(services, location, named, sees)), counts={}, slips=0)
    here = [line for line in lines if not choice.branch or choice.branch in {line.branch, *_branches(line)}]
    real = [line for line in here if not is_slip(line)]
    counts = Counter(line.standing for line in real)
    chosen = [
        line
        for line in (here if choice.with_slips else real)
        if choice.standing in ("", line.standing)
    ]  # fmt: skip
    chosen.sort(key=lambda line: STANDINGS.index("open") if line.standing == "open" else 1)
    start = next((at + 1 for at, line in enumerate(chosen) if line.key == choice.beyond), 0)
    page = chosen[start : start + choice.limit]
    return Threads(
        threads=tuple(_with_lessons(services, location, page, sees)),
        counts={standing: counts[standing] for standing in STANDINGS},
        slips=0 if choice.with_slips else len(here) - len(real),
        older=page[-1].key if page and start + choice.limit < len(chosen) else "",
    )


def is_slip(line: ThreadLine) -> bool:
    """Return whether it failed once and the next try cured it, or nobody tried again: nothing to tell anybody.

    What is no check of the code, and failed once, was mostly tried out.
    """
    return line.runs == 1 and (line.standing != "open" or line.kind == "command")


def _branches(line: ThreadLine) -> Iterator[str]:
    return (tries.branch for tries in line.tries)


def _lines(known: Iterable[Thread], now: datetime) -> Iterator[ThreadLine]:
    """Yield a line for each failure; tests that failed last in one run and were cured by one run are one line."""
    groups: dict[tuple[EventId, EventId], list[Thread]] = {}
    for thread in known:
        groups.setdefault((thread.event, thread.cure.event if thread.cure else EventId("")), []).append(thread)
    for group in groups.values():
        main = max(group, key=lambda thread: (thread.runs, bool(thread.error)))
        yield replace(
            _line(main, now), others=tuple(sorted(thread.text for thread in group if thread is not main))
        )  # fmt: skip


def _line(thread: Thread, now: datetime) -> ThreadLine:
    cure = thread.cure
    return ThreadLine(
        key=thread.key, kind=thread.kind, text=thread.text, others=(), error=thread.error, purpose=thread.purpose,
        standing=standing_of(thread, now), branch=thread.branch, first_at=thread.tries[0].first_at,
        since_at=thread.last_tries[0].first_at,
        last_at=thread.last_at, runs=thread.runs, sessions=len(thread.tries), came_back=thread.came_back,
        tries=tuple(
            ThreadTry(
                session=tries.session, at=tries.last_at, branch=tries.branch, runs=tries.runs, edits=tries.edits
            )
            for tries in thread.tries[::-1][:THREAD_SESSIONS]
        ),
        cure=ThreadMend(
            session=cure.session, at=cure.at, branch=cure.branch, files=cure.files, is_other_form=cure.is_other_form
        ) if cure else None,
    )  # fmt: skip


def _with_lessons(
    services: Services, location: Location, lines: Sequence[ThreadLine], sees: Sees
) -> Iterator[ThreadLine]:
    """Yield the lines with the lessons that rest on a run of them."""
    events = {thread.key: _events(thread) for thread in load_threads(services, location)} if lines else {}
    taught: dict[SessionId, list[Lesson]] = {}
    for line in lines:
        sessions = {tries.session for tries in line.tries} | ({line.cure.session} if line.cure else set())
        for session in sessions - set(taught):
            taught[session] = [lesson for lesson in taught_by(services, location, session) if sees(lesson)]
        left = {
            lesson.id: ThreadLesson(lesson=lesson.id, title=lesson.title, state=lesson.state)
            for session in sessions
            for lesson in taught[session]
            if events[line.key] & {span.event for span in lesson.provenance.evidence}
        }
        yield replace(line, lessons=tuple(left.values()))


def _events(thread: Thread) -> frozenset[EventId]:
    return frozenset([*(tries.event for tries in thread.tries), *(cure.event for cure in thread.cures)])
