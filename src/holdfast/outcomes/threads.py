"""Threads: a failure, the tries to mend it, and its cure, across sessions (ADR 53).

The learner folds each session's runs into the project's threads (`note_runs`); a session that is read again replaces
what it gave before, so that reading it twice changes nothing. A failing test is one failure by its name, a failing
check by its scope (`text.checks`), any other command by its line and its error. A thread is *cured* when a later run
passed that surely includes it, *not seen again* when a later run may have included it or nothing was seen of it for
long, and *open* otherwise. In doubt it is not open: an open thread is named at the next session's start.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import blake2b
from typing import Literal

from holdfast.domain.event import Event
from holdfast.domain.project import Location
from holdfast.domain.records import OpenFailure
from holdfast.domain.statefamilies import OPEN_THREADS, THREADS
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads
from holdfast.lessons.statement import suspicion
from holdfast.outcomes.tuning import (
    CURES_MOST,
    FAILING_NAMES,
    FILES_NAMED,
    NAMED_MOST,
    OPEN_DAYS,
    SCOPES_MOST,
    SINGLE_DAYS,
    THREAD_DAYS,
    THREAD_TEXT,
    THREADS_MOST,
    TRIES_MOST,
)
from holdfast.ports.services import Services
from holdfast.text.attempts import Attempt, attempts, failing_tests, reports_tests
from holdfast.text.checks import CHECKING, RunScope, includes, is_whole, ran_tests, runs_program, scope_of, selects
from holdfast.text.complaints import DIAGNOSTIC, SLIP, complaint, could_not_begin, test_complaint
from holdfast.text.orders import instructs, is_order
from holdfast.text.window import clip

ThreadKind = Literal["test", "check", "command"]
Standing = Literal["open", "cured", "not seen again"]
STANDINGS: tuple[Standing, ...] = ("open", "cured", "not seen again")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    """The failing runs of one thread in one session."""

    session: SessionId
    event: EventId
    """The last one."""
    first_at: datetime
    last_at: datetime
    branch: str = ""
    runs: int = 1
    edits: int = 0
    """Edits of files between the first failing run and the last."""
    edits_after: int = 0
    """Edits after the last failing run, while no run showed what they did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCure:
    """A passing run that includes what had failed."""

    session: SessionId
    event: EventId
    at: datetime
    branch: str = ""
    files: tuple[str, ...] = ()
    """Files edited since the last failing run, the newest last."""
    is_other_form: bool = False
    """Another form of the command passed, as `detectors/fail_fix` recognised it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thread:
    """A failure with its tries and cures."""

    key: str
    kind: ThreadKind
    text: str
    """The test's name, or the command."""
    error: str = ""
    """What the last failing run complained of, in its own words; empty where it has none that may be repeated."""
    session: SessionId
    """The session of the last failing run, and its event: the words come from there."""
    event: EventId
    purpose: str = ""
    scopes: tuple[RunScope, ...] = ()
    """What was run when it failed."""
    tries: tuple[Tries, ...] = ()
    """By session, in order of time."""
    cures: tuple[ThreadCure, ...] = ()
    passed_at: datetime | None = None
    """When a run passed last that may include it."""
    passed_in: SessionId = ""  # type: ignore[assignment]

    @property
    def last_at(self) -> datetime:
        """When it was seen failing last."""
        return self.tries[-1].last_at

    @property
    def branch(self) -> str:
        """The branch on which it was seen failing last."""
        return self.tries[-1].branch

    @property
    def runs(self) -> int:
        """How many failing runs there were."""
        return sum(tries.runs for tries in self.tries)

    @property
    def cure(self) -> ThreadCure | None:
        """The run that showed it as mended since it failed last."""
        return self.cures[-1] if self.cures and self.cures[-1].at > self.last_at else None

    @property
    def last_tries(self) -> tuple[Tries, ...]:
        """The tries since it was cured last, or since a run that may include it passed; never empty."""
        ends = [cure.at for cure in self.cures] + ([self.passed_at] if self.passed_at else [])
        end = max((at for at in ends if at < self.last_at), default=None)
        return tuple(tries for tries in self.tries if end is None or tries.last_at > end)

    @property
    def came_back(self) -> int:
        """How often it failed again after it had been mended."""
        return len(self.cures) - (self.cure is not None)


