"""Settle: judges deliveries to sessions after their end, and stores what the outcomes say of the order.

The id of an outcome derives from session and lesson, and a store has one record of an id. So a session that is judged
twice, or by two learners at once, counts once. A delivery is judged by the HORIZON events that follow it, as soon as
they exist or the session is over, so a session that never ends is judged piece by piece.

A *need* is something that a session had to find out, or be told, although a lesson in memory says it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import log

from holdfast.capture.sessionevents import session_events
from holdfast.compare.sameness import same
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson, next_instant
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.statefamilies import OUTCOMES_OPEN, OUTCOMES_POSITION
from holdfast.domain.vocabulary import EventId, LessonId, Moment, ProjectId, SessionId
from holdfast.errors import HoldfastError, LessonNotFoundError
from holdfast.lean.texts import dumps, loads
from holdfast.outcomes.judge import Judged, StatedRules, Telling, complaints, judge
from holdfast.outcomes.standing import outcome_id, standings, store_evidence
from holdfast.outcomes.story import Action, Story, clipped, has, is_reading, lint_rules_in, signatures_of
from holdfast.outcomes.trouble import store_trouble
from holdfast.outcomes.tuning import (
    CLOSE_SEARCHES,
    EVENTS_A_READ,
    HABIT_EVENTS,
    HABIT_SESSIONS,
    HORIZON,
    IDLE,
    KNOWN_MOST,
    LEAST_SHARE,
    LEAST_WORDS,
    OPEN_MOST,
    SETTLED_MOST,
)
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter, get_readable
from holdfast.ranking.relevance import lesson_stems, stems_of
from holdfast.text.signature import alike

_IDENTIFIER = re.compile(r"[A-Za-z_]\w{5,60}")

JUDGE = "judge/2"
RULE_DETECTORS = ("correction", "explicit")
"""Detectors whose candidates from a prompt are the user's rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A lesson that would have helped, the position from which on, and the event that shows it."""

    lesson: Lesson
    at: int
    event: EventId
    words: str
    moment: Moment
    """When it should have been told."""
    trigger: str = ""


class Library:
    """The lessons that memory had when a session began, with how common their words are among them."""

    def __init__(self, lessons: Sequence[Lesson]) -> None:
        self.lessons = list(lessons)
        self._stems = [lesson_stems(lesson) for lesson in self.lessons]
        counts = Counter(stem for stems in self._stems for stem in stems)
        total = len(self.lessons) + 1
        self._weights = {stem: log(total / count) for stem, count in counts.items()}
        self._unknown = log(total)
        self._identifiers = [frozenset(_IDENTIFIER.findall(_text(lesson))) for lesson in self.lessons]

    def saying(self, rule: str) -> list[Lesson]:
        """Return lessons that say what the rule says, the nearest first, at most two.

        They have the same words, or most of their weight; a word that many lessons have weighs little.
        """
        wanted = stems_of(rule)
        weight = sum(self._weights.get(stem, self._unknown) for stem in wanted)
        nearest = []
        for lesson, stems in zip(self.lessons, self._stems, strict=True):
            shared = wanted & stems
            share = sum(self._weights[stem] for stem in shared) / weight if weight else 0.0
            if same(rule, lesson.insight):
                share = 1.0
            if share >= LEAST_SHARE and len(shared) >= LEAST_WORDS:
                nearest.append((-share, lesson.id, lesson))
        return [lesson for _, _, lesson in sorted(nearest, key=lambda entry: entry[:2])[:2]]

    def naming(self, words: frozenset[str]) -> list[tuple[Lesson, str]]:
        """Return (lesson, word) of each lesson that has one of those identifiers."""
        pairs = zip(self.lessons, self._identifiers, strict=True)
        return [(lesson, min(words & names)) for lesson, names in pairs if words & names]


def needs_of(story: Story, rules: StatedRules, library: Library) -> Iterator[Need]:
    """Yield every need that the session shows, in no particular order; a lesson may be needed more than once."""
    for at, rule, event in rules.stated:
        for lesson in library.saying(rule):
            yield Need(lesson=lesson, at=at, event=event, words=clipped(rule), moment="prompt")
    yield from _failures(story, library)
    yield from _searches(story, library)


