"""Settle: judges deliveries to sessions after their end, and lets the outcomes move lessons.

The id of an outcome derives from session and lesson, and a store has one record of an id. So a session that is judged
twice, or by two learners at once, counts once. A delivery is judged by the HORIZON events that follow it, as soon as
they exist or the session is over, so a session that never ends is judged piece by piece.
"""

from __future__ import annotations

from holdfast.capture.sessionevents import session_events
from holdfast.domain.lesson import in_state, next_instant
from holdfast.domain.records import Change, Delivery, Outcome
from holdfast.domain.statefamilies import OUTCOME_WEIGHTS, OUTCOMES_OPEN, OUTCOMES_POSITION
from holdfast.domain.vocabulary import LessonId, ProjectId, SessionId
from holdfast.errors import HoldfastError, LessonNotFoundError
from holdfast.lean.records import Frozen
from holdfast.lean.texts import dumps, loads
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.outcomes.holdout import outcome_id
from holdfast.outcomes.judge import Judged, Sayings, complaints, judge
from holdfast.outcomes.missed import Library, needs_of
from holdfast.outcomes.standing import Standing, since_of, standing_of
from holdfast.outcomes.story import Story
from holdfast.outcomes.tuning import (
    EVENTS_A_READ,
    HORIZON,
    IDLE,
    KNOWN_MOST,
    OPEN_MOST,
    SETTLED_MOST,
)
from holdfast.outcomes.weighing import render_weights, weights_of
from holdfast.ports.filters import EventFilter, LessonFilter, LogFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from holdfast.domain.candidate import Candidate
    from holdfast.domain.event import Event
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.ports.services import Services

JUDGE = "judge/1"
RULE_DETECTORS = ("correction", "explicit")
"""Detectors whose candidates from a prompt are the user's rules."""


class SettleReport(Frozen):
    """The result of judging the sessions of one call."""

    sessions: int = 0
    outcomes: int = 0
    moved: tuple[LessonId, ...] = ()
    """Lessons whose state changed."""
    failed: tuple[str, ...] = ()
    """Sessions that could not be judged, and why; the others were."""


class _Open(Frozen):
    """A session that is still to be judged, and its folder."""

    project: ProjectId
    session: SessionId
    cwd: str = ""


def settle_pending(services: Services) -> SettleReport:
    """Judge every session with events since the last call, and those that were open then. Idempotent."""
    waiting, newest = _waiting(services)
    count, outcomes, failed, moved = 0, 0, [], []
    open_now: list[_Open] = []
    touched: dict[ProjectId, tuple[str, set[LessonId]]] = {}
    for entry in waiting:
        try:
            judged, is_over = settle(services, entry.project, entry.session)
        except HoldfastError:
            raise
        except Exception as exc:  # one session that cannot be judged must not stop the others
            failed.append(f"outcomes of session {entry.session}: {type(exc).__name__}: {exc}")
            continue
        count, outcomes = count + 1, outcomes + len(judged)
        if judged:
            cwd, lessons = touched.setdefault(entry.project, (entry.cwd, set()))
            lessons.update(outcome.lesson for outcome in judged)
        if not is_over:
            open_now.append(entry)
    for project, (cwd, lessons) in touched.items():
        services.store.set_state(OUTCOME_WEIGHTS, project, _weights_text(services, project))
        moved += move_at(services, cwd, project, sorted(lessons))
    # Stored last: a learner that is killed earlier judges the same sessions again, which counts once.
    _keep_open(services, waiting, open_now)
    services.store.set_state(OUTCOMES_POSITION, "", str(newest))
    return SettleReport(sessions=count, outcomes=outcomes, moved=tuple(moved), failed=tuple(failed))


def settle(services: Services, project: ProjectId, session: SessionId) -> tuple[list[Outcome], bool]:
    """Judge one session as far as possible; return the new outcomes, and whether the session is over."""
    events = session_events(services, project, session)
    if not events:
        return [], True
    is_over = _is_over(events, services.clock.now())
    outcomes = list(_Session(services, project, session, events, is_over).outcomes())
    where = LogFilter(project=project, session=session, limit=SETTLED_MOST)
    known = {outcome.id for outcome in services.store.find_records(Outcome, where)}
    new = [outcome for outcome in outcomes if outcome.id not in known]
    if new:
        services.store.record(new)
    return new, is_over


def move_at(services: Services, cwd: str, project: ProjectId, lessons: Iterable[LessonId]) -> list[LessonId]:
    """Let outcomes move those lessons, at the folder's location; do nothing if it is gone or of another project."""
    try:
        location = services.workspace.locate(cwd)
    except HoldfastError:
        return []
    return move(services, location, lessons) if location.project.id == project else []