def standing_of(thread: Thread, now: datetime) -> Standing:
    """Return whether the thread is open, cured, or was not seen again."""
    if thread.cure is not None:
        return "cured"
    is_quiet = thread.passed_at is not None and thread.passed_at > thread.last_at
    return "not seen again" if is_quiet or now - thread.last_at > timedelta(days=OPEN_DAYS) else "open"


def load_threads(services: Services, location: Location) -> list[Thread]:
    """Return the project's threads, the one that failed last first; without words older than the retention window."""
    threads = _parsed(services.store.get_state(THREADS, location.project.id))
    recent = without_old_words(threads, services.clock.now(), services.retention_days)
    return sorted(recent, key=lambda thread: thread.last_at, reverse=True)


def without_old_words(threads: Iterable[Thread], now: datetime, retention_days: int) -> list[Thread]:
    """Return the threads; those that failed last before the retention window without what they complained of."""
    begin = now - timedelta(days=retention_days) if retention_days > 0 else None
    return [replace(thread, error="") if begin and thread.last_at < begin else thread for thread in threads]


def note_runs(
    services: Services,
    location: Location,
    session: SessionId,
    events: Sequence[Event],
    other_forms: Mapping[EventId, EventId],
) -> list[Thread]:
    """Fold a session's runs into the project's threads and return them; its events are in order of time.

    `other_forms` maps failing runs to the run that passed in another form of the command.
    """
    played = read_runs(session, events)
    if not played.runs:
        return []
    now, project = services.clock.now(), location.project.id

    def edit(value: str) -> str:
        threads = fold(_parsed(value), played, other_forms, now)
        return _rendered(without_old_words(threads, now, services.retention_days))

    threads = _parsed(services.store.edit_state(THREADS, project, edit))
    failures = open_failures(threads, now)
    named = dumps(list(map(to_plain, failures))) if failures else ""
    if named != services.store.get_state(OPEN_THREADS, project):
        services.store.set_state(OPEN_THREADS, project, named)
    return threads


def open_failures(threads: Iterable[Thread], now: datetime) -> list[OpenFailure]:
    """Return what a session's start may name, the last failure first; tests that failed in one run are one failure."""
    by_run: dict[EventId, list[Thread]] = {}
    for thread in threads:
        if is_worth_naming(thread, now):
            by_run.setdefault(thread.event, []).append(thread)
    failures = [_open_failure(group) for group in by_run.values()]
    return sorted(failures, key=lambda failure: failure.last_at, reverse=True)[:NAMED_MOST]


def _open_failure(group: Sequence[Thread]) -> OpenFailure:
    thread = max(group, key=lambda thread: (sum(tries.runs for tries in thread.last_tries), bool(thread.error)))
    tries = thread.last_tries
    error = "" if instructs(thread.error) else thread.error  # agents read it, and an output may come from anybody
    return OpenFailure(
        session=thread.session, event=thread.event, text=thread.text, error=error, branch=thread.branch,
        first_at=tries[0].first_at, last_at=thread.last_at, runs=sum(each.runs for each in tries), more=len(group) - 1,
    )  # fmt: skip


def is_worth_naming(thread: Thread, now: datetime) -> bool:
    """Return whether a session's start may name it: it is surely open, and more than a slip of one moment."""
    last = thread.tries[-1]
    if standing_of(thread, now) != "open" or (thread.kind == "command" and len(thread.tries) < 2):
        return False
    return last.edits_after == 0 and (thread.runs > 1 or thread.kind == "test")


