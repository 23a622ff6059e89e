"""Ledger: records a change of memory, so that `log` shows it and `undo` takes it back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from holdfast.domain.lesson import Lesson, next_instant
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import LESSONS_CHANGED, PROJECT_NAME, STAGED_SEEN
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import StaleWriteError
from holdfast.lessons.known import forget_purged
from holdfast.lessons.tuning import TRIES
from holdfast.ports.services import Services

T = TypeVar("T")

LEARNT = "learn"
"""The verb of changes that a session taught, without anybody stating them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A stored change, and the versions as they were recorded."""

    change: Change
    lessons: tuple[Lesson, ...] = ()


def write_change(
    services: Services,
    location: Location,
    verb: str,
    lessons: Sequence[Lesson],
    expected: Mapping[LessonId, datetime | None],
    *,
    actor: str = "",
    undone: str = "",
    summary: str = "",
    extends: Change | None = None,
) -> Written:
    """Write the next version of each lesson together with the record of the change, in one transaction.

    `expected` is as in `Store.put`: the `recorded_at` of the version that each one replaces. If the clock was set back,
    a version is recorded just after the one it replaces. With `extends` the lessons are added to that existing record
    instead of a new one.

    A change contains ids and, as its summary, locations in the code, never a lesson's words: so forgetting a lesson
    need not rewrite the log. Raises StaleWriteError, writing nothing; see `Store.put`.
    """
    allowed = list(_as_allowed(services, lessons, expected)) if verb == LEARNT else lessons
    recorded = tuple(_after(lesson, expected.get(lesson.id)) for lesson in _seen_like_predecessors(allowed))
    change = _change(services, location, verb, recorded, actor=actor, undone=undone, summary=summary)
    if extends is not None:
        everything = dict.fromkeys((*extends.lessons, *change.lessons))
        change = replace(change, id=extends.id, lessons=tuple(everything))
    _mark_changed(services)
    _note_name(services, location)
    services.store.put(recorded, expected, change)
    if any(lesson.scope.branch for lesson in recorded):
        services.store.set_state(STAGED_SEEN, location.project.id, "")
    _mark_changed(services)  # again: an embedder that looked before the put found nothing new and cleared the mark
    return Written(change=change, lessons=recorded)


def purge_with_change(services: Services, location: Location, lessons: Sequence[LessonId]) -> dict[str, int]:
    """Purge the lessons together with the record of it; return the number of rows erased, by table."""
    change = replace(_change(services, location, "purge", ()), lessons=tuple(lessons))
    erased = services.store.purge(lessons, change)
    forget_purged(services.store, lessons)
    _mark_changed(services)
    return erased


def with_retries(step: Callable[[], T]) -> T:
    """Return the step's answer; repeat a step that lost a race a few times, reading everything anew.

    For example, a learner counts a sighting while a person revises the same lesson; the person should not notice.
    Raises StaleWriteError when every attempt loses.
    """
    for _ in range(TRIES - 1):
        try:
            return step()
        except StaleWriteError:
            continue
    return step()


def _seen_like_predecessors(lessons: Sequence[Lesson]) -> Iterator[Lesson]:
    """Yield the lessons; a successor is staged only where its predecessor was, or neither would be visible."""
    closed = {lesson.id: lesson.scope for lesson in lessons if lesson.state in ("superseded", "retired")}
    for lesson in lessons:
        former = next((closed[x.target] for x in lesson.links if x.kind == "supersedes" and x.target in closed), None)
        if lesson.scope.branch and former is not None and former.branch != lesson.scope.branch:
            scope = replace(lesson.scope, branch=former.branch, commit=former.commit, base=former.base)
            lesson = replace(lesson, scope=scope)
        yield lesson


def _as_allowed(
    services: Services, lessons: Sequence[Lesson], expected: Mapping[LessonId, datetime | None]
) -> Iterator[Lesson]:
    """Yield what a session teaches that somebody else has to confirm: new lessons wait, known ones stay as they are."""
    for lesson in lessons:
        if not services.must_wait(lesson):
            yield lesson
        elif expected.get(lesson.id) is None:
            yield replace(lesson, state="candidate") if lesson.state == "active" else lesson


def _after(lesson: Lesson, before: datetime | None) -> Lesson:
    """Return the version, recorded later than the one recorded at `before`."""
    if before is None or lesson.recorded_at > before:
        return lesson
    return replace(lesson, recorded_at=next_instant(before, lesson.recorded_at), retracted_at=None)


def _change(services: Services, location: Location, verb: str, lessons: Sequence[Lesson], **fields: str) -> Change:
    """Return the record; it is not earlier than its versions, so that `undo` finds them."""
    now = services.clock.now()
    return Change(
        id=services.clock.new_id(),
        at=max([now, *(lesson.recorded_at for lesson in lessons)]),
        project=location.project.id,
        verb=verb,
        lessons=tuple(lesson.id for lesson in lessons),
        **fields,
    )


def _note_name(services: Services, location: Location) -> None:
    services.store.set_state(PROJECT_NAME, location.project.id, location.project.name)


def _mark_changed(services: Services) -> None:
    if not services.serves_team:
        services.store.set_state(LESSONS_CHANGED, "", "yes")
