"""The two halves of a hook on a busy machine: one waits for the answer and prints it, the other does the work.

They talk through two pipes. The child sends messages (a letter, the length, the text), the parent answers the one that
ends the wait with a single letter: which text it printed. A parent that is gone answers nothing.
"""

from __future__ import annotations

import os
import time

from holdfast.lean.deadline import STOP_S, Deadline
from holdfast.surfaces.hooks.desk import TICK_S, Desk, print_answer, write_all

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

FINAL, OFFER, LIMIT, PATIENT, PROMPT, WARN, GO = b"A", b"O", b"D", b"L", b"N", b"E", b"G"
"""Messages of the child: the answer; the best so far; the seconds until an answer is due; a late answer is still worth
something, or is not; words for stderr; nothing is left that the host should wait for."""
SILENT, DEAF = b"0", b"x"
"""The parent's letters for: the host was told nothing, or what `nothing` says; it does not listen any more."""

HEAD = 5
"""Bytes before a message's text: its letter and its length."""


class Worker(Desk):
    """The child's side: what is said goes to the parent, who prints it if the host still waits."""

    def __init__(self, nothing: str, deadline: Deadline, pipes: tuple[int, int]) -> None:
        super().__init__(nothing)
        self.deadline = deadline
        self._sending, self._acks = pipes

    def limit(self, answer_s: float) -> None:
        """See `Desk`; the parent counts as well."""
        super().limit(answer_s)
        self._send(LIMIT, str(answer_s))

    def be_patient(self, patient: bool) -> None:
        """See `Desk`."""
        self._send(PATIENT if patient else PROMPT, "")

    def offer(self, text: str) -> None:
        """See `Desk`."""
        self._best = text
        self._send(OFFER, text)

    def say(self, text: str) -> str | None:
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
        """See `Desk`; here nobody waits."""
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
    """The parent's side: waits, prints, leaves."""

    def __init__(self, nothing: str, deadline: Deadline, pipes: tuple[int, int], child: int) -> None:
        self._nothing = nothing
        self._deadline = deadline
        self._reading, self._acks = pipes
        self._child = child
        self._buffer = b""
        self._best: str | None = None
        self._patient: bool | None = None
        """None while the child has not said which moment it is: it may be one that is worth waiting for."""
        self._answered = False
        self._released = False
        self._ended = False
        self._waiting = False

    def attend(self) -> NoReturn:
        """Print the child's answer, or at the deadline the best there is, and leave with exit status 0."""
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
        """Print the answer and tell the child which it was."""
        self._answered = True
        is_heard = print_answer(text)
        try:
            os.write(self._acks, letter if is_heard else DEAF)
        except OSError:
            return  # the child has ended

    def _reap(self) -> None:
        """Take the child's exit, if it has ended: a host that is the first process of a container may not."""
        try:
            os.waitpid(self._child, 0 if self._ended else os.WNOHANG)
        except OSError:
            return


def split(nothing: str, deadline: Deadline) -> Desk:
    """The desk of the half that works; the other half never returns. Raises OSError where there can be no two."""
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
    """Be out of reach of what ends the host, and hold none of its streams but the payload's."""
    from _signal import ITIMER_REAL, setitimer

    setitimer(ITIMER_REAL, STOP_S)  # without a handler of ours: not even a call into C can outlive it
    os.setsid()
    try:
        quiet = os.open(os.devnull, os.O_RDWR)
    except OSError:
        return  # a bare chroot: the host's streams stay open until the work is done
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    os.close(quiet)