# Reading a session


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run with a known outcome."""

    at: int
    """Position among the session's events."""
    event: Event
    passed: bool
    line: str
    scope: RunScope
    tests: tuple[str, ...] = ()
    """Tests that failed, by name."""
    error: str = ""
    began: bool = True
    """Whether the command did its work; false where it was misspelt or its folder was wrong."""

    @property
    def is_check(self) -> bool:
        """Whether it tests, builds or inspects the code."""
        return bool(self.scope.purpose)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRuns:
    """The runs of a session and its edits, each at its position among the session's events."""

    session: SessionId
    runs: tuple[Run, ...] = ()
    edits: tuple[tuple[int, str], ...] = ()


def read_runs(session: SessionId, events: Sequence[Event]) -> SessionRuns:
    """Return the runs of a session; its events are in order of time."""
    runs = (_run(attempt) for attempt in attempts(events) if attempt.event.command and not _is_doubtful(attempt))
    edits = ((at, event.files[0]) for at, event in enumerate(events) if event.kind == "file_edit" and event.files)
    return SessionRuns(session=session, runs=tuple(runs), edits=tuple(edits))


def _is_doubtful(attempt: Attempt) -> bool:
    """Return whether a run counts as passed only because a pipe hid its status, and its output names places in code."""
    return attempt.passed and not attempt.sure and not attempt.tests and bool(DIAGNOSTIC.search(attempt.event.text))


def _run(attempt: Attempt) -> Run:
    event, line = attempt.event, " ".join(attempt.line.split())
    scope = scope_of(attempt.line, event.command, event.cwd)
    is_check = scope.purpose in CHECKING
    if not is_check:
        scope = RunScope(target=_digest(line), folder=scope.folder)
    run = Run(at=attempt.at, event=event, passed=attempt.passed, line=line, scope=scope)
    if attempt.passed:
        return run
    tests = _names(event.text) if scope.purpose in ("test", "lint") else ()
    error = _speakable(complaint(event.text))
    is_clear = attempt.alone and (bool(error) or (is_check and reports_tests(event.text)))
    return replace(run, tests=tests, error=error, began=bool(tests) or (is_clear and not could_not_begin(event.text)))


def _names(text: str) -> tuple[str, ...]:
    """Return the failing tests, without the parts of a test that fails as a whole; none if there are too many."""
    names = [name for name in failing_tests(text) if len(name) <= THREAD_TEXT]
    tops = list(dict.fromkeys(map(_top, names)))
    is_plain = not any(is_order(name) or suspicion(name) for name in tops)
    return tuple(tops) if is_plain and len(tops) <= FAILING_NAMES else ()


def _top(name: str) -> str:
    """Return the test of a Go subtest, whose own name differs with its cases."""
    return name.partition("/")[0] if name.startswith("Test") and "::" not in name else name


def _speakable(words: str) -> str:
    """Return the words of an output on one line, for people; empty for what looks like an attack."""
    line = " ".join(words.split())
    return "" if suspicion(line) else clip(line, THREAD_TEXT)


# Folding


def fold(
    threads: Iterable[Thread], played: SessionRuns, other_forms: Mapping[EventId, EventId], now: datetime
) -> list[Thread]:
    """Return the threads with what this session's runs say, in place of what they said before, newest first."""
    folded = _Fold(threads, played)
    for run in played.runs:
        if run.passed:
            folded.take_passed(run)
        elif run.began:
            folded.take_failed(run)
    folded.close_other_forms(other_forms)
    folded.count_edits()
    rest = [thread for thread in folded.threads.values() if thread.tries and _is_recent(thread, now)]
    return sorted(rest, key=lambda thread: thread.last_at, reverse=True)[:THREADS_MOST]


def _is_recent(thread: Thread, now: datetime) -> bool:
    days = SINGLE_DAYS if thread.runs == 1 and thread.kind == "command" else THREAD_DAYS
    return now - thread.last_at <= timedelta(days=days)


