"""Reads the events of one session from the store, page by page.

A host may not report how a command ended; its transcript does, later. That outcome is stored as an event of its own,
with the key of the command's event and `:outcome` (ADR 23). Only this module merges the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from holdfast.capture.observe import LIVE_MINUTES
from holdfast.capture.tuning import DELIVERIES_READ, LOOK_BACK
from holdfast.domain.event import Event
from holdfast.domain.records import Delivery
from holdfast.domain.vocabulary import ProjectId, SessionId
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter, LogFilter, Store

EVENTS_A_READ = 10_000
"""Events that are read at a time."""

OUTCOME = ":outcome"
"""Suffix of the key of an event that reports how the command of another event ended."""


def session_events(services: Services, project: ProjectId, session: SessionId) -> list[Event]:
    """Return the session's events in order of time; a transcript adds replies after the hooks reported tools."""
    events: list[Event] = []
    after = 0
    while page := services.store.find_events(
        EventFilter(project=project, session=session, after=after, limit=EVENTS_A_READ)
    ):
        after = page[-1][0]
        events += [event for _, event in page]
    return sorted(with_outcomes(events), key=lambda event: event.at)


def is_open(event: Event) -> bool:
    """Return whether it is unknown how the event's command ended."""
    return event.kind == "tool_result" and bool(event.command) and event.exit_code is None


def outcome_of(known: Event, retold: Event) -> Event | None:
    """Return the event that completes a known one from a transcript's version of it; None if that adds nothing."""
    tells = retold.kind == "tool_failure" or (retold.kind == "tool_result" and retold.exit_code is not None)
    if not tells or not is_open(known):
        return None
    return replace(retold, key=known.key + OUTCOME)


def with_outcomes(events: Iterable[Event]) -> list[Event]:
    """Return the events of one session with each outcome merged into the event it completes.

    The completed event keeps its id and, if it has one, its text, so that quotes from it stay valid.
    """
    listed = list(events)
    outcomes = {event.key.removesuffix(OUTCOME): event for event in listed if event.key.endswith(OUTCOME)}
    if not outcomes:
        return listed
    return [
        _completed(event, outcomes[event.key]) if event.key in outcomes and is_open(event) else event
        for event in listed
        if not event.key.endswith(OUTCOME)
    ]


def _completed(event: Event, outcome: Event) -> Event:
    words = event if event.text else outcome
    return replace(
        event, kind=outcome.kind, exit_code=outcome.exit_code, text=words.text, text_length=words.text_length
    )


# Heartbeat: the latest events of each kind from every host, which show that hooks reach us


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
