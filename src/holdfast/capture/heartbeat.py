"""Heartbeat: the latest events of each kind from every host, which show that hooks reach us.

An event that was read from a transcript shows nothing of the kind. Its id was made long after it happened.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from holdfast.capture.observe import LIVE_MINUTES
from holdfast.capture.tuning import DELIVERIES_READ, LOOK_BACK
from holdfast.domain.event import Event
from holdfast.domain.records import Delivery
from holdfast.ports.store import EventFilter, LogFilter, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class HostActivity:
    """Recent activity of one host."""

    heard_at: datetime | None = None
    kinds: tuple[str, ...] = ()
    """Kinds of its events, latest first."""
    commands: int = 0
    """Commands whose end is known."""
    failures: int = 0
    """How many of these commands failed."""
    delivered_at: datetime | None = None


def activity(store: Store) -> dict[str, HostActivity]:
    """Return the recent activity of each host, by its name, as its hooks reported it."""
    events = [event for _, event in _latest(store) if is_from_hook(event)]
    delivered: dict[str, datetime] = {}
    for delivery in store.find_records(Delivery, LogFilter(limit=DELIVERIES_READ)):
        delivered.setdefault(delivery.host, delivery.at)
    by_host = {}
    for host in {event.host for event in events} | set(delivered):
        own = [event for event in reversed(events) if event.host == host]
        ended = [event for event in own if event.command and (event.exit_code is not None or _failed(event))]
        by_host[host] = HostActivity(
            heard_at=max((event.at for event in own), default=None),
            kinds=tuple(dict.fromkeys(event.kind for event in own)),
            commands=len(ended),
            failures=sum(_failed(event) for event in ended),
            delivered_at=delivered.get(host),
        )
    return by_host


def is_from_hook(event: Event) -> bool:
    """Return whether the event was received when it happened; its id, a UUID of version 7, tells when that was."""
    digits = event.id.replace("-", "")[:12]
    if len(digits) < 12 or digits.strip("0123456789abcdef"):
        return True  # an id of another kind says nothing
    received = datetime.fromtimestamp(int(digits, 16) / 1000, UTC)
    return abs(received - event.at) < timedelta(minutes=LIVE_MINUTES)


def _failed(event: Event) -> bool:
    return event.kind == "tool_failure"


def _latest(store: Store) -> list[tuple[int, Event]]:
    return store.find_events(EventFilter(after=max(0, newest_position(store) - LOOK_BACK), limit=LOOK_BACK))


def last_events(store: Store) -> list[Event]:
    """Return the newest event of each (host, kind) among the latest events of all projects, newest first."""
    newest: dict[tuple[str, str], Event] = {}
    for _, event in _latest(store):
        newest[(event.host, event.kind)] = event
    return sorted(newest.values(), key=lambda event: event.at, reverse=True)


def newest_position(store: Store) -> int:
    """Return the position of the newest event, 0 without any, by doubling and then bisection."""
    low, high = 0, 1
    while store.find_events(EventFilter(after=high, limit=1)):
        low, high = high + 1, high * 2
    while low < high:
        middle = (low + high) // 2
        if store.find_events(EventFilter(after=middle, limit=1)):
            low = middle + 1
        else:
            high = middle
    return low
