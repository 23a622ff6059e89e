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
    from holdfast.domain.project import Location
    from holdfast.ports.services import Services


def end_probation(services: Services, location: Location) -> int:
    """Retire the project's lessons whose probation is over; return how many."""
    before = services.clock.now() - timedelta(days=PROBATION_DAYS)
    where = LessonFilter(project=location.project.id, states=("probation",))
    over = [lesson for lesson in services.store.find(where) if lesson.recorded_at < before]
    retired = [in_state(lesson, "retired", at=services.clock.now()) for lesson in over]
    if retired:
        expected = {lesson.id: lesson.recorded_at for lesson in over}
        write_change(services, location, "expire", retired, expected)
    return len(retired)


def drop_old_texts(services: Services) -> int:
    """Drop the texts of events older than the retention window, once a day; return how many events had one.

    An event's kind, file, command and exit status stay. A window of 0 days keeps every text. Expired states are
    dropped as well.
    """
    now = services.clock.now()
    today = now.date().isoformat()
    if services.store.get_state(TIDIED) == today:
        return 0
    dropped = 0
    if services.retention_days > 0:
        dropped = services.store.erase_event_texts(now - timedelta(days=services.retention_days))
    services.store.expire_states(now)
    services.store.set_state(TIDIED, "", today)
    return dropped