class _Fold:
    """The threads of a project while one session is folded in."""

    def __init__(self, threads: Iterable[Thread], played: SessionRuns) -> None:
        self._played = played
        self.threads = {thread.key: _without(thread, played.session) for thread in threads}
        self._spans: dict[str, tuple[int, int]] = {}
        """By thread, the positions of its first and last failing run in this session."""

    def take_failed(self, run: Run) -> None:
        """Add a failing run to its threads."""
        self._quieten_unlisted(run)
        for name in run.tests:
            words = test_complaint(run.event.text, name, is_only=len(run.tests) == 1)
            self._add(_digest(name), "test", name, run, _speakable(words))
        kind: ThreadKind = "check" if run.is_check else "command"
        if not run.tests and (kind == "check" or (run.error and runs_program(run.line))):
            self._add(self._key_of(run, kind), kind, clip(run.line, THREAD_TEXT), run, run.error)

    def take_passed(self, run: Run) -> None:
        """Close the threads that the run includes, and quieten those that it may include."""
        for key, thread in self.threads.items():
            if not _is_open_at(thread, run.event.at):
                continue
            is_here = self._is_here(thread, run)
            if is_here and includes_failure(run, thread):
                self._close(key, run)
            elif includes_failure(run, thread) or (is_here and _may_include(run, thread)):
                self.threads[key] = replace(thread, passed_at=run.event.at, passed_in=self._played.session)

    def close_other_forms(self, forms: Mapping[EventId, EventId]) -> None:
        """Close the threads of which another form of the command passed."""
        by_event = {run.event.id: run for run in self._played.runs}
        for key, thread in self.threads.items():
            run = by_event.get(forms.get(thread.event, EventId("")))
            if run is not None and _is_open_at(thread, run.event.at):
                self._close(key, run, is_other_form=True)

    def count_edits(self) -> None:
        """Write down for each thread what was edited between its runs and after the last one."""
        for key, (first, last) in self._spans.items():
            thread = self.threads[key]
            mine = next(tries for tries in thread.tries if tries.session == self._played.session)
            between = sum(first < at < last for at, _ in self._played.edits)
            after = 0 if thread.cure else sum(at > last for at, _ in self._played.edits)
            self.threads[key] = _with_tries(thread, replace(mine, edits=between, edits_after=after))

    def _is_here(self, thread: Thread, run: Run) -> bool:
        """Return whether the run shows the same work: the session's own, or that of the branch it failed on."""
        is_own = any(tries.session == self._played.session for tries in thread.tries)
        return is_own or not thread.branch or thread.branch == run.event.branch

    def _key_of(self, run: Run, kind: ThreadKind) -> str:
        """Return the key of the thread that a failing command belongs to; a new one if it is another failure."""
        for thread in self.threads.values():
            if thread.kind != kind or run.scope not in thread.scopes:
                continue
            is_alike = bool(run.error) and thread.error == run.error and not SLIP.search(run.error)
            if is_alike or (kind == "check" and _is_open_at(thread, run.event.at)):
                return thread.key
        return _digest(kind, run.line, run.event.id)

    def _add(self, key: str, kind: ThreadKind, text: str, run: Run, error: str) -> None:
        event, session = run.event, self._played.session
        thread = self.threads.get(key) or Thread(
            key=key, kind=kind, text=text, session=session, event=event.id, purpose=run.scope.purpose
        )
        mine = next((tries for tries in thread.tries if tries.session == session), None)
        if mine is None:
            tries = Tries(
                session=session, event=event.id, first_at=event.at, last_at=event.at, branch=event.branch
            )  # fmt: skip
        else:
            branch = event.branch or mine.branch
            tries = replace(mine, event=event.id, last_at=event.at, branch=branch, runs=mine.runs + 1)
        first = self._spans.get(key, (run.at, run.at))[0]
        self._spans[key] = first, run.at
        thread = _with_tries(thread, tries)
        if thread.tries[-1] is tries:
            thread = replace(thread, error=error, session=session, event=event.id)
        scopes = tuple(dict.fromkeys((*thread.scopes, run.scope)))[-SCOPES_MOST:]
        self.threads[key] = replace(thread, scopes=scopes)

    def _quieten_unlisted(self, run: Run) -> None:
        """Quieten what a failing run ran without listing it as failed, and the check whose tests it lists."""
        if not (run.tests and reports_tests(run.event.text)):
            return
        for key, thread in self.threads.items():
            is_listed = thread.kind == "test" and thread.text in run.tests
            if not is_listed and _is_open_at(thread, run.event.at) and includes_failure(run, thread):
                self.threads[key] = replace(thread, passed_at=run.event.at, passed_in=self._played.session)

    def _close(self, key: str, run: Run, *, is_other_form: bool = False) -> None:
        thread, event = self.threads[key], run.event
        last = self._spans[key][1] if key in self._spans else -1
        files = list(dict.fromkeys(file for at, file in self._played.edits if last < at < run.at))
        cure = ThreadCure(
            session=self._played.session, event=event.id, at=event.at, branch=event.branch,
            files=tuple(files[-FILES_NAMED:]), is_other_form=is_other_form,
        )  # fmt: skip
        cures = sorted([*thread.cures, cure], key=lambda cure: cure.at)[-CURES_MOST:]
        self.threads[key] = replace(thread, cures=tuple(cures))


