"""Runs the detectors over a session's events and admits what they find.

Idempotent by evidence: a find of the same detector in the same words of the same event is decided only once. So a
session can be learnt from each time it has grown, and a newer wording of an old find changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from holdfast.capture.sessionevents import session_events
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import BARREN_SESSIONS, DECIDED, LEARNED_POSITION, LEARNING_BEGUN, LEARNING_SET_ASIDE
from holdfast.domain.vocabulary import STATES, EventId, LessonId, ProjectId, SessionId, State
from holdfast.errors import HoldfastError, InvalidValueError, ProjectUnknownError
from holdfast.learning.admission import Admission, SourceSession
from holdfast.learning.associations import associate
from holdfast.learning.commandcard import retire_ruled_out, update_cards
from holdfast.learning.tuning import ATTEMPTS, BARREN_KEPT, CALLS_OF_WORK, EVENTS_A_READ, SET_ASIDE_MOST
from holdfast.lessons.ledger import with_retries
from holdfast.ports.services import Services, learned_position
from holdfast.ports.store import EventFilter, LessonFilter

WAITING: tuple[State, ...] = ("candidate", "quarantined")
"""States of a lesson that waits for a person."""
COMMANDS = "commands/"
"""Topics of the command card, which counts every session."""
CALLS = ("tool_result", "tool_failure", "file_edit")
FAIL_FIX = "fail_fix/"
"""The detector whose candidates say which run mended a failure: their last evidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnReport:
    """What happened to the candidates of one call."""

    found: int = 0
    """Candidates that the detectors proposed, including those decided before."""
    admitted: int = 0
    """New lessons."""
    merged: int = 0
    """Further sightings of existing lessons."""
    active: tuple[LessonId, ...] = ()
    """Written lessons that are delivered from now on."""
    waiting: tuple[LessonId, ...] = ()
    """Written lessons in the inbox."""
    failed: tuple[str, ...] = ()
    """Detectors that raised, with the error's type; the other detectors' candidates counted."""

    @property
    def lessons(self) -> tuple[LessonId, ...]:
        """Every lesson written."""
        return (*self.active, *self.waiting)


def learn(services: Services, location: Location, session: SessionId) -> LearnReport:
    """Learn from a session's events in the location's project; do nothing if there are none, or no new finds.

    What was done in the session is noted too, in numbers, and its failures join the project's threads.
    """
    from holdfast.outcomes.sessiondigest import note_session_digest  # late: commands that learn nothing stay quick

    events = session_events(services, location.project.id, session)
    proposed, failed = _detect(services, [_as_spoken(event) for event in events])
    report = _learn_from(services, location, session, events, proposed)
    note_session_digest(services, location, session, events, _other_forms(proposed))
    return _sum([LearnReport(failed=failed), report])


def _learn_from(
    services: Services, location: Location, session: SessionId, events: Sequence[Event], proposed: Sequence[Candidate]
) -> LearnReport:
    """Decide on what the detectors propose."""
    if not proposed:
        note_session(services, location, session, events, taught=False)
        return LearnReport()
    candidates = [candidate for candidate in proposed if not candidate.runs]
    decided = _Decided(services, session)
    new = [candidate for candidate in candidates if decided.is_new(candidate)]
    source = SourceSession(session=session, host=events[-1].host, events={event.id: event for event in events})
    report = _admit(services, location, new, source) if new else LearnReport()
    decided.keep()
    note_session(services, location, session, events, taught=bool(report.admitted or report.merged))
    retire_ruled_out(services, location)  # the rule may have come from a command line or another session
    counted = _count_commands(services, location, session, proposed, events)
    return _sum([LearnReport(found=len(candidates) - len(new)), report, counted])


def _other_forms(candidates: Iterable[Candidate]) -> dict[EventId, EventId]:
    """Return for each failure whose cure `fail_fix` recognised the event of the run that passed."""
    return {
        failure.event: candidate.evidence[-1].event
        for candidate in candidates
        if candidate.detector.startswith(FAIL_FIX)
        for failure in candidate.evidence[:-1]
    }


def _count_commands(
    services: Services, location: Location, session: SessionId, candidates: Sequence[Candidate], events: Sequence[Event]
) -> LearnReport:
    """Add the session's commands to the project's card; a transcript that a repository contains does not count."""
    if any(event.trust == "repository" for event in events):
        return LearnReport()
    written = update_cards(services, location, session, candidates)
    fresh = [lesson for lesson in written if len(lesson.sessions_seen) == 1]
    return LearnReport(
        found=len(written), admitted=len(fresh), merged=len(written) - len(fresh), active=tuple(x.id for x in written)
    )


