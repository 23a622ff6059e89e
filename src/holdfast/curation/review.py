"""Review: the inbox of lessons that wait for a person."""

from __future__ import annotations

from dataclasses import replace

from holdfast.curation.conflicts import settle_saved
from holdfast.curation.tuning import ACCEPTED_CONFIDENCE
from holdfast.domain.lesson import Anchor, Lesson, in_state, next_instant
from holdfast.domain.project import Location
from holdfast.domain.records import Change, Delivery, Outcome
from holdfast.domain.team import FLAG_REASONS, Flag, FlagReason, MemberId
from holdfast.domain.vocabulary import LIVING, LessonId, SessionId, State, Verdict
from holdfast.errors import IllegalTransitionError, InvalidValueError
from holdfast.lean.texts import short_id
from holdfast.lessons.anchoring import renew
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.lookup import resolve
from holdfast.lessons.staging import hidden_here
from holdfast.lessons.statement import clean
from holdfast.outcomes.standing import WITHDRAWN, since_of, standing_outcomes, store_evidence
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter
from holdfast.rendering.lines import is_from_commit

WAITING: tuple[State, ...] = ("candidate", "quarantined")


def inbox(services: Services, location: Location) -> list[Lesson]:
    """Return waiting lessons by confidence x salience, then newest; then those from commits, then quarantined ones.

    Those that are staged on a branch and invisible here wait there.
    """
    hidden = hidden_here(services, location)
    waiting = services.store.find(LessonFilter(project=location.project.id, states=WAITING, limit=10_000))
    visible = (lesson for lesson in waiting if lesson.id not in hidden)
    return sorted(visible, key=promise, reverse=True)  # stable: the store's order, newest first, breaks ties


def accept(services: Services, location: Location, ref: str, *, author: str = "", actor: str = "") -> Lesson:
    """Make the lesson active, with a person's trust. A rejected lesson can still be accepted.

    Its author stays unless `author` is given. `actor` is who accepts it, as its history tells it.

    Accepting a revision of another lesson closes that one; conflicts of the lesson are settled.

    Raises IllegalTransitionError for one that is active, superseded or forgotten.
    """
    accepted = with_retries(lambda: _accept(services, location, ref, author, actor or author))
    return settle_saved(services, location, accepted, author=author)


def reject(services: Services, location: Location, ref: str, *, author: str = "") -> Lesson:
    """Retire the lesson; learning will not propose the same statement again.

    Raises IllegalTransitionError for a lesson that does not wait.
    """
    return with_retries(lambda: _reject(services, location, ref, author))


def _accept(services: Services, location: Location, ref: str, author: str, actor: str) -> Lesson:
    lesson = resolve(services, location, ref)
    if lesson.state not in (*WAITING, "retired"):
        raise _not_waiting(lesson)
    active = replace(
        in_state(lesson, "active", at=services.clock.now()),
        trust="person",
        confidence=max(lesson.confidence, ACCEPTED_CONFIDENCE),
        provenance=replace(lesson.provenance, author=author or lesson.provenance.author),
    )
    revised = _revised_by(services, lesson)
    if revised is None:
        expected = {lesson.id: lesson.recorded_at}
        return write_change(services, location, "accept", [active], expected, actor=actor).lessons[0]
    links = tuple(replace(link, kind="supersedes") if link.target == revised.id else link for link in active.links)
    active = replace(active, links=links, topic_key=active.topic_key or revised.topic_key)
    closed = in_state(revised, "superseded", at=active.recorded_at)
    both = {lesson.id: lesson.recorded_at, revised.id: revised.recorded_at}
    return write_change(services, location, "accept", [active, closed], both, actor=actor).lessons[0]


def _revised_by(services: Services, lesson: Lesson) -> Lesson | None:
    """Return the active lesson that this waiting one revises; None for an independent one, or an imported link."""
    targets = [link.target for link in lesson.links if link.kind == "refines"] if not lesson.provenance.origin else []
    return (
        next((target for target in services.store.get(targets) if target.state == "active"), None) if targets else None
    )


def _reject(services: Services, location: Location, ref: str, author: str) -> Lesson:
    lesson = resolve(services, location, ref)
    if lesson.state not in WAITING:
        raise _not_waiting(lesson)
    retired = in_state(lesson, "retired", at=services.clock.now())
    expected = {lesson.id: lesson.recorded_at}
    return write_change(services, location, "reject", [retired], expected, actor=author).lessons[0]


def promise(lesson: Lesson) -> tuple[bool, bool, float]:
    """Return the sort key of waiting lessons, larger is more promising: not suspicious, not from a commit, sure."""
    return (lesson.state != "quarantined", not is_from_commit(lesson), lesson.confidence * lesson.salience)


def _not_waiting(lesson: Lesson) -> IllegalTransitionError:
    short = short_id(lesson.id)
    hint = f"holdfast forget {short} takes it out of use" if lesson.state == "active" else f"holdfast show {short}"
    return IllegalTransitionError(f"lesson {short} does not wait for review: it is {lesson.state}", hint=hint)


# Confirm: records that a lesson holds for the present code. Its anchors are renewed; nothing else of it changes


ENDED: tuple[State, ...] = ("superseded", "retired", "forgotten")


def confirm(services: Services, location: Location, ref: str, *, author: str = "") -> Lesson:
    """Return the lesson's next version, anchored to the present code; follow moved definitions, drop deleted ones.

    Where there is no code, on a server, the anchors stay as they are.

    Raises IllegalTransitionError for a lesson that is out of use, InvalidValueError when it is about another
    project's code or when nothing that it is about is left.
    """

    def step() -> Lesson:
        lesson = resolve(services, location, ref)
        anchors = _anchors(services, location, lesson)
        after = replace(lesson, anchors=anchors, recorded_at=services.clock.now(), retracted_at=None)
        expected = {lesson.id: lesson.recorded_at}
        return write_change(services, location, "confirm", [after], expected, actor=author).lessons[0]

    return with_retries(step)


