"""Reads the events of one session from the store, page by page.

A host may not report how a command ended; its transcript does, later. That outcome is stored as an event of its own,
with the key of the command's event and `:outcome` (ADR 23). Only this module merges the two.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from holdfast.domain.event import Event
from holdfast.domain.vocabulary import ProjectId, SessionId
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter

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
