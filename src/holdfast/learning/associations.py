"""Counts which files sessions read before they edited which, and stores the pairs in the code index.

These pairs are no lessons and are never delivered. They lead from a file in use to lessons about files that it was used
with. Each session counts once for a pair, so a long session weighs no more than a short one. Pairs are derived from
events: if the index is lost, they are counted again from the stored events.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.domain.event import Event
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import SessionId
from holdfast.learning.tuning import EVENTS_A_READ, LOOKED_BACK
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter
from holdfast.text.window import spoken

Pairs = dict[tuple[str, str], float]

RELATION = "read_before"


def associate(services: Services, location: Location) -> int:
    """Count the pairs in events since the last call; return how many pairs were changed. Idempotent.

    Returns 0 without a code index. Raises StoreError if the index cannot be written.
    """
    index = services.codeindex()
    if index is None:
        return 0
    upto = index.pairs_upto(location, RELATION)
    since = int(upto) if upto.isdecimal() else 0
    newest, sessions = _news(services, location, since)
    if newest == since:
        return 0
    added: Pairs = {}
    for session in sessions:
        numbered = _events(services, location, session, newest)
        before = weigh_pairs([event for position, event in numbered if position <= since])
        for pair, weight in weigh_pairs([event for _, event in numbered]).items():
            if weight > before.get(pair, 0.0):
                added[pair] = added.get(pair, 0.0) + weight - before.get(pair, 0.0)
    if since:
        is_kept = index.add_pairs(location, RELATION, added, upto, str(newest))
    else:
        is_kept = index.put_pairs(location, RELATION, added, str(newest))
    return len(added) if is_kept else 0


def weigh_pairs(window: Iterable[Event]) -> Pairs:
    """Return (read, edited) pairs of one session's events, each with a weight in (0, 1].

    The last file before an edit weighs 1, the k-th 1 over the root of k; an edited file counts as read. Files that were
    read for an earlier prompt do not count.
    """
    weights: Pairs = {}
    looked: dict[str, None] = {}
    for event in sorted(window, key=lambda event: event.at):
        if spoken(event):
            looked.clear()
        elif event.kind == "file_edit" and event.files:
            edited = event.files[0]
            _tie(weights, [path for path in reversed(looked) if path != edited][:LOOKED_BACK], edited)
            _look(looked, (edited,))
        elif event.tool == "Read" and event.kind == "tool_result":
            _look(looked, event.files)
    return weights


def _tie(weights: Pairs, looked: Sequence[str], edited: str) -> None:
    for place, path in enumerate(looked, start=1):
        weights[path, edited] = max(place**-0.5, weights.get((path, edited), 0.0))


def _look(looked: dict[str, None], paths: Sequence[str]) -> None:
    for path in paths:
        looked.pop(path, None)
        looked[path] = None


def _news(services: Services, location: Location, since: int) -> tuple[int, list[SessionId]]:
    """Return the newest position, and the sessions with events after `since`, in order."""
    sessions: dict[SessionId, None] = {}
    newest = since
    while page := services.store.find_events(
        EventFilter(project=location.project.id, after=newest, limit=EVENTS_A_READ)
    ):
        newest = page[-1][0]
        sessions.update((event.session, None) for _, event in page)
    return newest, list(sessions)


def _events(services: Services, location: Location, session: SessionId, upto: int) -> list[tuple[int, Event]]:
    numbered: list[tuple[int, Event]] = []
    where = EventFilter(project=location.project.id, session=session, limit=EVENTS_A_READ)
    while page := services.store.find_events(where):
        numbered += [pair for pair in page if pair[0] <= upto]
        where = EventFilter(project=location.project.id, session=session, after=page[-1][0], limit=EVENTS_A_READ)
    return numbered