def _anchors(services: Services, location: Location, lesson: Lesson) -> tuple[Anchor, ...]:
    if lesson.state in ENDED:
        raise IllegalTransitionError(
            f"lesson {short_id(lesson.id)} is {lesson.state}", hint=f"holdfast show {short_id(lesson.id)}"
        )
    if lesson.anchors and lesson.scope.project not in ("", location.project.id):
        raise InvalidValueError(
            f"lesson {short_id(lesson.id)} is about the code of another project", hint="confirm it there: -C FOLDER"
        )
    if not location.has_work_tree:
        return lesson.anchors
    renewed = [renew(services, location, anchor) for anchor in lesson.anchors]
    anchors = {(anchor.path, anchor.symbol): anchor for anchor in renewed if anchor is not None}
    if lesson.paths and not any(anchor.path for anchor in anchors.values()):
        raise InvalidValueError(
            f"the code of lesson {short_id(lesson.id)} no longer exists: {', '.join(lesson.paths)}",
            hint=f"holdfast revise {short_id(lesson.id)} --file … names its new place",
        )
    return tuple(anchors.values())


# Feedback: records what somebody says about a lesson that was shown


VERDICTS: tuple[Verdict, ...] = ("heeded", "helped", "hurt")


def feedback(
    services: Services,
    location: Location,
    ref: str,
    verdict: Verdict,
    note: str = "",
    session: SessionId | None = None,
    *,
    judge: str = "",
) -> Outcome:
    """Store the outcome. It moves the lesson in the order at once, and counts for more than an inferred outcome.

    Without a session it belongs to the one in which the lesson was last shown. `judge` is `agent` if an agent says it.
    Raises InvalidValueError for an unknown verdict.
    """
    if verdict not in VERDICTS:
        raise InvalidValueError(f"unknown verdict {verdict!r}", hint=f"one of {', '.join(VERDICTS)}")
    lesson = resolve(services, location, ref)
    outcome = Outcome(
        id=services.clock.new_id(),
        at=next_instant(lesson.recorded_at, services.clock.now()),
        project=location.project.id,
        session=session or _last_shown(services, lesson.id),
        lesson=lesson.id,
        verdict=verdict,
        note=clean(note),
        judge=judge,
    )
    services.store.record([outcome])
    store_evidence(services.store, location.project.id)
    return outcome


# Flag: says that a lesson does not hold. It changes nothing by itself: review shows it, and it is told after all others

BEHIND = ": "
"""Stands between the reason of a flag and the note, in the note of its outcome."""


def flag(
    services: Services, location: Location, ref: str, reason: FlagReason, *, note: str = "", of: str = ""
) -> Outcome:
    """Store that the lesson is stale, incorrect or a duplicate (`of` another one).

    Raises InvalidValueError for an unknown reason, IllegalTransitionError for a lesson that is out of use.
    """
    if reason not in FLAG_REASONS:
        raise InvalidValueError(f"unknown reason {reason!r}", hint=f"one of {', '.join(FLAG_REASONS)}")
    if of and reason != "duplicate":
        raise InvalidValueError("only a duplicate is one of another lesson")
    lesson = _living(services, location, ref)
    original = resolve(services, location, of).id if of else LessonId("")
    if original == lesson.id:
        raise InvalidValueError("a lesson does not repeat itself")
    stated = f"{reason} of {short_id(original)}" if original else reason
    words = f"{stated}{BEHIND}{note.strip()}" if note.strip() else stated
    return feedback(services, location, lesson.id, "hurt", words)


def withdraw(services: Services, location: Location, ref: str) -> Lesson:
    """Take back every flag of the lesson, and every statement that it did harm; return the lesson, unchanged."""
    lesson = _living(services, location, ref)
    outcome = Outcome(
        id=services.clock.new_id(), at=next_instant(lesson.recorded_at, services.clock.now()),
        project=location.project.id, session=SessionId(""), lesson=lesson.id, verdict=WITHDRAWN, note="taken back",
    )  # fmt: skip
    services.store.record([outcome])
    store_evidence(services.store, location.project.id)
    return lesson


def flags(services: Services, location: Location, ref: str) -> list[Flag]:
    """Return the flags of the lesson that nobody has taken back and that no confirmation has answered, newest first."""
    lesson = resolve(services, location, ref)
    where = LogFilter(lesson=lesson.id)
    since = since_of(services.store.find_records(Change, where))
    outcomes = standing_outcomes(services.store.find_records(Outcome, where), since)
    return [flag for outcome in outcomes if (flag := _flag(location, outcome)) is not None]


def _flag(location: Location, outcome: Outcome) -> Flag | None:
    words, _, note = outcome.note.partition(BEHIND)
    named, _, of = words.partition(" of ")
    reason = next((each for each in FLAG_REASONS if each == named), None)
    if reason is None or outcome.verdict != "hurt":
        return None
    return Flag(
        id=outcome.id, at=outcome.at, lesson=outcome.lesson, member=MemberId(""), project=location.project.id,
        reason=reason, of=LessonId(of), note=note,
    )  # fmt: skip


def _living(services: Services, location: Location, ref: str) -> Lesson:
    lesson = resolve(services, location, ref)
    if lesson.state not in LIVING:
        raise IllegalTransitionError(f"lesson {short_id(lesson.id)} is {lesson.state}")
    return lesson


def _last_shown(services: Services, lesson: LessonId) -> SessionId:
    shown = services.store.find_records(Delivery, LogFilter(lesson=lesson, limit=1))
    return shown[0].session if shown else ""  # type: ignore[return-value]
