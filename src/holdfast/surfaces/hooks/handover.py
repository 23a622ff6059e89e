"""Handing the learning over to a process of its own, so that the host never waits for it.

Only a session's end, and a start that finds an unlearnt session, do this; every other hook starts nothing.
"""

from __future__ import annotations

import os
import sys

from holdfast.ports.store import EventFilter
from holdfast.service.parts import LEARNED_POSITION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.ports.store import Store


def has_leftovers(store: Store, session: str = "") -> bool:
    """Whether there are events nobody has learnt from, the first of them of another session."""
    kept = store.mark(LEARNED_POSITION)
    found = store.find_events(EventFilter(after=int(kept or 0), limit=1))
    return bool(found) and found[0][1].session != session


def start_learner(errand: str) -> None:
    """Start a learner that outlives us and ends by itself: own session, no standard streams, nothing inherited.

    `errand` is what `domain.hookcall.render_errand` tells it.
    """
    entry = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entry.py")
    command = [os.path.abspath(sys.executable), "-I", entry, "--learn", errand]
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

    # A console that is not shown, for what it starts in its turn: git would open a window of its own without any.
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    subprocess.Popen(command, stdin=-3, stdout=-3, stderr=-3, close_fds=True, creationflags=flags)