def move(services: Services, location: Location, lessons: Iterable[LessonId]) -> list[LessonId]:
    """Give each lesson the state that its outcomes add up to; return those that changed.

    `undo` takes it back; outcomes before the undo no longer count.
    """
    moved: list[LessonId] = []
    for lesson_id in lessons:
        if with_retries(lambda lesson_id=lesson_id: _move_one(services, location, lesson_id)):  # type: ignore[misc]
            moved.append(lesson_id)
    return moved


def refresh(services: Services, location: Location, lesson: LessonId) -> None:
    """Move a lesson after a statement about it, and compute the project's weights anew."""
    services.store.set_state(OUTCOME_WEIGHTS, location.project.id, _weights_text(services, location.project.id))
    move(services, location, [lesson])


def standing_now(services: Services, lesson: Lesson) -> Standing:
    """Return the lesson's standing by all its records in the log."""
    where = LogFilter(lesson=lesson.id, limit=SETTLED_MOST)
    return standing_of(
        lesson, services.store.find_records(Outcome, where), since_of(services.store.find_records(Change, where))
    )


def for_review(services: Services, location: Location) -> list[tuple[Lesson, str]]:
    """Return the project's lessons that outcomes contradict and only a person may close, each with the reason."""
    where = LogFilter(project=location.project.id, limit=SETTLED_MOST)
    doubted = {outcome.lesson for outcome in services.store.find_records(Outcome, where) if outcome.verdict in _DOUBTS}
    doubtful = []
    for lesson_id in sorted(doubted):
        lesson = _find(services, lesson_id)
        standing = standing_now(services, lesson) if lesson else Standing()
        if lesson and standing.for_review:
            doubtful.append((lesson, standing.words))
    return doubtful


_DOUBTS = ("ignored", "overridden", "hurt")


def _move_one(services: Services, location: Location, lesson_id: LessonId) -> bool:
    lesson = _find(services, lesson_id)
    if lesson is None:
        return False
    standing = standing_now(services, lesson)
    if standing.becomes is None or standing.becomes == lesson.state:
        return False
    after = in_state(lesson, standing.becomes, at=services.clock.now())
    expected = {lesson.id: lesson.recorded_at}
    write_change(
        services, location, "outcome", [after], expected, actor=JUDGE, summary=f"{after.state}: {standing.words}"
    )
    return True


class _Session:
    """One session with everything that its outcomes derive from."""

    def __init__(
        self, services: Services, project: ProjectId, session: SessionId, events: Sequence[Event], is_over: bool
    ) -> None:
        self.services, self.project, self.session, self.is_over = services, project, session, is_over
        self.story = Story(events)
        self.began_at = events[0].at
        self.sayings = Sayings.of(self.story, _rules(services, events))
        where = LogFilter(project=project, session=session, limit=SETTLED_MOST)
        shown = sorted(services.store.find_records(Delivery, where), key=lambda delivery: delivery.at)
        self.deliveries = [(self.story.position(delivery.at), delivery) for delivery in shown]
        outcomes = services.store.find_records(Outcome, where)
        self.withheld = [outcome for outcome in outcomes if outcome.verdict == "withheld"]

    def outcomes(self) -> Iterable[Outcome]:
        """Yield every outcome that can be decided by now, including those recorded before."""
        first: dict[LessonId, tuple[int, Delivery]] = {}
        for position, delivery in self.deliveries:
            first.setdefault(delivery.lesson, (position, delivery))
        for position, delivery in first.values():
            yield from self._judged(delivery.lesson, position, delivery)
        for outcome in self.withheld:
            if outcome.lesson not in first:
                yield from self._judged(outcome.lesson, self.story.position(outcome.at), outcome)
        for lesson_id, judged in complaints(self.story, self.deliveries):
            lesson = _find(self.services, lesson_id)
            if lesson is not None:
                yield self._outcome(lesson, judged, "said", {"judge": ""})
        yield from self._missed({lesson: position for lesson, (position, _) in first.items()})

    def _judged(self, lesson_id: LessonId, begin: int, source: Delivery | Outcome) -> Iterable[Outcome]:
        lesson = _find(self.services, lesson_id)  # None for a purged lesson and for a restored checkpoint
        end = begin + HORIZON
        if lesson is None or not (self.is_over or end <= len(self.story.events)):
            return
        files = [source.trigger] if source.moment == "before_file" else []
        judged = judge(lesson, begin, end, files, self.story, self.sayings)
        about: dict[str, object] = {
            "moment": source.moment, "trigger": source.trigger, "work": self.story.work_at(begin),
            "withheld": isinstance(source, Outcome),
        }  # fmt: skip
        yield self._outcome(lesson, judged, "judged", about)

    def _missed(self, told_at: dict[LessonId, int]) -> Iterable[Outcome]:
        """Yield lessons that the session needed before it was told them, each once."""
        withheld = {outcome.lesson for outcome in self.withheld}
        seen: set[LessonId] = set()
        for need in sorted(needs_of(self.story, self.sayings, self._library()), key=lambda need: need.at):
            lesson = need.lesson
            is_early = told_at.get(lesson.id, need.at + 1) <= need.at
            if lesson.id in seen or lesson.id in withheld or is_early:
                continue
            if not (self.is_over or need.at + HORIZON <= len(self.story.events)):
                continue
            seen.add(lesson.id)
            judged = Judged(verdict="missed", evidence=(need.event,), words=need.words)
            work = self.story.work_at(need.at + 1)
            about: dict[str, object] = {"moment": need.moment, "trigger": need.trigger, "work": work}
            yield self._outcome(lesson, judged, "missed", about)

    def _library(self) -> Library:
        """Return the lessons that memory could have told when the session began."""
        where = LessonFilter(
            project=self.project, states=("active", "probation"), as_of=self.began_at, limit=KNOWN_MOST
        )
        known = self.services.store.find(where)
        return Library([lesson for lesson in known if lesson.provenance.session != self.session])

    def _outcome(self, lesson: Lesson, judged: Judged, what: str, about: dict[str, object]) -> Outcome:
        fields: dict[str, object] = {"judge": JUDGE, **about}
        return Outcome(
            id=outcome_id(self.session, lesson.id, what),
            # Later than the version it is about, whatever the clock says, because standing counts by this time.
            at=next_instant(lesson.recorded_at, self.services.clock.now()),
            project=self.project, session=self.session, lesson=lesson.id, verdict=judged.verdict, note=judged.words,
            evidence=judged.evidence, **fields,  # type: ignore[arg-type]
        )  # fmt: skip


