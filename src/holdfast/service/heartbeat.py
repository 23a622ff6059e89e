"""Heartbeat: when each kind of event came last, from every host: the sign that hooks reach us."""

from __future__ import annotations

from holdfast.ports.store import EventFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.event import Event
    from holdfast.ports.store import Store

LOOK_BACK = 3_000
"""Newest positions that are looked at."""
FAR = 1 << 40
"""Further than any store will ever count."""


def last_events(store: Store) -> list[Event]:
    """The newest event of each (host, kind) among the latest ones, newest first; without their order by project."""
    found: dict[tuple[str, str], Event] = {}
    for _, event in store.find_events(EventFilter(after=max(0, newest_position(store) - LOOK_BACK), limit=LOOK_BACK)):
        found[(event.host, event.kind)] = event
    return sorted(found.values(), key=lambda event: event.at, reverse=True)


def newest_position(store: Store) -> int:
    """The position of the event received last, 0 without any: found by halving, some forty small questions."""
    low, high = 0, FAR
    while low < high:
        middle = (low + high) // 2
        if store.find_events(EventFilter(after=middle, limit=1)):
            low = middle + 1
        else:
            high = middle
    return low
