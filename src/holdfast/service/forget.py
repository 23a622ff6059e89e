"""Forget: leave a tombstone. Purge: erase."""

from __future__ import annotations

from holdfast.domain.frozen import replace
from holdfast.domain.lesson import Lesson, Provenance, in_state
from holdfast.service.ledger import note_change, with_retries, write_change
from holdfast.service.lookup import resolve

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.project import Place
    from holdfast.service.parts import Parts

TITLE = "forgotten"
INSIGHT = "This lesson was forgotten."


def forget(parts: Parts, place: Place, ref: str, *, author: str) -> Lesson:
    """The tombstone: id, kind, scope and links stay, every word is gone from it.

    Earlier versions stay in the history until `purge`. A lesson forgotten before is returned as it is.
    """

    def step() -> Lesson:
        lesson = resolve(parts, place, ref)
        if lesson.state == "forgotten":
            return lesson
        tombstone = blanked(in_state(lesson, "forgotten", at=parts.clock.now()))
        expected = {lesson.id: lesson.recorded_at}
        return write_change(parts, place, "forget", [tombstone], expected, actor=author).lessons[0]

    return with_retries(step)


def purge(parts: Parts, place: Place, ref: str) -> dict[str, int]:
    """Rows erased, by table: every version of the lesson, its text, vectors and log records."""
    lesson = resolve(parts, place, ref)
    erased = parts.store.purge([lesson.id])
    note_change(parts, place, "purge", [lesson.id])
    return erased


def blanked(lesson: Lesson) -> Lesson:
    """The lesson without any text of it, its anchors or its evidence."""
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
