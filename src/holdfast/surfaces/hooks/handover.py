"""Handing work over to a process of its own, so that the host never waits for it.

A session's end, a turn's end in a host that never tells a session's end, a start that finds an unlearnt session, and a
store of an older schema do this; every other hook starts nothing.
"""

from __future__ import annotations

import os
import sys
import time

from holdfast.errors import SchemaTooOldError, StoreError
from holdfast.ports.filters import EventFilter
from holdfast.ports.parts import learned_position

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.ports.store import Store

UPGRADE = "upgrade.started"
UPGRADE_EVERY_S = 60.0
"""Seconds before a hook starts another upgrade, should the one before have failed."""


def has_leftovers(store: Store, session: str = "") -> bool:
    """Whether there are events that no learner has read yet, the first of them of another session."""
    events = store.find_events(EventFilter(after=learned_position(store), limit=1))
    return bool(events) and events[0][1].session != session


def is_left_waiting(run_path: str) -> bool:
    """Whether a transcript waits to be read, or events in the spool."""
    return waits(run_path, "errands") or waits(run_path, "spool")


def waits(run_path: str, folder: str) -> bool:
    """Whether there is a file in that folder of the run folder."""
    try:
        return any(not name.startswith(".") for name in os.listdir(f"{run_path}/{folder}"))
    except OSError:
        return False


def start_learner(errand: str = "") -> None:
    """Start a learner that outlives us and ends by itself; `errand`: what `domain.hookcall.render_errand` tells it."""
    from holdfast.home.runfiles import start_detached

    entry = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entry.py")
    start_detached([os.path.abspath(sys.executable), "-I", entry, "--learn", errand])


def start_upgrader(trouble: StoreError | None, run_path: str) -> None:
    """Start a learner that upgrades the store, where its schema is older than ours and nobody has just done so.

    Opening the store upgrades it; then the spool is emptied. Two that start at once take turns, as learners do.
    """
    if not isinstance(trouble, SchemaTooOldError):
        return
    stamp = os.path.join(run_path, UPGRADE)
    try:
        if time.time() - os.stat(stamp).st_mtime < UPGRADE_EVERY_S:
            return
    except OSError:
        os.makedirs(run_path, mode=0o700, exist_ok=True)
    with open(os.open(stamp, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb"):
        os.utime(stamp)
    start_learner()
