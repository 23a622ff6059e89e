"""Retention: drops old raw texts and ends probation; other lessons stay."""

from __future__ import annotations

from datetime import timedelta

from holdfast.capture.tuning import PROBATION_DAYS
from holdfast.domain.lesson import in_state
from holdfast.domain.statefamilies import TIDIED
from holdfast.lessons.ledger import write_change
from holdfast.ports.filters import LessonFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.project import Place
    from holdfast.ports.parts import Parts


def end_probation(parts: Parts, place: Place) -> int:
    """Retire the project's lessons whose probation is over; return how many."""
    before = parts.clock.now() - timedelta(days=PROBATION_DAYS)
    where = LessonFilter(project=place.project.id, states=("probation",))
    over = [lesson for lesson in parts.store.find(where) if lesson.recorded_at < before]
    retired = [in_state(lesson, "retired", at=parts.clock.now()) for lesson in over]
    if retired:
        expected = {lesson.id: lesson.recorded_at for lesson in over}
        write_change(parts, place, "expire", retired, expected)
    return len(retired)


def drop_old_texts(parts: Parts) -> int:
    """Drop the texts of events older than the retention window, once a day; return how many events had one.

    An event's kind, file, command and exit status stay. A window of 0 days keeps every text. Expired states are
    dropped as well.
    """
    now = parts.clock.now()
    today = now.date().isoformat()
    if parts.store.get_state(TIDIED) == today:
        return 0
    dropped = 0
    if parts.retention_days > 0:
        dropped = parts.store.erase_event_texts(now - timedelta(days=parts.retention_days))
    parts.store.expire_states(now)
    parts.store.set_state(TIDIED, "", today)
    return dropped
