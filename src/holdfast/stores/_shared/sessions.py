"""What events add to the rows of their sessions. A session with events of two projects has a row in each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from holdfast.domain.event import Event
from holdfast.stores._shared.rows import DAMAGED, micros, record_of


@dataclass(slots=True, kw_only=True)
class SessionPart:
    """What some events of a session add up to; instants in microseconds since 1970."""

    project: str
    session: str
    host: str
    first: int
    last: int
    branch: str = ""
    events: int = 0
    prompts: int = 0
    opening: int | None = None
    """The position of the first prompt."""
    branches: set[str] = field(default_factory=set)


def sum_up(events: Iterable[tuple[int, Event]]) -> list[SessionPart]:
    """Return a part for each session and project of the events, which are (position, event) in order."""
    parts: dict[tuple[str, str], SessionPart] = {}
    for position, event in events:
        at = micros(event.at)
        part = parts.setdefault(
            (event.project, event.session),
            SessionPart(project=event.project, session=event.session, host=event.host, first=at, last=at),
        )
        part.first, part.last = min(part.first, at), max(part.last, at)
        part.events += 1
        if event.branch:
            part.branch = event.branch
            part.branches.add(event.branch)
        if event.kind == "prompt":
            part.prompts += 1
            part.opening = position if part.opening is None else part.opening
    return list(parts.values())


def opening_of(doc: str | None) -> str:
    """Return the text of the event of that document; empty if there is none or it cannot be read."""
    try:
        return record_of(Event, doc).text if doc else ""
    except DAMAGED:
        return ""
