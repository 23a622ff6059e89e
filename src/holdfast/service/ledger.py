"""Ledger: how a change of memory is written down, so that `log` shows it and `undo` takes it back."""

from __future__ import annotations

from holdfast.domain.errors import StaleWriteError
from holdfast.domain.records import Change

CHANGED = "lessons_changed"
"""Mark: not empty while lessons may have changed since an embedder last saw all of them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.domain.vocabulary import LessonId
    from holdfast.service.parts import Parts

    T = TypeVar("T")


def note_change(
    parts: Parts,
    place: Place,
    verb: str,
    lessons: Sequence[LessonId],
    *,
    actor: str = "",
    undone: str = "",
    summary: str = "",
) -> Change:
    """Log a change that has just been put, and return its record.

    A change carries ids and, as its summary, places in the code, never a lesson's words: forgetting a lesson need
    not rewrite the log.
    """
    clock = parts.clock
    change = Change(
        id=clock.new_id(),
        at=clock.now(),
        project=place.project.id,
        verb=verb,
        lessons=tuple(lessons),
        actor=actor,
        undone=undone,
        summary=summary,
    )
    parts.store.record([change])
    if not parts.store.mark(CHANGED):
        parts.store.mark(CHANGED, "yes")
    return change


def put_next(parts: Parts, before: Lesson, after: Lesson) -> Lesson:
    """Write the version that follows `before`, and return it; raises StaleWriteError when that is not current."""
    parts.store.put([after], {before.id: before.recorded_at})
    return after


def twice(step: Callable[[], T]) -> T:
    """The step's answer; a step that lost a race is repeated once, and reads everything anew.

    A learner that counts a sighting while a person revises the same lesson is no reason to trouble the person;
    losing twice is, and raises StaleWriteError.
    """
    try:
        return step()
    except StaleWriteError:
        return step()
