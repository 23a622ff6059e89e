"""The two halves of a hook on a busy machine: the parent waits for the answer and prints it, the child does the work.

They talk through two pipes. The child sends messages: a letter, the length, the text. The parent answers the final one
with a letter that says which text it printed. A parent that has left answers nothing.
"""

from __future__ import annotations

import os
import time

from holdfast.lean.deadline import STOP_S, Deadline
from holdfast.surfaces.hooks.responder import TICK_S, Responder, print_answer, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

FINAL, OFFER, LIMIT, PATIENT, PROMPT, WARN, GO = b"A", b"O", b"D", b"L", b"N", b"E", b"G"
"""Messages of the child: the answer; the best answer so far; the seconds until an answer is due; a late answer is
useful; a late answer is useless; text for stderr; the host need not wait any longer."""
SILENT, DEAF = b"0", b"x"
"""Letters of the parent: the host got only `nothing`; the host has stopped listening."""

HEAD = 5
"""Bytes before a message's text: its letter and its length."""


class Worker(Responder):
    """The child's side: sends answers to the parent, which prints them if the host still waits."""

    def __init__(self, nothing: str, deadline: Deadline, pipes: tuple[int, int]) -> None:
        super().__init__(nothing)
        self.deadline = deadline
        self._sending, self._acks = pipes

    def limit(self, answer_s: float) -> None:
        """See `Desk`; the parent gets the limit too."""
        super().limit(answer_s)
        self._send(LIMIT, str(answer_s))

    def allow_late(self, patient: bool) -> None:
        """See `Desk`."""
        self._send(PATIENT if patient else PROMPT, "")

    def offer(self, text: str) -> None:
        """See `Desk`."""
        self._best = text
        self._send(OFFER, text)

    def write_answer(self, text: str) -> str | None:
        """See `Desk`."""
        if self._is_answered:
            return None
        self._is_answered = True
        self._send(FINAL, text)
        ack = os.read(self._acks, 1)
        if ack in (FINAL, DEAF):
            return text if ack == FINAL else None
        self.is_late = True
        return self._best if ack == OFFER else None

    def warn(self, text: str) -> None:
        """See `Desk`."""
        self._send(WARN, text)

    def release(self) -> None:
        """See `Desk`."""
        self._send(GO, "")

    @property
    def keep_by(self) -> float:
        """See `Desk`; the host does not wait for the child."""
        return self.deadline.keep_by

    def _send(self, letter: bytes, text: str) -> None:
        body = text.encode("utf-8", "replace")
        try:
            write_all(self._sending, letter + len(body).to_bytes(HEAD - 1, "big") + body)
        except OSError:
            return  # the parent has left: nobody waits any more


class _LateError(Exception):
    """The alarm rang while the parent waited."""


class Waiter:
    """The parent's side: waits for the answer, prints it and exits."""

    def __init__(self, nothing: str, deadline: Deadline, pipes: tuple[int, int], child: int) -> None:
        self._nothing = nothing
        self._deadline = deadline
        self._reading, self._acks = pipes
        self._child = child
        self._buffer = b""
        self._best: str | None = None
        self._patient: bool | None = None
        """None until the child has sent it; the parent then waits as for a moment where a late answer is useful."""
        self._answered = False
        self._released = False
        self._ended = False
        self._waiting = False

    def attend(self) -> NoReturn:
        """Print the child's answer, or at the deadline the best one so far, and exit with status 0."""
        try:
            self._listen()
            if not self._answered:
                self._print(SILENT if self._best is None else OFFER, self._best or self._nothing)
            self._reap()
        finally:
            os._exit(0)

    def _listen(self) -> None:
        from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]

        signal(SIGALRM, self._ring)
        try:
            while (left := self._until() - time.monotonic()) > 0 and not self._released:
                setitimer(ITIMER_REAL, left, TICK_S)
                self._waiting = True
                part = os.read(self._reading, 65_536)
                self._waiting = False
                if not part:
                    self._ended = True
                    return
                self._buffer += part
                self._take_messages()
        except _LateError:
            pass

    def _ring(self, _signal: int, _frame: object) -> None:
        if self._waiting and time.monotonic() >= self._until():
            self._waiting = False
            raise _LateError

    def _until(self) -> float:
        patient = self._patient is not False and not self._answered
        return self._deadline.late_by if patient else self._deadline.answer_by

    def _take_messages(self) -> None:
        while len(self._buffer) >= HEAD:
            end = HEAD + int.from_bytes(self._buffer[1:HEAD], "big")
            if len(self._buffer) < end:
                return
            letter, text = self._buffer[:1], self._buffer[HEAD:end].decode("utf-8", "replace")
            self._buffer = self._buffer[end:]
            self._take(letter, text)

    def _take(self, letter: bytes, text: str) -> None:
        if letter == FINAL:
            self._print(FINAL, text)
        elif letter == OFFER:
            self._best = text
        elif letter == LIMIT:
            self._deadline = Deadline(self._deadline.began_s, float(text))
        elif letter in (PATIENT, PROMPT):
            self._patient = letter == PATIENT
        elif letter == WARN:
            write_all(2, text.encode("utf-8", "replace"))
        elif letter == GO:
            self._released = True

    def _print(self, letter: bytes, text: str) -> None:
        """Print the answer and send the child the letter for it."""
        self._answered = True
        is_heard = print_answer(text)
        try:
            os.write(self._acks, letter if is_heard else DEAF)
        except OSError:
            return  # the child has ended

    def _reap(self) -> None:
        """Reap the child if it has ended: a host that is the first process of a container may not do so."""
        try:
            os.waitpid(self._child, 0 if self._ended else os.WNOHANG)
        except OSError:
            return


def split(nothing: str, deadline: Deadline) -> Responder:
    """Fork; return the responder in the child, while the parent never returns. Raises OSError if that fails."""
    reading, sending = os.pipe()
    acks, acking = os.pipe()
    child = os.fork()
    if child:
        os.close(sending)
        os.close(acks)
        Waiter(nothing, deadline, (reading, acking), child).attend()
    os.close(reading)
    os.close(acking)
    _leave_the_host()
    return Worker(nothing, deadline, (sending, acks))


def _leave_the_host() -> None:
    """Leave the host's process group, so that its end does not kill the child, and close its output streams."""
    from _signal import ITIMER_REAL, setitimer

    setitimer(ITIMER_REAL, STOP_S)  # without a handler the signal kills the process, even in a call into C
    os.setsid()
    try:
        quiet = os.open(os.devnull, os.O_RDWR)
    except OSError:
        return  # a chroot without /dev/null: the host's streams stay open until the work is done
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.close(quiet)
