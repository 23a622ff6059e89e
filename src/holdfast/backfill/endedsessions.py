"""Finds the sessions that have ended since the user agreed to learn with a model, and queues them.

A session has ended when its host said so, or when nothing was heard of it for IDLE: some hosts never report an end,
and a process that is killed cannot. Sessions that were over before the user agreed are not queued; `holdfast backfill
--distil` is for those. The sessions that may go on are kept in the store, beside the position up to which its events
were read.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from holdfast.backfill.distilrecord import LOCK_S, enqueue
from holdfast.bootstrap import Memory
from holdfast.capture.sessionevents import newest_position
from holdfast.capture.tuning import LOOK_BACK
from holdfast.domain.event import Event
from holdfast.domain.statefamilies import SESSIONS_OPEN
from holdfast.domain.vocabulary import ProjectId
from holdfast.home.runfiles import RunLock, has_errand
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.lean.texts import dumps, loads
from holdfast.ports.store import EventFilter

IDLE = timedelta(minutes=30)
"""A session nothing was heard of for so long has ended."""
OPEN_MOST = 500
"""Most sessions that are kept as open; those heard of last stay."""


class _Session:
    """A session that may go on."""

    def __init__(self, plain: dict[str, Any] | None = None) -> None:
        fields = plain or {}
        self.at = parse_instant(fields["at"]) if fields else None
        self.has_ended = bool(fields.get("ended"))
        self.host = str(fields.get("host", ""))
        self.events: Counter[ProjectId] = Counter(fields.get("events", {}))
        self.folders: dict[ProjectId, str] = dict(fields.get("folders", {}))

    def add(self, event: Event) -> None:
        self.at = max(self.at or event.at, event.at)
        self.has_ended = event.kind == "session_end"
        self.host = event.host
        self.events[event.project] += 1
        self.folders[event.project] = event.cwd

    @property
    def folder(self) -> str:
        """The last folder in the project that most of its events belong to."""
        return self.folders[self.events.most_common(1)[0][0]]

    def plain(self) -> dict[str, Any]:
        at = render_instant(self.at) if self.at else ""
        return {
            "at": at, "ended": self.has_ended, "host": self.host, "events": dict(self.events), "folders": self.folders,
        }  # fmt: skip


def begin(memory: Memory) -> None:
    """Let sessions count from now on: called when the user agrees to learn with a model."""
    _keep(memory, newest_position(memory.services.store), memory.services.clock.now(), {})


def queue_ended(memory: Memory) -> None:
    """Queue every session that has ended since the last call. Idempotent: a session is queued once at most.

    A session whose transcript is still to be read waits for the next call, because its replies would be missing.
    """
    with RunLock(memory.settings.run_path, "sessions", LOCK_S) as ours:
        if not ours:
            return  # another learner is reading the same events
        now = memory.services.clock.now()
        position, since, sessions = _load(memory, now)
        position = _read_on(memory, position, sessions)
        over = [
            session for session, state in sessions.items() if state.at and (state.has_ended or now - state.at >= IDLE)
        ]
        run_path = memory.settings.run_path
        for session in (each for each in over if not has_errand(run_path, sessions[each].host, each)):
            state = sessions.pop(session)
            if state.at and state.at > since:
                enqueue(memory.settings, session, state.folder, now)  # type: ignore[arg-type]
        _keep(memory, position, since, sessions)


def _read_on(memory: Memory, position: int, sessions: dict[str, _Session]) -> int:
    """Add the events after the position to their sessions; return the last position."""
    while page := memory.services.store.find_events(EventFilter(after=position)):
        position = page[-1][0]
        for _, event in page:
            if event.trust != "repository":  # a transcript that came with a clone is somebody else's
                sessions.setdefault(event.session, _Session()).add(event)
    return position


def _load(memory: Memory, now: datetime) -> tuple[int, datetime, dict[str, _Session]]:
    """Return the position, since when sessions count, and the open sessions.

    Without a stored state, as after the configuration was edited by hand, sessions count that were heard of within
    the last IDLE, and the latest events are read.
    """
    try:
        stored = loads(memory.services.store.get_state(SESSIONS_OPEN))
        sessions = {session: _Session(plain) for session, plain in stored["open"].items()}
        return int(stored["position"]), parse_instant(stored["since"]), sessions
    except (KeyError, TypeError, ValueError):
        return max(0, newest_position(memory.services.store) - LOOK_BACK), now - IDLE, {}


def _keep(memory: Memory, position: int, since: datetime, sessions: dict[str, _Session]) -> None:
    latest = sorted(sessions, key=lambda session: sessions[session].at or since)[-OPEN_MOST:]
    stored = {
        "position": position,
        "since": render_instant(since),
        "open": {session: sessions[session].plain() for session in latest},
    }
    memory.services.store.set_state(SESSIONS_OPEN, "", dumps(stored))
