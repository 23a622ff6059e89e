"""The story of one session: what was asked, failed and was mended, edited, committed, told, taught and missed.

It is read from the session's events and from the log, without a model. Texts were redacted when they were stored, and
nothing but what is stored is shown: where a text was erased, the story says so. Each part is short at first; `whole`
names the one that is given whole.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeVar

from holdfast.capture.sessionevents import session_events
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.vocabulary import EventId, LessonId, SessionId, Verdict
from holdfast.errors import NotFoundError
from holdfast.outcomes.sessiondigest import SessionDigest, digest_of, load_digests
from holdfast.outcomes.threads import Run, Standing, Thread, fold, load_threads, read_runs, standing_of
from holdfast.ports.services import Services
from holdfast.ports.store import LogFilter, SessionFilter, get_readable
from holdfast.reports.timeline import Sees, SessionLine, line_of, taught_by
from holdfast.reports.tuning import (
    ANSWER_SHOWN,
    COMMANDS_SHOWN,
    COMMITS_SHOWN,
    FAILURES_SHOWN,
    FILES_SHOWN,
    LESSONS_SHOWN,
    LINE_SHOWN,
    PROMPT_MOST,
    PROMPT_SHOWN,
    PROMPTS_SHOWN,
    WHOLE_MOST,
)
from holdfast.text.commits import commits_in
from holdfast.text.prompts import read_prompt
from holdfast.text.window import clip

Part = Literal["", "prompts", "failures", "files", "commands", "commits", "told", "taught", "missed"]
"""A part of the story that is given whole; empty: none."""
T = TypeVar("T")
_MARKS = re.compile(r"(?<!\w)\*\*|\*\*(?!\w)|^#+ ", re.MULTILINE)
"""Marks of Markdown that only say how a text looks."""
JUDGED: tuple[Verdict, ...] = ("heeded", "helped", "hurt", "overridden", "failed", "ignored")
"""What followed a delivery, the most telling first; `unclear` says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryPrompt:
    """What the person asked, and what followed until the next prompt."""

    event: EventId
    at: datetime
    text: str
    """The person's words; empty where the text was erased."""
    is_erased: bool = False
    is_cut: bool = False
    """There is more of it."""
    from_program: bool = False
    """A program wrote it: a plan, a summary, a notice."""
    edits: int = 0
    files: int = 0
    commands: int = 0
    failures: int = 0
    answer: str = ""
    """The agent's last words before the next prompt, shortened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryFailure:
    """Something that failed in the session."""

    thread: str
    """The key of its thread; empty where the project has none by now."""
    text: str
    error: str
    at: datetime
    runs: int
    edits: int
    standing: Standing
    """In this session."""
    cured_at: datetime | None = None
    files: tuple[str, ...] = ()
    """What was edited before it passed."""
    other_sessions: int = 0
    """Further sessions in which it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryFile:
    """A file that was edited."""

    path: str
    edits: int
    added: int
    """Lines written, as far as their text is stored."""
    removed: int
    is_erased: bool = False
    """The text of some of the edits was erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryCommand:
    """A command that mattered: a check of the code, or one that failed."""

    line: str
    purpose: str
    """Test, build, lint, …; empty for another command."""
    runs: int
    failed: int
    ended_well: bool
    """Whether it passed when it was run last."""
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryCommit:
    """A commit that the session made."""

    at: datetime
    subject: str
    """Empty where neither git nor the command says it."""
    branch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryLesson:
    """A lesson that the session was told, taught or missed."""

    lesson: LessonId
    title: str
    state: str
    at: datetime
    moment: str = ""
    """When it was told, in words: `before a command`."""
    is_at_start: bool = False
    """It was a line of the brief at the session's start."""
    times: int = 1
    verdict: str = ""
    """What followed: heeded, ignored, missed, withheld, …; empty where nothing shows it."""
    note: str = ""
    """The words that show it, or why it was missed."""
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartSize:
    """How many entries a part has, and how many of them are shown."""

    total: int
    shown: int

    @property
    def more(self) -> int:
        """How many are not shown."""
        return self.total - self.shown


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStory:
    """A session's story."""

    line: SessionLine
    model: str
    """The model that worked last; empty where the host does not say it."""
    prompts: tuple[StoryPrompt, ...]
    failures: tuple[StoryFailure, ...]
    files: tuple[StoryFile, ...]
    commands: tuple[StoryCommand, ...]
    commits: tuple[StoryCommit, ...]
    told: tuple[StoryLesson, ...]
    taught: tuple[StoryLesson, ...]
    missed: tuple[StoryLesson, ...]
    counts: dict[str, PartSize]
    """By part."""
    erased: int = 0
    """Events whose text was erased."""
    whole: Part = ""


