"""Prints a hook's one answer, at the latest at the deadline.

On a busy machine the process that the host started forks at once. The child does the work. The parent only waits for
the child's answer, prints it, and exits at the deadline with the best answer so far. So no call into C, however long,
delays the host. The child is a session of its own without the host's output streams, and goes on storing the event. It
has the payload in memory; nothing unredacted is written anywhere.

On a quiet machine a hook ends long before the deadline, and a fork would be a tenth of its cost. There, and where fork
is missing (Windows), this process does the work and a thread answers at the deadline.
"""

from __future__ import annotations

import os
import time
from _thread import allocate_lock, start_new_thread

from holdfast.lean.deadline import Deadline

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NOTHING = "{}"

TICK_S = 0.05
"""How often the clock is looked at. A waiting parent's alarm repeats so often, since one that rings just before a read
begins does not end that read."""
ATTENDED_S = 4.0
"""How long a process that did not fork may go on after the deadline: the host has its answer, but may wait for the end.
It ends as soon as it is done."""
BUSY_FILE = "/proc/loadavg"
"""Linux lists here how many processes run or want to run at this moment."""


class Responder:
    """Gives the answer in a process that did not fork. Only the first answer is printed, also of two threads."""

    def __init__(self, nothing: str = NOTHING) -> None:
        self.nothing = nothing
        self.deadline = Deadline(time.monotonic())
        self.is_late = False
        """Whether the answer came too late, so that the host got another text."""
        self.give_up: Callable[[], None] = _nothing_to_do
        """Called when the process ends before the work is done."""
        self._is_answered = False
        self._first = allocate_lock()
        self._best = ""
        self._may_be_late = False

    def limit(self, answer_s: float) -> None:
        """Set when the answer is due, in seconds from the start."""
        self.deadline = Deadline(self.deadline.began_s, answer_s)

    def allow_late(self, patient: bool) -> None:
        """Set whether an answer after the deadline is still useful."""
        self._may_be_late = patient

    def offer(self, text: str) -> None:
        """Set the best answer so far, which is given if the deadline comes before a better one."""
        self._best = text

    def write_answer(self, text: str) -> str | None:
        """Give the answer; return the text that the host got, which is another one, or None, if this is too late.

        Only the first answer is given; later calls return None.
        """
        if self._is_answered:
            return None
        self._is_answered = True
        if self._first.acquire(False):
            return text if print_answer(text) else None
        self.is_late = True
        return self._best or None

    def warn(self, text: str) -> None:
        """Write to the host's stderr."""
        write_all(2, text.encode("utf-8", "replace"))

    def release(self) -> None:
        """Let the host go on without waiting for what follows."""

    @property
    def keep_by(self) -> float:
        """The time by which deferred work must end; here it is the answer's, because the host waits for the process."""
        return self.deadline.answer_by

    def watch(self) -> None:
        """Answer at the deadline, and end the process a little later; runs in a thread."""
        while (left := self._until() - time.monotonic()) > 0:
            time.sleep(min(left, TICK_S))
        if self._first.acquire(False):
            print_answer(self._best or self.nothing)
        time.sleep(ATTENDED_S)
        self.is_late = True
        start_new_thread(_leave_soon, ())  # `give_up` imports modules and may hang on the other thread's import lock
        self.give_up()
        os._exit(0)

    def _until(self) -> float:
        return self.deadline.late_by if self._may_be_late else self.deadline.answer_by


def open_responder(nothing: str) -> Responder:
    """Return the responder for this hook, in the process that does the work; on a busy machine another one waits."""
    deadline = Deadline(time.monotonic())
    if not hasattr(os, "fork") or not is_busy():
        return _watched(nothing)
    from holdfast.surfaces.hooks.halves import split

    try:
        return split(nothing, deadline)
    except OSError:  # no more processes or descriptors for this user
        return _watched(nothing)


def is_busy() -> bool:
    """Return whether more processes want to run than there are processors, now or in the last minute."""
    processors = os.cpu_count() or 1
    try:
        if os.getloadavg()[0] >= processors:
            return True
        with open(BUSY_FILE, "rb", buffering=0) as stream:
            running = stream.read(64).split()[3].partition(b"/")[0]
        return int(running) > processors
    except (OSError, IndexError, ValueError):
        return False  # not Linux: only the last minute's load is known


def print_answer(text: str) -> bool:
    """Print the hook's output unless it is blank; return False if the host has stopped listening."""
    try:
        if not text.isspace():
            write_all(1, text.encode("utf-8", "replace"))
    except OSError:
        return False
    return True


def write_all(descriptor: int, rest: bytes) -> None:
    """Write all bytes. Raises OSError."""
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _watched(nothing: str) -> Responder:
    responder = Responder(nothing)
    try:
        start_new_thread(responder.watch, ())
        os.setsid()  # so that the end of the host and its process group does not kill the hook
    except (RuntimeError, OSError, AttributeError):
        return responder  # no thread left (each wait has its own limit); already a group's leader; Windows
    return responder


def _nothing_to_do() -> None:
    pass


def _leave_soon() -> None:
    time.sleep(TICK_S)
    os._exit(0)
