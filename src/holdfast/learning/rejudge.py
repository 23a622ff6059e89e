"""Judges lessons again that an older version found by words alone, with today's judge of worth.

The first version made a lesson of a sentence by its cues, and activated it when it recurred; most of these were
boilerplate. The session's events are read again with today's detector; if their texts are gone, the lesson's own words
are judged. Lessons that a person stated, accepted, confirmed, revised or pinned stay as they are. The result is one
change, which `undo_rejudging` reverts even after later changes. A stored mark makes sure that it is done once.
"""

from __future__ import annotations

from holdfast.capture.sessionevents import session_events
from holdfast.curation.undo import find_latest, undo_latest
from holdfast.domain.event import Event
from holdfast.domain.lesson import in_state
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import REJUDGED
from holdfast.domain.vocabulary import EventId
from holdfast.lean.plain import render_instant
from holdfast.lean.records import Frozen, replace
from holdfast.learning.tuning import INBOX_A_SESSION, LEAST_WORTH, LIKELY, PROBABLE
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.ports.store import LessonFilter, LogFilter
from holdfast.text.prompts import read_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.domain.lesson import Evidence, Lesson
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import LessonId, SessionId, State
    from holdfast.ports.detector import Detector
    from holdfast.ports.services import Services

JUDGE = "statements/"
"""Beginning of the id of the detector that judges words alone; its version follows."""
VERB = "rejudge"
JUDGED: tuple[State, ...] = ("active", "probation", "candidate")
BY_MACHINE = ("learn", "reanchor", "expire", "stage", "merge", "undo", VERB)
"""Verbs of changes that no person made."""


class RejudgeReport(Frozen):
    """What happened to the lessons of an older judge."""

    judged: int = 0
    retired: tuple[Lesson, ...] = ()
    """Lessons whose worth is below today's threshold."""
    demoted: tuple[Lesson, ...] = ()
    """Lessons that were active and are on probation now."""


def rejudge(services: Services, location: Location, *, dry: bool = False) -> RejudgeReport:
    """Judge the project's lessons of an older judge again. The same judge does not judge them twice."""
    judge = next((detector for detector in services.detectors() if detector.id.startswith(JUDGE)), None)
    if judge is None:
        return RejudgeReport()

    def step() -> RejudgeReport:
        sessions = _Sessions(services, location)
        lessons = [
            lesson for lesson in _of_older_judge(services, location, judge.id) if not _is_persons(sessions, lesson)
        ]
        states = _states(sessions, judge, lessons)
        after = {lesson: state for lesson in lessons if (state := states[lesson.id])}
        changed = {lesson: in_state(lesson, state, at=services.clock.now()) for lesson, state in after.items()}
        if changed and not dry:
            expected = {lesson.id: lesson.recorded_at for lesson in changed}
            write_change(services, location, VERB, list(changed.values()), expected, summary="judged again")
        return RejudgeReport(
            judged=len(lessons),
            retired=tuple(lesson for lesson, state in after.items() if state == "retired"),
            demoted=tuple(lesson for lesson, state in after.items() if state == "probation"),
        )

    report = with_retries(step)
    if not dry:
        counts = f"{len(report.retired)} {len(report.demoted)}"
        services.store.set_state(
            REJUDGED, location.project.id, f"{judge.id} {counts} {render_instant(services.clock.now())}"
        )
    return report


def rejudge_once(services: Services, location: Location) -> RejudgeReport | None:
    """Rejudge, unless this judge has done so here before; return None then."""
    judge = next((detector.id for detector in services.detectors() if detector.id.startswith(JUDGE)), "")
    if services.store.get_state(REJUDGED, location.project.id).partition(" ")[0] == judge:
        return None
    return rejudge(services, location)


def undo_rejudging(services: Services, location: Location, *, author: str = "") -> Change:
    """Restore every lesson that was judged again. Raises InvalidValueError if there is no such change."""
    return undo_latest(services, location, VERB, author=author)


def last_rejudging(services: Services, location: Location) -> tuple[int, int, str]:
    """Return (lessons retired, lessons put on probation, instant) of the last time; zeros if never or if undone."""
    words = services.store.get_state(REJUDGED, location.project.id).split()
    if len(words) != 4 or not (words[1].isdigit() and words[2].isdigit()):
        return 0, 0, ""
    standing = find_latest(services, location, VERB) is not None
    return (int(words[1]), int(words[2]), words[3]) if standing else (0, 0, "")


