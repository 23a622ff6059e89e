"""Forget leaves a tombstone, purge erases, and undo takes back the last change of a project."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from holdfast.curation.tuning import CHANGES_READ
from holdfast.domain.lesson import INSTANT, Lesson, Provenance, in_state
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import TRANSITIONS, LessonId
from holdfast.errors import InvalidValueError, LessonNotFoundError, StaleWriteError
from holdfast.lessons.ledger import purge_with_change, with_retries, write_change
from holdfast.lessons.lookup import require_version, resolve
from holdfast.ports.services import Services
from holdfast.ports.store import LogFilter

FINAL = "purge"
"""The verb that erases words."""
NOT_CHANGES = ("undo", "feedback", "stage", "merge")

TITLE = "forgotten"
INSIGHT = "This lesson was forgotten."


def forget(
    services: Services, location: Location, ref: str, *, author: str = "", expected: datetime | None = None
) -> Lesson:
    """Return the tombstone: id, kind, scope and links stay, all words are removed.

    Earlier versions stay in the history until `purge`. A lesson forgotten before is returned as it is. Raises
    StaleWriteError where it is not the version that was recorded at `expected`.
    """

    def step() -> Lesson:
        lesson = resolve(services, location, ref)
        if lesson.state == "forgotten":
            return lesson
        require_version(lesson, expected)
        tombstone = blanked(in_state(lesson, "forgotten", at=services.clock.now()))
        before = {lesson.id: lesson.recorded_at}
        return write_change(services, location, "forget", [tombstone], before, actor=author).lessons[0]

    return with_retries(step)


def words_of(services: Services, location: Location, ref: str) -> tuple[str, ...]:
    """Return titles and rules of every version of the lesson, newest first, to search for copies of them."""
    lesson: Lesson | None = resolve(services, location, ref)
    words: list[str] = []
    while lesson is not None:
        if lesson.state != "forgotten":
            words += [lesson.title.rstrip("…"), lesson.insight]
        try:
            lesson = services.store.get([lesson.id], lesson.recorded_at - INSTANT)[0]
        except LessonNotFoundError:
            lesson = None
    return tuple(dict.fromkeys(words))


def purge(services: Services, location: Location, ref: str) -> dict[str, int]:
    """Erase every version of the lesson, its text, vectors and log records; return the number of rows by table.

    The events it quotes lose their texts, and its sentences are removed from the other records of their sessions.
    """
    lesson = resolve(services, location, ref)
    return purge_with_change(services, location, [lesson.id])


def blanked(lesson: Lesson) -> Lesson:
    """Return the lesson without its texts, its anchors and its evidence."""
    source = lesson.provenance
    return replace(
        lesson,
        title=TITLE,
        insight=INSIGHT,
        why="",
        how="",
        snippets=(),
        anchors=(),
        globs=(),
        tags=(),
        topic_key="",
        error_signature="",
        command="",
        revival="",
        pinned=False,
        provenance=Provenance(host=source.host, session=source.session, detector=source.detector),
    )


# Undo: takes back the last change of a project's memory


AUTOMATIC = (*NOT_CHANGES, "reanchor")
"""Verbs of changes that do not stand in the way of undoing an earlier change of the same lesson."""


def undo(
    services: Services, location: Location, *, author: str = "", past_purges: bool = False, change: str = ""
) -> Change:
    """Return the undo's own log record; `undone` is the change taken back, `lessons` those that differ now.

    It takes back the last change, or exactly the one whose id is given. Raises InvalidValueError when there is nothing
    to take back, or when the change was a purge; with `past_purges` purges are skipped. Raises StaleWriteError when
    lessons of the given change were changed again since.
    """
    if change:
        exact = _undoable(services, location, change)
        return with_retries(lambda: _take_back(services, location, exact, author))
    last = last_change(services, location, past_purges)
    if last is None:
        raise InvalidValueError(f"nothing to undo in project {location.project.name}", hint="holdfast log --changes")
    if last.verb == FINAL:
        raise InvalidValueError(
            "the last change was a purge, which is final",
            hint="holdfast undo --past-purges takes back what came before",
        )
    return with_retries(lambda: _take_back(services, location, last, author))


def _undoable(services: Services, location: Location, change: str) -> Change:
    """Return the change with that id, if it can be taken back exactly."""
    entries, undone = _entries(services, location)
    at = next((index for index, entry in enumerate(entries) if entry.id == change), -1)
    if at < 0 or entries[at].verb in NOT_CHANGES:
        raise InvalidValueError("no such change, or it is too old to undo", hint="holdfast log --changes")
    exact, later = entries[at], entries[:at]
    if exact.verb == FINAL:
        raise InvalidValueError("that change was a purge, which is final")
    if change in undone:
        raise InvalidValueError("that change was undone already")
    since = {entry.id for entry in later}
    for entry in later:
        is_in_the_way = entry.undone not in since if entry.verb == "undo" else entry.id not in undone
        if is_in_the_way and (entry.verb == "undo" or entry.verb not in AUTOMATIC):
            _require_others(exact, entry)
    return exact


def _require_others(change: Change, later: Change) -> None:
    """Raise StaleWriteError where the later change is about a lesson of the earlier one."""
    if not set(change.lessons).isdisjoint(later.lessons):
        raise StaleWriteError(
            f"this lesson was changed again since ({later.verb} at {later.at:%Y-%m-%d %H:%M} UTC)",
            hint="undo the later change first",
        )


def undo_latest(services: Services, location: Location, verb: str, *, author: str) -> Change:
    """Undo the newest change of that verb, whatever came after it, as `undo` does.

    Raises InvalidValueError when there is none that has not been taken back.
    """
    change = find_latest(services, location, verb)
    if change is None:
        raise InvalidValueError(f"no {verb} to undo in project {location.project.name}", hint="holdfast log --changes")
    return with_retries(lambda: _take_back(services, location, change, author))


def find_latest(services: Services, location: Location, verb: str) -> Change | None:
    """Return the newest change of that verb that has not been taken back, or None."""
    entries, undone = _entries(services, location)
    return next((entry for entry in entries if entry.verb == verb and entry.id not in undone), None)


def last_change(services: Services, location: Location, past_purges: bool = False) -> Change | None:
    """Return the newest change of the project that has not been taken back, or None; `past_purges` skips purges."""
    entries, undone = _entries(services, location)
    left_out = (*NOT_CHANGES, FINAL) if past_purges else NOT_CHANGES
    return next((entry for entry in entries if entry.verb not in left_out and entry.id not in undone), None)


def _entries(services: Services, location: Location) -> tuple[list[Change], set[str]]:
    """Return the project's changes, newest first, and the ids of those that have been taken back."""
    entries = services.store.find_records(Change, LogFilter(project=location.project.id, limit=CHANGES_READ))
    return entries, {entry.undone for entry in entries if entry.verb == "undo"}