def _find(services: Services, lesson: LessonId) -> Lesson | None:
    try:
        return services.store.get([lesson])[0]
    except LessonNotFoundError:
        return None


def _rules(services: Services, events: Sequence[Event]) -> list[Candidate]:
    """Return candidates that the user states or the machine proves; skip a detector that raises."""
    rules: list[Candidate] = []
    for detector in services.detectors():
        try:
            candidates = detector.detect(events)
        except Exception:  # learning reports it
            continue
        is_rule = detector.id.partition("/")[0] in RULE_DETECTORS
        rules += [candidate for candidate in candidates if is_rule or candidate.trust in ("person", "verified")]
    return rules


def _is_over(events: Sequence[Event], now: datetime) -> bool:
    """Return whether the session's end was reported and nothing followed, or nothing was reported for long."""
    return events[-1].kind == "session_end" or now - events[-1].at >= IDLE


def _weights_text(services: Services, project: ProjectId) -> str:
    return render_weights(
        weights_of(services.store.find_records(Outcome, LogFilter(project=project, limit=SETTLED_MOST)))
    )


def _waiting(services: Services) -> tuple[list[_Open], int]:
    """Return the sessions to judge, in the order of their first events, and the last event's position."""
    position = services.store.get_state(OUTCOMES_POSITION)
    newest = int(position) if position.isascii() and position.isdigit() else 0
    sessions = {(entry.project, entry.session): entry for entry in _load_open(services.store.get_state(OUTCOMES_OPEN))}
    while page := services.store.find_events(EventFilter(after=newest, limit=EVENTS_A_READ)):
        newest = page[-1][0]
        for _, event in page:
            sessions[event.project, event.session] = _Open(project=event.project, session=event.session, cwd=event.cwd)
    return list(sessions.values()), newest


def _load_open(text: str) -> list[_Open]:
    try:
        return [_Open(project=project, session=session, cwd=cwd) for project, session, cwd in loads(text or "[]")]
    except (TypeError, ValueError):
        return []  # not in our format: its sessions come back with their next event


def _keep_open(services: Services, judged: Sequence[_Open], still_open: Sequence[_Open]) -> None:
    """Store the sessions that are still open, and those that another learner has added meanwhile."""
    done = {(entry.project, entry.session) for entry in judged}

    def edit(text: str) -> str:
        others = [entry for entry in _load_open(text) if (entry.project, entry.session) not in done]
        remaining = [*others, *still_open][-OPEN_MOST:]
        return dumps([[entry.project, entry.session, entry.cwd] for entry in remaining]) if remaining else ""

    services.store.edit_state(OUTCOMES_OPEN, "", edit)