def _without(thread: Thread, session: SessionId) -> Thread:
    """Return the thread without what a session gave to it; it may have no tries then."""
    is_quiet_by_it = thread.passed_in == session
    return replace(
        thread,
        tries=tuple(tries for tries in thread.tries if tries.session != session),
        cures=tuple(cure for cure in thread.cures if cure.session != session),
        passed_at=None if is_quiet_by_it else thread.passed_at,
        passed_in=SessionId("") if is_quiet_by_it else thread.passed_in,
    )


def _with_tries(thread: Thread, tries: Tries) -> Thread:
    others = [other for other in thread.tries if other.session != tries.session]
    ordered = sorted([*others, tries], key=lambda tries: tries.last_at)
    return replace(thread, tries=tuple(ordered[-TRIES_MOST:]))


def _is_open_at(thread: Thread, at: datetime) -> bool:
    """Return whether it had failed before that instant, and no cure was seen since."""
    failed_at = max((tries.last_at for tries in thread.tries if tries.last_at < at), default=None)
    return failed_at is not None and not any(failed_at < cure.at <= at for cure in thread.cures)


def includes_failure(run: Run, thread: Thread) -> bool:
    """Return whether the run ran what had failed."""
    if any(includes(run.scope, scope) for scope in thread.scopes):
        return True
    if thread.kind != "test" or run.scope.purpose != thread.purpose or not ran_tests(run.event.text):
        return False
    return selects(run.scope, thread.text) and run.scope.mode in {scope.mode for scope in thread.scopes}


def _may_include(run: Run, thread: Thread) -> bool:
    """Return whether the run is one of all tests, or of the whole code, so that it may have run what had failed."""
    return bool(thread.purpose) and run.scope.purpose == thread.purpose and is_whole(run.scope)


def _digest(*words: str) -> str:
    return blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


# Its form in the store


def _parsed(value: str) -> list[Thread]:
    """Return the threads of a stored value, without those that this version cannot read."""
    try:
        entries = loads(value) if value else []
    except InvalidValueError:
        return []
    threads = (_thread(entry) for entry in entries if isinstance(entry, dict))
    return [thread for thread in threads if thread is not None and thread.tries]


def _thread(entry: Mapping[str, object]) -> Thread | None:
    try:
        return from_plain(Thread, entry)
    except (InvalidValueError, TypeError):
        return None


def _rendered(threads: Sequence[Thread]) -> str:
    return dumps([to_plain(thread) for thread in threads]) if threads else ""