def _of_older_judge(services: Services, location: Location, judge: str) -> Iterator[Lesson]:
    """Yield living lessons of the project that an older version of the judge found."""
    where = LessonFilter(project=location.project.id, states=JUDGED)
    while page := services.store.find(where):
        for lesson in page:
            found_by = lesson.provenance.detector
            if found_by.startswith(JUDGE) and found_by != judge and lesson.scope.project:
                yield lesson
        where = replace(where, offset=where.offset + len(page))


class _Sessions:
    """Events of sessions. Only the last session is kept, since lessons of one session come together."""

    def __init__(self, services: Services, location: Location) -> None:
        self.services = services
        self._location = location
        self._last: tuple[SessionId, list[Event]] | None = None

    def events(self, session: SessionId) -> list[Event]:
        """Return the session's events in this project."""
        if self._last is None or self._last[0] != session:
            self._last = (session, list(session_events(self.services, self._location.project.id, session)))
        return self._last[1]


def _is_persons(sessions: _Sessions, lesson: Lesson) -> bool:
    """Return whether a person pinned it, changed it or said it; a host's text in the user's place does not count."""
    if lesson.pinned:
        return True
    changes = sessions.services.store.find_records(Change, LogFilter(lesson=lesson.id))
    if any(change.verb not in BY_MACHINE for change in changes):
        return True
    if lesson.trust != "person":
        return False
    events = {event.id: event for event in sessions.events(lesson.provenance.session)}
    return not any(_is_machines(span, events) for span in lesson.provenance.evidence)


def _is_machines(span: Evidence, events: dict[EventId, Event]) -> bool:
    """Return whether a host, not the person, wrote the quoted words; False if the text is gone."""
    event = events.get(span.event)
    if event is None or not event.text or span.end <= span.start:
        return False
    return not read_prompt(event.text).own[span.start : span.end].strip()


def _states(sessions: _Sessions, judge: Detector, lessons: Sequence[Lesson]) -> dict[LessonId, State | None]:
    """Return the new state of each lesson, or None if it keeps its state. Few lessons a session may go on waiting."""
    states: dict[LessonId, State | None] = {}
    by_session: dict[SessionId, list[Lesson]] = {}
    for lesson in lessons:
        by_session.setdefault(lesson.provenance.session, []).append(lesson)
    for session, session_lessons in by_session.items():
        worth = _worth(judge, sessions.events(session), session_lessons)
        left = INBOX_A_SESSION
        for lesson in sorted(session_lessons, key=lambda lesson: -worth[lesson.id]):
            state = _state(lesson.state, worth[lesson.id])
            if lesson.state == "candidate" and state is None:
                left -= 1
                state = "retired" if left < 0 else None
            states[lesson.id] = state
    return states


def _state(state: State, worth: float) -> State | None:
    if state == "candidate":
        return "retired" if worth < LEAST_WORTH else None
    if worth < PROBABLE:
        return "retired"
    return "probation" if state == "active" and worth < LIKELY else None


def _worth(judge: Detector, events: Sequence[Event], lessons: Sequence[Lesson]) -> dict[LessonId, float]:
    """Return the probability of each of a session's lessons, by its session's text, or by its own if that is gone."""
    texts = {event.id: event for event in events if event.text}
    spans = [
        (span, candidate.confidence)
        for candidate in (judge.detect(events) if texts else ())
        for span in candidate.evidence
    ]
    worth: dict[LessonId, float] = {}
    for lesson in lessons:
        quoted = [span for span in lesson.provenance.evidence if span.event in texts]
        if quoted:
            near = [sure for span, sure in spans if any(_overlap(span, own) for own in quoted)]
            worth[lesson.id] = max(near, default=0.0)
        else:
            worth[lesson.id] = _worth_alone(judge, lesson)
    return worth


def _worth_alone(judge: Detector, lesson: Lesson) -> float:
    """Return the probability of the lesson's words, read as a whole turn."""
    event = Event(
        id=EventId("lesson"), session=lesson.provenance.session, host=lesson.provenance.host, kind="reply",
        at=lesson.validity.valid_from, key="lesson", text=lesson.insight,
    )  # fmt: skip
    return max((candidate.confidence for candidate in judge.detect([event])), default=0.0)


def _overlap(evidence: Evidence, other: Evidence) -> bool:
    return evidence.event == other.event and max(evidence.start, other.start) < min(evidence.end, other.end)
