"""Feedback: what became of a lesson that was shown."""

from __future__ import annotations

from holdfast.domain.lesson import next_instant
from holdfast.domain.records import Delivery, Outcome
from holdfast.errors import InvalidValueError
from holdfast.lessons.lookup import resolve
from holdfast.lessons.statement import clean
from holdfast.ports.filters import LogFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.project import Place
    from holdfast.domain.vocabulary import LessonId, SessionId, Verdict
    from holdfast.ports.parts import Parts

VERDICTS: tuple[Verdict, ...] = ("heeded", "helped", "hurt")


def feedback(
    parts: Parts, place: Place, ref: str, verdict: Verdict, note: str, session: SessionId, judge: str = ""
) -> Outcome:
    """Keep the outcome; it counts at once, and for more than what is judged without being stated.

    Without a session it goes to the one in which the lesson was shown last. `judge` is `agent` where an agent says it.
    Raises InvalidValueError for an unknown verdict.
    """
    if verdict not in VERDICTS:
        raise InvalidValueError(f"unknown verdict {verdict!r}", hint=f"one of {', '.join(VERDICTS)}")
    lesson = resolve(parts, place, ref)
    outcome = Outcome(
        id=parts.clock.new_id(),
        at=next_instant(lesson.recorded_at, parts.clock.now()),
        project=place.project.id,
        session=session or _last_shown(parts, lesson.id),
        lesson=lesson.id,
        verdict=verdict,
        note=clean(note),
        judge=judge,
    )
    parts.store.record([outcome])
    from holdfast.outcomes.settle import refresh  # not for a hook, which loads this module's neighbours

    refresh(parts, place, lesson.id)
    return outcome


def _last_shown(parts: Parts, lesson: LessonId) -> SessionId:
    shown = parts.store.find_records(Delivery, LogFilter(lesson=lesson, limit=1))
    return shown[0].session if shown else ""  # type: ignore[return-value]
