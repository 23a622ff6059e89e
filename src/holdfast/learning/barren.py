"""Counts the sessions with real work that taught nothing: after many in a row a person should know.

A state holds those since the last session that taught a lesson. A session that is learnt from again changes nothing.
"""

from __future__ import annotations

from holdfast.domain.statefamilies import BARREN_SESSIONS
from holdfast.domain.vocabulary import STATES
from holdfast.learning.tuning import BARREN_KEPT, CALLS_OF_WORK
from holdfast.ports.store import LessonFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.domain.event import Event
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import SessionId
    from holdfast.ports.services import Services

COMMANDS = "commands/"
"""Topics of the command card, which counts every session."""
CALLS = ("tool_result", "tool_failure", "file_edit")


def note_session(
    services: Services, location: Location, session: SessionId, events: Iterable[Event], *, taught: bool
) -> None:
    """Note a session that taught nothing although work was done in it; one that taught something ends the row."""
    known = services.store.get_state(BARREN_SESSIONS, location.project.id).split()
    if taught:
        after: list[str] = []
    elif session in known or sum(event.kind in CALLS for event in events) < CALLS_OF_WORK:
        return
    else:
        after = [*known, session][-BARREN_KEPT:]
    if after != known:
        services.store.set_state(BARREN_SESSIONS, location.project.id, " ".join(after))


def count_barren(services: Services, location: Location) -> int:
    """Return how many sessions in a row taught nothing, by themselves or later (a model, an agent's own words)."""
    sessions = services.store.get_state(BARREN_SESSIONS, location.project.id).split()
    if not sessions:
        return 0
    taught: set[str] = set()
    for lesson in services.store.find(LessonFilter(project=location.project.id, states=STATES)):
        if not lesson.topic_key.startswith(COMMANDS):
            taught.update((lesson.provenance.session, *lesson.sessions_seen))
    last = max((number for number, session in enumerate(sessions, 1) if session in taught), default=0)
    return len(sessions) - last