def _take_back(services: Services, location: Location, change: Change, author: str) -> Change:
    at = services.clock.now()
    pairs = [(now, _before(services, now, change, at)) for now in _current(services, change)]
    after = {now: then for now, then in pairs if then is not None}
    expected = {now.id: now.recorded_at for now in after}
    return write_change(
        services, location, "undo", list(after.values()), expected, actor=author, undone=change.id
    ).change


def _current(services: Services, change: Change) -> list[Lesson]:
    """Return the change's present lessons, without those purged since, or forgotten by a later change."""
    lessons = (_known(services, lesson, None) for lesson in change.lessons)
    living = [lesson for lesson in lessons if lesson is not None]
    return [lesson for lesson in living if lesson.state != "forgotten" or change.verb == "forget"]


def _before(services: Services, now: Lesson, change: Change, at: datetime) -> Lesson | None:
    """Return the next version of a lesson that undoes the change; None when there is nothing to do."""
    made = _known(services, now.id, change.at)
    # an instant earlier, the version before it was the current one
    then = _known(services, now.id, made.recorded_at - INSTANT) if made is not None else None
    if then is not None:
        return replace(then, recorded_at=at, retracted_at=None)
    return in_state(now, "retired", at=at) if "retired" in TRANSITIONS[now.state] else None


def _known(services: Services, lesson: LessonId, as_of: datetime | None) -> Lesson | None:
    try:
        return services.store.get([lesson], as_of)[0]
    except LessonNotFoundError:
        return None
