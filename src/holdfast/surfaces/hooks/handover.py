"""Handing the learning over to a process of its own, so that the host never waits for it.

Only a session's end, and a start that finds an unlearnt session, do this; every other hook starts nothing.
"""

from __future__ import annotations

import os
import sys

from holdfast.ports.store import EventFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.ports.store import Store

LEARNT = "hooks:learnt"
"""Mark that holds the position up to which a learner has seen all events."""


def has_leftovers(store: Store, session: str) -> bool:
    """Whether events of another session came after all that a learner has seen."""
    found = store.find_events(EventFilter(after=learnt_up_to(store), limit=1))
    return bool(found) and found[0][1].session != session


def learnt_up_to(store: Store) -> int:
    """The position a learner has come to; 0 before the first."""
    kept = store.mark(LEARNT)
    return int(kept) if kept.isdigit() else 0


def start_learner(folder: str) -> None:
    """Start a learner that outlives us and ends by itself: own session, no standard streams, nothing inherited."""
    entry = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entry.py")
    command = [os.path.abspath(sys.executable), "-I", entry, "--learn", folder]
    if not hasattr(os, "posix_spawn"):
        _start_elsewhere(command)
        return
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    closed = [(os.POSIX_SPAWN_CLOSE, fd) for fd in _inherited()]
    try:
        os.posix_spawn(command[0], command, os.environ, file_actions=[*quiet, *closed], setsid=True)
    except NotImplementedError:  # the learner leaves the host's session by itself then
        os.posix_spawn(command[0], command, os.environ, file_actions=[*quiet, *closed])


def _inherited() -> list[int]:
    """Descriptors the host leaked to us: held open, they could keep it waiting for the end of a pipe."""
    try:
        return [fd for fd in map(int, os.listdir("/dev/fd")) if fd > 2 and _passes_on(fd)]
    except (OSError, ValueError):
        return []


def _passes_on(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:
        return False


def _start_elsewhere(command: list[str]) -> None:
    import subprocess  # Windows

    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    subprocess.Popen(command, stdin=-3, stdout=-3, stderr=-3, close_fds=True, creationflags=flags)