def learn_pending(services: Services) -> LearnReport:
    """Learn from every session with events after the stored position, each at its last folder.

    The position moves session by session, so an interrupted run loses only the session in progress. A session on which
    learning began ATTEMPTS times without finishing is set aside and reported, so that it cannot block the others.
    Sessions whose folder is gone, or belongs to another project now, are skipped.
    """
    waiting, newest = _waiting(services, learned_position(services.store))
    reports: list[LearnReport] = []
    places: dict[ProjectId, Location] = {}
    for number, (project, session, cwd, _) in enumerate(waiting):
        location = _location(services, project, cwd)
        if location is not None:
            places[location.project.id] = location
            reports.append(_learn_guarded(services, location, session))
        # everything before the first event of the next waiting session has been learnt
        reached = waiting[number + 1][3] - 1 if number + 1 < len(waiting) else newest
        services.store.set_state(LEARNED_POSITION, "", str(reached))
    reports += [_associate(services, location) for location in places.values()]
    return _sum(reports)


def _waiting(services: Services, after: int) -> tuple[list[tuple[ProjectId, SessionId, str, int]], int]:
    """Return the sessions with events after a position, in the order in which they began, and the last position.

    Each is (project, session, last folder, position of its first event).
    """
    folders: dict[tuple[ProjectId, SessionId], str] = {}
    firsts: dict[tuple[ProjectId, SessionId], int] = {}
    newest = after
    while page := services.store.find_events(EventFilter(after=newest, limit=EVENTS_A_READ)):
        newest = page[-1][0]
        for position, event in page:
            firsts.setdefault((event.project, event.session), position)
            folders[event.project, event.session] = event.cwd
    return [(*key, folders[key], first) for key, first in firsts.items()], newest


def _learn_guarded(services: Services, location: Location, session: SessionId) -> LearnReport:
    """Learn from the session unless it was set aside. A defect's exception is reported like a detector's."""
    set_aside = services.store.get_state(LEARNING_SET_ASIDE).splitlines()
    if session in set_aside:
        return LearnReport()
    begun, _, times = services.store.get_state(LEARNING_BEGUN).rpartition(" ")
    attempt = int(times) + 1 if begun == session else 1
    if attempt > ATTEMPTS:
        services.store.set_state(LEARNING_SET_ASIDE, "", "\n".join([*set_aside, session][-SET_ASIDE_MOST:]))
        services.store.set_state(LEARNING_BEGUN, "", "")
        return LearnReport(
            failed=(f"session {session} was set aside: learning from it did not finish in two attempts",)
        )
    services.store.set_state(LEARNING_BEGUN, "", f"{session} {attempt}")
    try:
        return learn(services, location, session)
    except HoldfastError:
        raise
    except Exception as exc:
        return LearnReport(failed=(f"session {session}: {type(exc).__name__}: {exc}",))
    finally:  # a killed process does not get here, so the state shows the next one that it did not finish
        services.store.set_state(LEARNING_BEGUN, "", "")


def admit(
    services: Services, location: Location, candidates: Sequence[Candidate], session: SessionId, host: str
) -> LearnReport:
    """Decide on candidates from any source, as if that session had shown them; equal candidates are one sighting."""
    return _admit(services, location, candidates, SourceSession(session=session, host=host, events={}))


def admit_from(
    services: Services, location: Location, candidates: Sequence[Candidate], session: SessionId, events: Sequence[Event]
) -> LearnReport:
    """Decide on candidates that rest on those events of the session; do nothing if there are none."""
    if not candidates or not events:
        return LearnReport()
    source = SourceSession(session=session, host=events[-1].host, events={event.id: event for event in events})
    return _admit(services, location, candidates, source)


def _admit(
    services: Services, location: Location, candidates: Sequence[Candidate], source: SourceSession
) -> LearnReport:
    def step() -> LearnReport:
        admission = Admission(services, location, source)
        admission.take(candidates)
        admission.write()
        written = admission.changed.values()
        return LearnReport(
            found=len(candidates),
            admitted=admission.added,
            merged=admission.merged,
            active=tuple(lesson.id for lesson in written if lesson.state == "active"),
            waiting=tuple(lesson.id for lesson in written if lesson.state in WAITING),
        )

    return with_retries(step)


