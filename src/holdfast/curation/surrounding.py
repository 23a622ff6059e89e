"""Surrounding: the conversation around the words that a lesson rests on, for the person who decides about it."""

from __future__ import annotations

from holdfast.capture.sessionevents import session_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.event import Event
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.ports.services import Services

SPOKEN = ("prompt", "reply")


def find_surrounding(services: Services, location: Location, lesson: Lesson) -> list[Event]:
    """Return prompt and reply before the lesson's first evidence, and those after it, in order; at most four.

    The answer is empty where the session is unknown or its texts were erased. Evidence itself counts as before.
    """
    source = lesson.provenance
    if not source.session or not source.evidence:
        return []
    events = session_events(services, location.project.id, source.session)
    evidence = {span.event for span in source.evidence}
    at = next((index for index, event in enumerate(events) if event.id in evidence), -1)
    if at < 0:
        return []
    before = [_nearest(events[at::-1], kind) for kind in SPOKEN]
    after = [_nearest(events[at + 1 :], kind) for kind in SPOKEN]
    chosen = {event.id: event for event in (*before, *after) if event is not None}
    return sorted(chosen.values(), key=lambda event: event.at)


def _nearest(events: list[Event], kind: str) -> Event | None:
    return next((event for event in events if event.kind == kind and event.text.strip()), None)
