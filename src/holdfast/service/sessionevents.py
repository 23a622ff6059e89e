"""What was kept of one session, read from the store page by page."""

from __future__ import annotations

from holdfast.ports.store import EventFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.event import Event
    from holdfast.domain.vocabulary import ProjectId, SessionId
    from holdfast.service.parts import Parts

PAGE = 10_000


def session_events(parts: Parts, project: ProjectId, session: SessionId) -> list[Event]:
    """The session's events in the order they happened: a transcript tells of replies after the hooks told of tools."""
    events: list[Event] = []
    after = 0
    while page := parts.store.find_events(EventFilter(project=project, session=session, after=after, limit=PAGE)):
        after = page[-1][0]
        events += [event for _, event in page]
    return sorted(events, key=lambda event: event.at)