def _failures(story: Story, library: Library) -> Iterator[Need]:
    """Yield failures with a signature that a lesson answers, or with a linter's rule that a lesson names."""
    for at, event in story.failures():
        signature, target = signatures_of(event)
        for rule in sorted(lint_rules_in(event)):
            for lesson, word in library.naming(frozenset((rule,))):
                yield Need(
                    lesson=lesson, at=at, event=event.id, words=f"reported: {word}", moment="before_command",
                    trigger=target,
                )  # fmt: skip
        for lesson in library.lessons if signature else ():
            if lesson.error_signature and alike(signature, lesson.error_signature):
                yield Need(
                    lesson=lesson, at=at, event=event.id, words=clipped(signature), moment="after_failure",
                    trigger=target,
                )  # fmt: skip


def _searches(story: Story, library: Library) -> Iterator[Need]:
    """Yield searches that soon ended in an edit of the file that a lesson with the searched name is about."""
    for action in story.actions:
        event = action.event
        if event.kind == "file_edit" or not (is_reading(event) and event.tool not in ("Read", "LS")):
            continue
        searched = frozenset(_IDENTIFIER.findall(event.command))
        ended = {
            file
            for edit in story.edits
            if action.at < edit.at <= action.at + CLOSE_SEARCHES
            for file in edit.event.files
        }
        for lesson, word in library.naming(searched) if ended else ():
            if ended.intersection(lesson.paths) and not ended.intersection(event.files):
                yield Need(
                    lesson=lesson, at=action.at, event=event.id, words=f"searched for {word}", moment="before_file",
                    trigger=word,
                )  # fmt: skip


def _text(lesson: Lesson) -> str:
    return f"{lesson.title} {lesson.insight} {lesson.how}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleReport:
    """The result of judging the sessions of one call."""

    sessions: int = 0
    outcomes: int = 0
    failed: tuple[str, ...] = ()
    """Sessions that could not be judged, and why; the others were."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    """A session that is still to be judged, and its folder."""

    project: ProjectId
    session: SessionId
    cwd: str = ""


def settle_pending(services: Services) -> SettleReport:
    """Judge every session with events since the last call, and those that were open then. Idempotent."""
    waiting, newest = _waiting(services)
    count, outcomes, failed = 0, 0, []
    open_now: list[_Open] = []
    touched: set[ProjectId] = set()
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
            touched.add(entry.project)
        if not is_over:
            open_now.append(entry)
    for project in sorted(touched):
        store_evidence(services.store, project)
    # Stored last: a learner that is killed earlier judges the same sessions again, which counts once.
    _keep_open(services, waiting, open_now)
    services.store.set_state(OUTCOMES_POSITION, "", str(newest))
    return SettleReport(sessions=count, outcomes=outcomes, failed=tuple(failed))


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
    missed = [outcome.lesson for outcome in outcomes if outcome.verdict == "missed"]
    paths = [lesson.paths for lesson in get_readable(services.store, missed)]
    store_trouble(services.store, project, session, events, paths)
    return new, is_over


def for_review(services: Services, location: Location) -> list[tuple[Lesson, str]]:
    """Return the project's lessons that outcomes contradict and a person should decide on, each with the reason."""
    doubted = {
        id_: standing for id_, standing in standings(services.store, location.project.id).items() if standing.is_doubted
    }
    lessons = [(_find(services, id_), standing) for id_, standing in sorted(doubted.items())]
    return [(lesson, standing.words) for lesson, standing in lessons if lesson is not None and lesson.state == "active"]


