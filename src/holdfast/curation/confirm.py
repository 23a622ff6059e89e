"""Confirm: records that a lesson holds for the present code. Its anchors are renewed; nothing else of it changes."""

from __future__ import annotations

from holdfast.errors import IllegalTransitionError, InvalidValueError
from holdfast.lean.records import replace
from holdfast.lean.texts import short_id
from holdfast.lessons.anchoring import renew
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.lookup import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.lesson import Anchor, Lesson
    from holdfast.domain.project import Location
    from holdfast.ports.services import Services

ENDED = ("superseded", "retired", "forgotten")


def confirm(services: Services, location: Location, ref: str, *, author: str) -> Lesson:
    """Return the lesson's next version, anchored to the present code; follow moved definitions, drop deleted ones.

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
    renewed = [renew(services, location, anchor) for anchor in lesson.anchors]
    anchors = {(anchor.path, anchor.symbol): anchor for anchor in renewed if anchor is not None}
    if lesson.paths and not any(anchor.path for anchor in anchors.values()):
        raise InvalidValueError(
            f"the code of lesson {short_id(lesson.id)} no longer exists: {', '.join(lesson.paths)}",
            hint=f"holdfast revise {short_id(lesson.id)} --file … names its new place",
        )
    return tuple(anchors.values())
