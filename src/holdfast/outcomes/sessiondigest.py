"""What was done in a session, in numbers: a row that the learner writes each time it has read the session.

A list of sessions reads these rows and no events. They hold no words, so that erasing texts leaves them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from holdfast.capture.sessionevents import session_events
from holdfast.domain.event import Event
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import SESSION_DIGESTS
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads
from holdfast.outcomes.threads import Thread, note_runs
from holdfast.outcomes.tuning import BRANCHES_NOTED, COUNTED_AT_ONCE, LOOKED_AT, PAUSE_S
from holdfast.ports.services import Services
from holdfast.ports.store import SessionFilter
from holdfast.text.commits import commits_in


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionDigest:
    """A session in numbers."""

    events: int = 0
    """How many events were read; a session that has more by now goes on."""
    active_s: int = 0
    """Seconds between its events, pauses left out."""
    edits: int = 0
    files: int = 0
    """Different files edited."""
    commands: int = 0
    failures: int = 0
    """Failures that it saw, or that it mended: failing tests, checks and commands, each once (`outcomes.threads`)."""
    mended: int = 0
    """Those of them that a run of this session showed as mended."""
    commits: int = 0
    person: str = ""
    """The id of whoever worked there; empty where git does not know."""
    person_name: str = ""
    branches: tuple[str, ...] = ()


def note_session_digest(
    services: Services,
    location: Location,
    session: SessionId,
    events: Sequence[Event],
    other_forms: Mapping[EventId, EventId],
) -> None:
    """Store what was done in a session, and fold its runs into the project's threads. Does nothing without events.

    A transcript that a repository contains is somebody's claim, so it gives no thread and nobody's name.
    """
    if not events:
        return
    is_claim = any(event.trust == "repository" for event in events)
    threads = [] if is_claim else note_runs(services, location, session, events, other_forms)
    person = None if is_claim else services.workspace.person(location)
    digest = digest_of(session, events, threads)
    if person is not None:
        digest = replace(digest, person=person.id, person_name=person.name)
    services.store.set_rows(SESSION_DIGESTS, location.project.id, {session: dumps(to_plain(digest))})


def note_earlier(services: Services, location: Location, most: int = COUNTED_AT_ONCE) -> int:
    """Note the newest sessions that have no digest, as those of an earlier version have not; return how many."""
    project = location.project.id
    rows = services.store.list_sessions(SessionFilter(project=project, limit=LOOKED_AT))
    known = services.store.get_rows(SESSION_DIGESTS, project, [row.session for row in rows])
    missing = [row.session for row in rows if row.session not in known][:most]
    for session in reversed(missing):  # in order of time, as threads are
        note_session_digest(services, location, session, session_events(services, project, session), {})
    return len(missing)


def digest_of(session: SessionId, events: Sequence[Event], threads: Sequence[Thread]) -> SessionDigest:
    """Return a session in numbers, without the person; its events are in order of time."""
    edited = [event.files[0] for event in events if event.kind == "file_edit" and event.files]
    mended = {thread.key for thread in threads if any(cure.session == session for cure in thread.cures)}
    seen = {thread.key for thread in threads if any(tries.session == session for tries in thread.tries)}
    return SessionDigest(
        events=len(events),
        active_s=active_seconds(events),
        edits=len(edited),
        files=len(set(edited)),
        commands=sum(bool(event.command) and event.kind in ("tool_result", "tool_failure") for event in events),
        failures=len(seen | mended),
        mended=len(mended),
        commits=sum(1 for _ in commits_in(events)),
        branches=tuple(dict.fromkeys(event.branch for event in events if event.branch))[-BRANCHES_NOTED:],
    )


def active_seconds(events: Sequence[Event]) -> int:
    """Return the seconds between the events, without pauses longer than PAUSE_S."""
    gaps = ((after.at - before.at).total_seconds() for before, after in pairwise(events))
    return round(sum(gap for gap in gaps if 0 < gap <= PAUSE_S))


def load_digests(
    services: Services, location: Location, sessions: Sequence[SessionId] | None = None
) -> dict[SessionId, SessionDigest]:
    """Return the digests of these sessions, or of all; a session that nobody has learnt from has none."""
    rows = services.store.get_rows(SESSION_DIGESTS, location.project.id, sessions)
    digests = ((SessionId(session), parse_digest(value)) for session, value in rows.items())
    return {session: digest for session, digest in digests if digest is not None}


def parse_digest(value: str) -> SessionDigest | None:
    """Return the digest of a stored row; None for one that this version cannot read."""
    try:
        return from_plain(SessionDigest, loads(value))
    except (InvalidValueError, TypeError, AttributeError):
        return None
