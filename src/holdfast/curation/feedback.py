"""Feedback: records what somebody says about a lesson that was shown."""

from __future__ import annotations

from holdfast.domain.lesson import next_instant
from holdfast.domain.records import Delivery, Outcome
from holdfast.errors import InvalidValueError
from holdfast.lessons.lookup import resolve
from holdfast.lessons.statement import clean
from holdfast.outcomes.standing import store_evidence
from holdfast.ports.filters import LogFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import LessonId, SessionId, Verdict
    from holdfast.ports.services import Services

VERDICTS: tuple[Verdict, ...] = ("heeded", "helped", "hurt")


def feedback(
    services: Services, location: Location, ref: str, verdict: Verdict, note: str, session: SessionId, judge: str = ""
) -> Outcome:
    """Store the outcome. It moves the lesson in the order at once, and counts for more than an inferred outcome.

    Without a session it belongs to the one in which the lesson was last shown. `judge` is `agent` if an agent says it.
    Raises InvalidValueError for an unknown verdict.
    """
    if verdict not in VERDICTS:
        raise InvalidValueError(f"unknown verdict {verdict!r}", hint=f"one of {', '.join(VERDICTS)}")
    lesson = resolve(services, location, ref)
    outcome = Outcome(
        id=services.clock.new_id(),
        at=next_instant(lesson.recorded_at, services.clock.now()),
        project=location.project.id,
        session=session or _last_shown(services, lesson.id),
        lesson=lesson.id,
        verdict=verdict,
        note=clean(note),
        judge=judge,
    )
    services.store.record([outcome])
    store_evidence(services.store, location.project.id)
    return outcome


def _last_shown(services: Services, lesson: LessonId) -> SessionId:
    shown = services.store.find_records(Delivery, LogFilter(lesson=lesson, limit=1))
    return shown[0].session if shown else ""  # type: ignore[return-value]