def _associate(services: Services, location: Location) -> LearnReport:
    """Count which files were used together. A failure is only reported: nothing is lost by it."""
    try:
        associate(services, location)
    except HoldfastError as exc:
        return LearnReport(failed=(f"associations: {exc}",))
    return LearnReport()


def _location(services: Services, project: ProjectId, cwd: str) -> Location | None:
    try:
        location = services.workspace.locate(cwd)
    except (InvalidValueError, ProjectUnknownError):
        return None
    return location if project in ("", location.project.id) else None


def _as_spoken(event: Event) -> Event:
    """Return the event as detectors see it: a prompt in a repository's transcript reads like any other.

    Admission uses the stored event, and so treats what rests on it as the repository's text.
    """
    return replace(event, trust="person") if event.kind == "prompt" and event.trust == "repository" else event


def _detect(services: Services, events: Sequence[Event]) -> tuple[list[Candidate], tuple[str, ...]]:
    """Return every detector's candidates, and which detectors raised: one bad plug-in must not stop the others."""
    candidates: list[Candidate] = []
    failed: list[str] = []
    for detector in services.detectors() if events else ():
        try:
            candidates += detector.detect(events)
        except Exception as exc:
            failed.append(f"{detector.id}: {type(exc).__name__}: {exc}")
    return candidates, tuple(failed)


class _Decided:
    """The finds decided in a session: a digest of detector and first event, with the quoted span."""

    def __init__(self, services: Services, session: SessionId) -> None:
        self._services = services
        self._session = session
        self._spans: dict[str, list[tuple[int, int]]] = {}
        self._changed = False
        for entry in services.store.get_state(DECIDED, session).split():
            digest, *span = entry.split(":")
            if len(span) == 2 and all(part.isascii() and part.isdigit() for part in span):  # other entries are damaged
                self._spans.setdefault(digest, []).append((int(span[0]), int(span[1])))

    def is_new(self, candidate: Candidate) -> bool:
        """Return whether no find with overlapping evidence was decided before, and mark this one as decided."""
        first = candidate.evidence[0] if candidate.evidence else None
        where = first.event if first else candidate.insight
        span = (first.start, first.end) if first else (0, 0)
        spans = self._spans.setdefault(_digest(candidate.detector.partition("/")[0], where), [])
        if any(span[0] == other[0] or max(span[0], other[0]) < min(span[1], other[1]) for other in spans):
            return False
        spans.append(span)
        self._changed = True
        return True

    def keep(self) -> None:
        """Store the decisions. The lessons are written before, so that a crash in between loses nothing."""
        if self._changed:
            entries = [f"{digest}:{a}:{b}" for digest, spans in self._spans.items() for a, b in spans]
            self._services.store.set_state(DECIDED, self._session, " ".join(entries))


def _digest(*words: str) -> str:
    return blake2b("\0".join(words).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _sum(reports: Sequence[LearnReport]) -> LearnReport:
    return LearnReport(
        found=sum(report.found for report in reports),
        admitted=sum(report.admitted for report in reports),
        merged=sum(report.merged for report in reports),
        active=tuple(id for report in reports for id in report.active),
        waiting=tuple(id for report in reports for id in report.waiting),
        failed=tuple(dict.fromkeys(name for report in reports for name in report.failed)),
    )


def note_session(
    services: Services, location: Location, session: SessionId, events: Iterable[Event], *, taught: bool
) -> None:
    """Note a session that taught nothing although work was done in it; one that taught something ends the row."""
    known = services.store.get_state(BARREN_SESSIONS, location.project.id).split()
    if taught:
        after: list[str] = []
    elif session in known or sum(event.kind in CALLS for event in events) < CALLS_OF_WORK:
        return
    else:
        after = [*known, session][-BARREN_KEPT:]
    if after != known:
        services.store.set_state(BARREN_SESSIONS, location.project.id, " ".join(after))


def count_barren(services: Services, location: Location) -> int:
    """Return how many sessions in a row taught nothing, by themselves or later (a model, an agent's own words)."""
    sessions = services.store.get_state(BARREN_SESSIONS, location.project.id).split()
    if not sessions:
        return 0
    taught: set[str] = set()
    for lesson in services.store.find(LessonFilter(project=location.project.id, states=STATES)):
        if not lesson.topic_key.startswith(COMMANDS):
            taught.update((lesson.provenance.session, *lesson.sessions_seen))
    last = max((number for number, session in enumerate(sessions, 1) if session in taught), default=0)
    return len(sessions) - last
