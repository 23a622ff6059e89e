"""Starts learners in processes of their own, so that the host never waits for them.

A learner starts at a session's end, at a turn's end in a host that does not report a session's end, at a start that
finds an unlearnt session or a project that was not synced with its server for a while, and for a store with an older
schema. A running server also starts one after each turn, for
that session alone. No other hook starts a process.
"""

from __future__ import annotations

import os
import time

from holdfast.errors import SchemaTooOldError, StoreError
from holdfast.home.runfiles import start_detached
from holdfast.ports.services import learned_position
from holdfast.ports.store import EventFilter, Store
from holdfast.settings import interpreter, package_folder

TURN = "turn"
SYNC = "sync"
REMOTES = "remotes.json"
"""The file of servers and linked projects, see `remotes`; without it no project is linked."""
SYNCED = "server.synced"
SYNC_EVERY_S = 300.0
"""Seconds after which the start of a session syncs with the linked server again."""
UPGRADE = "upgrade.started"
UPGRADE_EVERY_S = 60.0
"""Seconds before a hook starts another upgrade, should the one before have failed."""


def has_leftovers(store: Store, session: str = "") -> bool:
    """Return whether the oldest event that no learner has read yet belongs to another session."""
    events = store.find_events(EventFilter(after=learned_position(store), limit=1))
    return bool(events) and events[0][1].session != session


def is_left_waiting(run_path: str) -> bool:
    """Return whether transcripts or spooled events wait to be read."""
    return waits(run_path, "errands") or waits(run_path, "spool")


def waits(run_path: str, folder: str) -> bool:
    """Return whether that folder of the run folder contains a file."""
    try:
        return any(not name.startswith(".") for name in os.listdir(f"{run_path}/{folder}"))
    except OSError:
        return False


def has_links(home: str) -> bool:
    """Return whether any project may be linked to a server, without reading the file."""
    return os.path.exists(os.path.join(home, REMOTES))


def is_sync_due(home: str, run_path: str) -> bool:
    """Return whether some project is linked to a server, and none was synced for a while; the caller then syncs."""
    return has_links(home) and is_due(run_path, SYNCED, SYNC_EVERY_S)


def start_learner(errand: str = "", *options: str) -> int:
    """Start a learner that outlives this process; return its id.

    `errand` is its request from `domain.hookcall.render_errand`; the option `TURN` limits it to that session, and
    `SYNC` to syncing the session's project with its server.
    """
    entry = os.path.join(package_folder(), "surfaces", "hooks", "entry.py")
    return start_detached([interpreter(), "-I", entry, "--learn", errand, *options])


def start_upgrader(trouble: StoreError | None, run_path: str) -> None:
    """Start a learner that upgrades a store with an older schema, unless one was started a moment ago.

    The learner upgrades the store by opening it, then empties the spool. Two learners take turns.
    """
    if isinstance(trouble, SchemaTooOldError) and is_due(run_path, UPGRADE, UPGRADE_EVERY_S):
        start_learner()


def is_due(run_path: str, name: str, every_s: float) -> bool:
    """Return whether that long has passed since this last returned True for the name, in any process."""
    stamp = os.path.join(run_path, name)
    try:
        if time.time() - os.stat(stamp).st_mtime < every_s:
            return False
    except OSError:
        os.makedirs(run_path, mode=0o700, exist_ok=True)
    with open(os.open(stamp, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb"):
        os.utime(stamp)
    return True
