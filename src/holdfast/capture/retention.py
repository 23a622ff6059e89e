"""Retention: old raw text is dropped; lessons are not, but probation ends."""

from __future__ import annotations

from datetime import timedelta

from holdfast.capture.tuning import PROBATION_DAYS
from holdfast.domain.lesson import in_state
from holdfast.lessons.ledger import write_change
from holdfast.ports.store import LessonFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.project import Place
    from holdfast.ports.parts import Parts

TIDIED = "tidied"
"""Mark: the day on which old texts were last looked for."""


def end_probation(parts: Parts, place: Place) -> int:
    """Retire the project's lessons whose probation is over; returns how many."""
    before = parts.clock.now() - timedelta(days=PROBATION_DAYS)
    where = LessonFilter(project=place.project.id, states=("probation",))
    over = [lesson for lesson in parts.store.find(where) if lesson.recorded_at < before]
    retired = [in_state(lesson, "retired", at=parts.clock.now()) for lesson in over]
    if retired:
        expected = {lesson.id: lesson.recorded_at for lesson in over}
        write_change(parts, place, "expire", retired, expected)
    return len(retired)


def drop_old_texts(parts: Parts) -> int:
    """Drop the texts of events older than the retention window, once a day; returns how many events had one.

    What an event was, of which file or command and how it ended stays. A window of 0 days keeps everything.
    """
    today = parts.clock.now().date().isoformat()
    if parts.retention_days <= 0 or parts.store.mark(TIDIED) == today:
        return 0
    before = parts.clock.now() - timedelta(days=parts.retention_days)
    dropped = parts.store.purge([], before).get("event_texts", 0)
    parts.store.mark(TIDIED, today)
    return dropped
