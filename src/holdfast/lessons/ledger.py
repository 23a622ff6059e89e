"""Ledger: how a change of memory is written down, so that `log` shows it and `undo` takes it back."""

from __future__ import annotations

from holdfast.domain.lesson import Lesson, next_instant
from holdfast.domain.records import Change
from holdfast.errors import StaleWriteError
from holdfast.lean.records import Frozen, replace
from holdfast.lessons.staged import forget_seen

CHANGED = "lessons_changed"
"""Mark: not empty while lessons may have changed since an embedder last saw all of them."""

NAME = "project_name:"
"""Mark, before a project's id: what people call it."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import TypeVar

    from holdfast.domain.project import Place
    from holdfast.domain.vocabulary import LessonId
    from holdfast.ports.parts import Parts

    T = TypeVar("T")


TRIES = 5
"""How often a step that loses races is tried: with three writers on one rule, two losses are common."""


class Written(Frozen):
    """A change that was put, and the versions as they were recorded."""

    change: Change
    lessons: tuple[Lesson, ...] = ()


def write_change(
    parts: Parts,
    place: Place,
    verb: str,
    lessons: Sequence[Lesson],
    expected: Mapping[LessonId, datetime | None],
    *,
    actor: str = "",
    undone: str = "",
    summary: str = "",
    extends: Change | None = None,
) -> Written:
    """Put the next version of each lesson together with the record of the change, in one transaction.

    `expected` is what `Store.put` takes: the `recorded_at` of the version each one replaces. Where the clock was set
    back, a version is recorded just after the one it replaces. With `extends` the lessons are added to that record,
    which was put before, instead of making one of their own.

    A change carries ids and, as its summary, places in the code, never a lesson's words: forgetting a lesson need
    not rewrite the log. Raises StaleWriteError, writing nothing; see `Store.put`.
    """
    recorded = tuple(_after(lesson, expected.get(lesson.id)) for lesson in _seen_like_predecessors(lessons))
    change = _change(parts, place, verb, recorded, actor=actor, undone=undone, summary=summary)
    if extends is not None:
        everything = dict.fromkeys((*extends.lessons, *change.lessons))
        change = replace(change, id=extends.id, lessons=tuple(everything))
    _mark_changed(parts)
    _note_name(parts, place)
    parts.store.put(recorded, expected, change)
    if any(lesson.scope.branch for lesson in recorded):
        forget_seen(parts, place.project.id)
    _mark_changed(parts)  # an embedder that looked between the mark and the put saw nothing new and took it away
    return Written(change=change, lessons=recorded)


def purge_with_change(parts: Parts, place: Place, lessons: Sequence[LessonId]) -> dict[str, int]:
    """Purge the lessons together with the record that says so; rows erased, by table."""
    change = replace(_change(parts, place, "purge", ()), lessons=tuple(lessons))
    erased = parts.store.purge(lessons, None, change)
    _mark_changed(parts)
    return erased


def with_retries(step: Callable[[], T]) -> T:
    """The step's answer; a step that lost a race is repeated a few times, and reads everything anew.

    A learner that counts a sighting while a person revises the same lesson is no reason to trouble the person.
    Losing every time raises StaleWriteError.
    """
    for _ in range(TRIES - 1):
        try:
            return step()
        except StaleWriteError:
            continue
    return step()


def _seen_like_predecessors(lessons: Sequence[Lesson]) -> Iterator[Lesson]:
    """The lessons; one that takes another's place is staged only where that one was, or neither would be seen."""
    closed = {lesson.id: lesson.scope for lesson in lessons if lesson.state in ("superseded", "retired")}
    for lesson in lessons:
        former = next((closed[x.target] for x in lesson.links if x.kind == "supersedes" and x.target in closed), None)
        if lesson.scope.branch and former is not None and former.branch != lesson.scope.branch:
            staging = {"branch": former.branch, "commit": former.commit, "base": former.base}
            lesson = replace(lesson, scope=replace(lesson.scope, **staging))
        yield lesson


def _after(lesson: Lesson, before: datetime | None) -> Lesson:
    """The version as it follows the one recorded at `before`."""
    if before is None or lesson.recorded_at > before:
        return lesson
    return replace(lesson, recorded_at=next_instant(before, lesson.recorded_at), retracted_at=None)


def _change(parts: Parts, place: Place, verb: str, lessons: Sequence[Lesson], **fields: str) -> Change:
    """The record; it is not earlier than what it tells of, so that `undo` finds the versions it made."""
    now = parts.clock.now()
    return Change(
        id=parts.clock.new_id(),
        at=max([now, *(lesson.recorded_at for lesson in lessons)]),
        project=place.project.id,
        verb=verb,
        lessons=tuple(lesson.id for lesson in lessons),
        **fields,
    )


def _note_name(parts: Parts, place: Place) -> None:
    if parts.store.mark(NAME + place.project.id) != place.project.name:
        parts.store.mark(NAME + place.project.id, place.project.name)


def _mark_changed(parts: Parts) -> None:
    if not parts.store.mark(CHANGED):
        parts.store.mark(CHANGED, "yes")
