"""Review: the inbox of lessons that wait for a person."""

from __future__ import annotations

from holdfast.domain.errors import IllegalTransitionError
from holdfast.domain.frozen import replace
from holdfast.domain.ids import short_id
from holdfast.domain.lesson import in_state
from holdfast.ports.store import LessonFilter
from holdfast.service.ledger import with_retries, write_change
from holdfast.service.lookup import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.domain.vocabulary import State
    from holdfast.service.parts import Parts

WAITING: tuple[State, ...] = ("candidate", "quarantined")
ACCEPTED_CONFIDENCE = 0.9
"""A lesson a person has read and accepted is at least this sure."""


def inbox(parts: Parts, place: Place) -> list[Lesson]:
    """Lessons that wait, by confidence x salience, then newest first; quarantined ones last."""
    waiting = parts.store.find(LessonFilter(project=place.project.id, states=WAITING, limit=10_000))
    return sorted(waiting, key=_promise, reverse=True)  # stable: the store's order, newest first, breaks ties


def accept(parts: Parts, place: Place, ref: str, *, author: str) -> Lesson:
    """The lesson, active, now with a person's trust. A rejected one can be accepted after all.

    Raises IllegalTransitionError for one that is active, superseded or forgotten.
    """
    return with_retries(lambda: _accept(parts, place, ref, author))


def reject(parts: Parts, place: Place, ref: str, *, author: str) -> Lesson:
    """The lesson, retired; learning will not propose the same statement again.

    Raises IllegalTransitionError for one that does not wait.
    """
    return with_retries(lambda: _reject(parts, place, ref, author))


def _accept(parts: Parts, place: Place, ref: str, author: str) -> Lesson:
    lesson = resolve(parts, place, ref)
    if lesson.state not in (*WAITING, "retired"):
        raise _not_waiting(lesson)
    active = replace(
        in_state(lesson, "active", at=parts.clock.now()),
        trust="person",
        confidence=max(lesson.confidence, ACCEPTED_CONFIDENCE),
        provenance=replace(lesson.provenance, author=author or lesson.provenance.author),
    )
    expected = {lesson.id: lesson.recorded_at}
    return write_change(parts, place, "accept", [active], expected, actor=author).lessons[0]


def _reject(parts: Parts, place: Place, ref: str, author: str) -> Lesson:
    lesson = resolve(parts, place, ref)
    if lesson.state not in WAITING:
        raise _not_waiting(lesson)
    retired = in_state(lesson, "retired", at=parts.clock.now())
    expected = {lesson.id: lesson.recorded_at}
    return write_change(parts, place, "reject", [retired], expected, actor=author).lessons[0]


def _promise(lesson: Lesson) -> tuple[bool, float]:
    return (lesson.state == "candidate", lesson.confidence * lesson.salience)


def _not_waiting(lesson: Lesson) -> IllegalTransitionError:
    short = short_id(lesson.id)
    hint = f"holdfast forget {short} takes it out of use" if lesson.state == "active" else f"holdfast show {short}"
    return IllegalTransitionError(f"lesson {short} does not wait for review: it is {lesson.state}", hint=hint)