def tell_session(
    services: Services, location: Location, session: SessionId, *, whole: Part = "", sees: Sees = lambda lesson: True
) -> SessionStory:
    """Return the story of a session, `whole` with one part of it whole. Raises NotFoundError for an unknown session."""
    where = SessionFilter(project=location.project.id, session=session, limit=1)
    rows = services.store.list_sessions(where) if session else []
    events = session_events(services, location.project.id, session) if rows else []
    if not events:
        raise NotFoundError(f"no session {session}", hint="holdfast sessions")
    played = read_runs(session, events)
    threads = fold([], played, {}, events[-1].at)
    taught = [lesson for lesson in taught_by(services, location, session) if sees(lesson)]
    told_lessons, missed = _told_and_missed(services, location, session, sees)
    parts: dict[Part, Sequence[object]] = {
        "prompts": _prompts(events, whole == "prompts"),
        "failures": _failures(services, location, session, threads, events[-1].at),
        "files": _files(events),
        "commands": _commands(played.runs),
        "commits": [
            StoryCommit(at=event.at, subject=clip(subject, LINE_SHOWN), branch=event.branch)
            for event, subject in commits_in(events)
        ],
        "told": told_lessons,
        "taught": [_taught(lesson) for lesson in taught],
        "missed": missed,
    }
    shown = {part: _shown(part, entries, whole) for part, entries in parts.items()}
    digest = load_digests(services, location, [session]).get(session)
    return SessionStory(
        line=line_of(rows[0], _fresh(digest, digest_of(session, events, threads)), len(taught)),
        model=next((event.model for event in reversed(events) if event.model and not event.agent), ""),
        counts={part: PartSize(total=len(parts[part]), shown=len(shown[part])) for part in parts},
        erased=sum(_is_erased(event) for event in events),
        whole=whole,
        **shown,  # type: ignore[arg-type]
    )


def _fresh(noted: SessionDigest | None, counted: SessionDigest) -> SessionDigest:
    """Return what the learner noted; where the session has gone on since, the numbers that the events say now."""
    if noted is None or noted.events == counted.events:
        return noted or counted
    return replace(counted, person=noted.person, person_name=noted.person_name)


SHOWN: dict[Part, int] = {
    "prompts": PROMPTS_SHOWN, "failures": FAILURES_SHOWN, "files": FILES_SHOWN, "commands": COMMANDS_SHOWN,
    "commits": COMMITS_SHOWN, "told": LESSONS_SHOWN, "taught": LESSONS_SHOWN, "missed": LESSONS_SHOWN,
}  # fmt: skip
"""Entries of each part that are shown at first."""