class _Session:
    """One session with everything that its outcomes derive from."""

    def __init__(
        self, services: Services, project: ProjectId, session: SessionId, events: Sequence[Event], is_over: bool
    ) -> None:
        self.services, self.project, self.session, self.is_over = services, project, session, is_over
        self.story = Story(events)
        self.began_at = events[0].at
        self.rules = StatedRules.of(self.story, _rules(services, events))
        where = LogFilter(project=project, session=session, limit=SETTLED_MOST)
        shown = sorted(services.store.find_records(Delivery, where), key=lambda delivery: delivery.at)
        self.deliveries = [(self.story.position(delivery.at), delivery) for delivery in shown]
        outcomes = services.store.find_records(Outcome, where)
        self._earlier: list[Action] | None = None
        self.withheld = [outcome for outcome in outcomes if outcome.verdict == "withheld"]

    def outcomes(self) -> Iterable[Outcome]:
        """Yield every outcome that can be decided by now, including those recorded before."""
        first: dict[LessonId, tuple[int, Delivery]] = {}
        for position, delivery in self.deliveries:
            first.setdefault(delivery.lesson, (position, delivery))
        withheld = {outcome.lesson for outcome in self.withheld}
        for position, delivery in first.values():
            if delivery.lesson not in withheld:
                yield from self._judged(delivery.lesson, position, delivery)
        # Also if the session was told it later: to leave those out would leave out the sessions that needed it.
        for outcome in self.withheld:
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
        telling = Telling(begin=begin, end=end, moment=source.moment, trigger=source.trigger)
        judged = judge(lesson, telling, self.story, self.rules, lambda words: self._is_usual(words, lesson))
        about: dict[str, object] = {
            "moment": source.moment, "trigger": source.trigger, "withheld": isinstance(source, Outcome),
        }  # fmt: skip
        yield self._outcome(lesson, judged, "judged", about)

    def _missed(self, told_at: dict[LessonId, int]) -> Iterable[Outcome]:
        """Yield lessons that the session needed before it was told them, each once."""
        withheld = {outcome.lesson for outcome in self.withheld}
        seen: set[LessonId] = set()
        for need in sorted(needs_of(self.story, self.rules, self._library()), key=lambda need: need.at):
            lesson = need.lesson
            is_early = told_at.get(lesson.id, need.at + 1) <= need.at
            if lesson.id in seen or lesson.id in withheld or is_early:
                continue
            if not (self.is_over or need.at + HORIZON <= len(self.story.events)):
                continue
            seen.add(lesson.id)
            judged = Judged(verdict="missed", evidence=(need.event,), words=need.words)
            about: dict[str, object] = {"moment": need.moment, "trigger": need.trigger}
            yield self._outcome(lesson, judged, "missed", about)

    def _is_usual(self, words: str, lesson: Lesson) -> bool:
        """Return whether earlier sessions ran or wrote those words that neither taught the lesson nor were told it."""
        if self._earlier is None:
            where = EventFilter(project=self.project, last=HABIT_EVENTS)
            self._earlier = [
                action
                for _, event in self.services.store.find_events(where)
                if event.session != self.session and event.at < self.began_at
                for action in Story([event]).actions
            ]
        sessions = {action.event.session for action in self._earlier if has(action.written, words)}
        sessions -= {lesson.provenance.session, *lesson.sessions_seen}
        if len(sessions) < HABIT_SESSIONS:
            return False
        shown = self.services.store.find_records(Delivery, LogFilter(lesson=lesson.id, limit=SETTLED_MOST))
        return len(sessions - {delivery.session for delivery in shown}) >= HABIT_SESSIONS

    def _library(self) -> Library:
        """Return the lessons that memory could have told when the session began."""
        where = LessonFilter(project=self.project, states=("active",), as_of=self.began_at, limit=KNOWN_MOST)
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
    """Return candidates that the user states; skip a detector that raises."""
    rules: list[Candidate] = []
    for detector in services.detectors():
        try:
            candidates = detector.detect(events)
        except Exception:  # learning reports it
            continue
        is_rule = detector.id.partition("/")[0] in RULE_DETECTORS
        rules += [candidate for candidate in candidates if is_rule or candidate.trust == "person"]
    return rules


def _is_over(events: Sequence[Event], now: datetime) -> bool:
    """Return whether the session's end was reported and nothing followed, or nothing was reported for long."""
    return events[-1].kind == "session_end" or now - events[-1].at >= IDLE


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
