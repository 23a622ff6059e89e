"""Forget leaves a tombstone; purge erases."""

from __future__ import annotations

from dataclasses import replace

from holdfast.domain.lesson import INSTANT, Lesson, Provenance, in_state
from holdfast.domain.project import Location
from holdfast.errors import LessonNotFoundError
from holdfast.lessons.ledger import purge_with_change, with_retries, write_change
from holdfast.lessons.lookup import resolve
from holdfast.ports.services import Services

TITLE = "forgotten"
INSIGHT = "This lesson was forgotten."


def forget(services: Services, location: Location, ref: str, *, author: str = "") -> Lesson:
    """Return the tombstone: id, kind, scope and links stay, all words are removed.

    Earlier versions stay in the history until `purge`. A lesson forgotten before is returned as it is.
    """

    def step() -> Lesson:
        lesson = resolve(services, location, ref)
        if lesson.state == "forgotten":
            return lesson
        tombstone = blanked(in_state(lesson, "forgotten", at=services.clock.now()))
        expected = {lesson.id: lesson.recorded_at}
        return write_change(services, location, "forget", [tombstone], expected, actor=author).lessons[0]

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