def _shown(part: Part, entries: Sequence[T], whole: Part) -> tuple[T, ...]:
    """Return the entries to show. Of prompts and commits the beginning and the end say most."""
    most = WHOLE_MOST if part == whole else SHOWN[part]
    if part != "prompts" or len(entries) <= most:
        return tuple(entries[-most:] if part == "commits" else entries[:most])
    return tuple([*entries[: most // 2], *entries[-(most - most // 2) :]])


def _is_erased(event: Event) -> bool:
    return bool(event.text_length and not event.text)


# What was asked


def _prompts(events: Sequence[Event], is_whole: bool) -> list[StoryPrompt]:
    limit = PROMPT_MOST if is_whole else PROMPT_SHOWN
    at = [number for number, event in enumerate(events) if event.kind == "prompt" and not event.agent]
    return [
        _prompt(events[begin], events[begin + 1 : end], limit)
        for begin, end in zip(at, [*at[1:], len(events)], strict=True)
    ]


def _prompt(prompt: Event, following: Sequence[Event], limit: int) -> StoryPrompt:
    read = read_prompt(prompt.text)
    words = read.own.strip() or prompt.text.strip()
    edited = [event.files[0] for event in following if event.kind == "file_edit" and event.files]
    replies = [event.text for event in following if event.kind == "reply" and not event.agent and event.text.strip()]
    return StoryPrompt(
        event=prompt.id, at=prompt.at, text=clip(words, limit), is_erased=_is_erased(prompt),
        is_cut=len(words) > limit or prompt.text_length > len(prompt.text) > 0,
        from_program=bool(prompt.text) and read.origin == "machine", edits=len(edited), files=len(set(edited)),
        commands=sum(bool(event.command) and event.kind in ("tool_result", "tool_failure") for event in following),
        failures=sum(event.kind == "tool_failure" or bool(event.exit_code) for event in following),
        answer=clip(" ".join(_MARKS.sub("", replies[-1]).split()), ANSWER_SHOWN) if replies else "",
    )  # fmt: skip


# What failed, was edited and was run


def _failures(
    services: Services, location: Location, session: SessionId, threads: Sequence[Thread], at: datetime
) -> list[StoryFailure]:
    """Return the session's failures, the open ones first, then those that took most tries."""
    known = {
        (thread.kind, thread.text): thread
        for thread in load_threads(services, location)
        if any(tries.session == session for tries in thread.tries)
    }
    failures = [_failure(thread, known.get((thread.kind, thread.text)), at) for thread in threads]
    return sorted(failures, key=lambda failure: (failure.standing == "cured", -failure.runs, failure.at))


def _failure(thread: Thread, known: Thread | None, at: datetime) -> StoryFailure:
    cure = thread.cure
    return StoryFailure(
        thread=known.key if known else "", text=thread.text, error=thread.error, at=thread.tries[0].first_at,
        runs=thread.runs, edits=thread.tries[0].edits, standing=standing_of(thread, at),
        cured_at=cure.at if cure else None, files=cure.files if cure else (),
        other_sessions=len(known.tries) - 1 if known else 0,
    )  # fmt: skip


def _files(events: Sequence[Event]) -> list[StoryFile]:
    """Return the edited files, the most edited first."""
    edits: dict[str, list[Event]] = {}
    for event in events:
        if event.kind == "file_edit" and event.files:
            edits.setdefault(event.files[0], []).append(event)
    files = [
        StoryFile(
            path=path, edits=len(group), added=sum(_new_lines(event.old, event.new) for event in group),
            removed=sum(_new_lines(event.new, event.old) for event in group),
            is_erased=any(_is_erased(event) for event in group),
        )
        for path, group in edits.items()
    ]  # fmt: skip
    return sorted(files, key=lambda file: (-file.edits, file.path))


def _new_lines(before: str, after: str) -> int:
    """Return how many lines of a text the other one lacks."""
    return (Counter(after.splitlines()) - Counter(before.splitlines())).total()


def _commands(runs: Sequence[Run]) -> list[StoryCommand]:
    """Return the checks of the code and the commands that failed, those run last first."""
    by_line: dict[str, list[Run]] = {}
    for run in runs:
        if run.is_check or not run.passed:
            by_line.setdefault(run.line, []).append(run)
    for run in runs:
        if run.passed and not run.is_check and run.line in by_line:
            by_line[run.line].append(run)
    commands = [
        StoryCommand(
            line=clip(line, LINE_SHOWN), purpose=group[0].scope.purpose, runs=len(group),
            failed=sum(not run.passed for run in group), ended_well=max(group, key=lambda run: run.at).passed,
            last_at=max(run.event.at for run in group),
        )
        for line, group in by_line.items()
    ]  # fmt: skip
    return sorted(commands, key=lambda command: command.last_at, reverse=True)


# What it was told, taught and missed


def _taught(lesson: Lesson) -> StoryLesson:
    return StoryLesson(
        lesson=lesson.id, title=lesson.title, state=lesson.state, at=lesson.recorded_at, kind=lesson.kind
    )


def _told_and_missed(
    services: Services, location: Location, session: SessionId, sees: Sees
) -> tuple[list[StoryLesson], list[StoryLesson]]:
    """Return the lessons that the session was told, those with a consequence first, and those that it missed."""
    where = LogFilter(project=location.project.id, session=session, limit=WHOLE_MOST * 5)
    deliveries = services.store.find_records(Delivery, where)[::-1]  # oldest first
    outcomes = services.store.find_records(Outcome, where)
    ids = list(dict.fromkeys([*(record.lesson for record in deliveries), *(record.lesson for record in outcomes)]))
    lessons = {lesson.id: lesson for lesson in get_readable(services.store, ids) if sees(lesson)}
    by_lesson: dict[LessonId, list[Delivery]] = {}
    for delivery in deliveries:
        if delivery.lesson in lessons:
            by_lesson.setdefault(delivery.lesson, []).append(delivery)
    entries = [_told(lessons[id_], group, _judged(outcomes, id_)) for id_, group in by_lesson.items()]
    entries.sort(key=lambda entry: (_place(entry.verdict), entry.is_at_start, entry.at))
    return entries, _once(_missed(outcomes, lessons, by_lesson))


def _place(verdict: str) -> int:
    return next((place for place, judged in enumerate(JUDGED) if judged == verdict), len(JUDGED))


def _told(lesson: Lesson, deliveries: Sequence[Delivery], outcome: Outcome | None) -> StoryLesson:
    first = deliveries[0]
    return StoryLesson(
        lesson=lesson.id, title=lesson.title, state=lesson.state, at=first.at,
        moment=MOMENT_PROFILES[first.moment].words, is_at_start=first.moment == "session_start",
        times=len(deliveries),
        verdict=outcome.verdict if outcome and outcome.verdict in JUDGED else "",
        note=clip(" ".join(outcome.note.split()), LINE_SHOWN) if outcome and outcome.verdict in JUDGED else "",
        kind=lesson.kind,
    )  # fmt: skip


def _judged(outcomes: Iterable[Outcome], lesson: LessonId) -> Outcome | None:
    """Return the outcome that says most about a lesson that was told; None if nothing followed."""
    theirs = [outcome for outcome in outcomes if outcome.lesson == lesson and outcome.verdict in JUDGED]
    return min(theirs, key=lambda outcome: JUDGED.index(outcome.verdict), default=None)


def _once(missed: Iterable[StoryLesson]) -> list[StoryLesson]:
    """Return each lesson once for each reason."""
    return list({(entry.lesson, entry.verdict): entry for entry in missed}.values())


def _missed(
    outcomes: Iterable[Outcome], lessons: dict[LessonId, Lesson], deliveries: dict[LessonId, list[Delivery]]
) -> Iterator[StoryLesson]:
    """Yield what the session needed and was not told, was told too late, or what was withheld from it."""
    for outcome in outcomes:
        lesson = lessons.get(outcome.lesson)
        if lesson is None or not (outcome.verdict == "missed" or outcome.withheld):
            continue
        came = deliveries.get(outcome.lesson)
        verdict = "withheld" if outcome.withheld else "told too late" if came else "missed"
        yield StoryLesson(
            lesson=lesson.id, title=lesson.title, state=lesson.state, at=came[0].at if came else outcome.at,
            moment=MOMENT_PROFILES[outcome.moment].words if outcome.moment else "", verdict=verdict,
            note=clip(" ".join((outcome.note or outcome.trigger).split()), LINE_SHOWN), kind=lesson.kind,
        )  # fmt: skip
