"""A hook in Python: gets one JSON object, gives one, and exits with 0, whatever is broken.

    entry.py HOST [--plain]    the host's hook where there is no compiled launcher: stdin and stdout are the host's
    entry.py --answer          a child of the compiled launcher, which keeps the deadline: stdin is a socket to it

The first asks a running `holdfast mcp` through its private socket, and answers alone without one; a thread answers at
the deadline. An event is stored however late it is, in the store or else in the spool. The process ends with
`os._exit`: nothing it opened needs an orderly end, and shutting the interpreter down costs 3 ms.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.home.hookline import (
    HEARD,
    PAYLOAD_LIMIT,
    UNHEARD,
    Answering,
    Request,
    ask_server,
    read_request,
    serving_host,
)
from holdfast.lean.deadline import STOP_S, Deadline
from holdfast.settings import Settings, load_settings

PLAIN = "--plain"
"""Argument after the host's name, for a host that passes all output to the model: no answer then prints nothing."""
ANSWER = "--answer"
TICK_S = 0.05
"""How often the thread that answers at the deadline looks at the clock."""
ATTENDED_S = 4.0
"""How long a process that a host waits for may go on after the deadline: the host has its answer already."""
NOTED_S = 1.0
"""How long it may then take to log that it was late."""


def main(arguments: Sequence[str]) -> None:
    """Answer one hook and leave the process with exit status 0."""
    hook = _LaunchedHook() if arguments[:1] == [ANSWER] else _HostedHook(arguments)
    try:
        hook.serve()
    except BaseException as exc:  # no error may reach the host
        hook.log_fatal(exc)
    finally:
        try:
            hook.reply.write_nothing()
            hook.note_lateness()
        finally:
            os._exit(0)


class Printed:
    """Prints the answer for a host that started this process; at the deadline a thread prints the best one so far."""

    def __init__(self, nothing: str = "{}") -> None:
        self._nothing = nothing
        self._deadline = Deadline(time.monotonic())
        self._is_patient = False
        self._best = ""
        self._is_answered = False
        self._first = threading.Lock()
        self.is_late = False
        """Whether the answer came too late, so that the host got another text."""

    def wait_until(self, deadline: Deadline, *, is_patient: bool) -> None:
        """Set when the answer is due, and whether a late one is still useful."""
        self._deadline, self._is_patient = deadline, is_patient

    def offer(self, text: str) -> None:
        """Set the best answer so far, which is printed if the deadline comes before a better one."""
        self._best = text

    def write_answer(self, text: str) -> str | None:
        """Print the answer; return the text that the host got, or None if it got none of ours.

        Only the first answer is printed; later calls return None.
        """
        if self._is_answered:
            return None
        self._is_answered = True
        if self._first.acquire(blocking=False):
            return text if print_answer(text) else None
        self.is_late = True
        return self._best or None

    def write_nothing(self) -> None:
        """Print what stands for no answer."""
        self.write_answer(self._nothing)

    def release(self) -> None:
        """Do nothing: the host waits for this process."""

    def watch(self, hook: _Hook) -> None:
        """Answer at the deadline, and end the process a little later; runs in a thread."""
        while (left_s := self._until() - time.monotonic()) > 0:
            time.sleep(min(left_s, TICK_S))
        if self._first.acquire(blocking=False):
            print_answer(self._best or self._nothing)
        time.sleep(ATTENDED_S)
        self.is_late = True
        # The note may hang on a lock that the other thread holds.
        threading.Timer(NOTED_S, os._exit, (0,)).start()
        hook.note_lateness()
        os._exit(0)

    def _until(self) -> float:
        return self._deadline.late_by if self._is_patient else self._deadline.answer_by


class _Hook:
    """One hook call, with the state that its steps share."""

    reply: Printed | Answering

    def __init__(self, host: str = "") -> None:
        self.host = host
        self.subject = host
        self.settings: Settings | None = None

    def serve(self) -> None:
        """Get the payload's answer."""
        raise NotImplementedError

    def load(self, request_host: str, names: frozenset[str]) -> Settings | None:
        """Return the settings; None if there is nothing to do for this host."""
        self.host = self.subject = serving_host(request_host, names)
        if not self.host:
            return None
        self.settings = settings = load_settings()
        return settings if settings.capture or settings.deliver else None

    def log_failure(self, step: str, exc: BaseException) -> None:
        """Log why a step failed."""
        from holdfast.home.runfiles import note  # late: most hooks fail nowhere

        note(self.settings.log_path if self.settings else "", f"{self.subject} {step}", exc)

    def note_lateness(self) -> None:
        """Count and log a late answer, if the host did not wait for it."""
        if not self.reply.is_late or self.settings is None:
            return
        from holdfast.home.runfiles import LATE, count  # late: as above

        self.log_failure("deadline", TimeoutError(f"no answer within {self.settings.hook_deadline_ms} ms"))
        count(self.settings.run_path, self.host, LATE)

    def log_fatal(self, exc: BaseException) -> None:
        """Log the error that ended the hook, or print it on stderr if there is no log yet."""
        try:
            self.log_failure("hook", exc)
            if self.settings is None and isinstance(exc, HoldfastError):
                os.write(2, f"holdfast: {exc}\n".encode("utf-8", "replace"))
        except BaseException:
            os._exit(0)  # for example a full disk or a closed stderr: nothing can be reported


class _HostedHook(_Hook):
    """A hook whose host waits for this process."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(arguments[0] if arguments else "")
        self._began_s = time.time()
        self._deadline = Deadline(time.monotonic())
        self.reply = Printed("" if PLAIN in arguments else "{}")
        threading.Thread(target=self.reply.watch, args=(self,), daemon=True).start()
        with suppress(OSError, AttributeError):  # already a group's leader; Windows
            os.setsid()  # so that the end of the host and its process group does not kill the hook

    def serve(self) -> None:
        """Ask a server, or answer alone."""
        names = frozenset(name for name, value in os.environ.items() if value)
        settings = self.load(self.host, names)
        if settings is None:
            return
        deadline = Deadline(self._deadline.began_s, settings.hook_deadline_ms / 1000)
        self.reply.wait_until(deadline, is_patient=False)
        request = Request(os.environ.get("HOLDFAST_STORE", ""), self.host, _read_payload(), self._began_s, names)
        answer, again = None, False
        if hasattr(socket, "AF_UNIX"):
            answer, again = ask_server(settings, request, time.monotonic() + deadline.server_s)
        if answer is not None:
            text = answer.text
            if text is not None:
                answer.close(HEARD if self.reply.write_answer(text) == text else UNHEARD)
            return
        _answer_alone(self, settings, request, deadline, again, keep_by=deadline.answer_by)


class _LaunchedHook(_Hook):
    """A hook whose host waits for the compiled launcher; this process may go on as long as it needs."""

    def __init__(self) -> None:
        super().__init__()
        signal.alarm(int(STOP_S))  # without a handler the signal kills the process, even in a call into C
        self._line = socket.socket(fileno=0)
        self.reply = Answering(self._line)

    def serve(self) -> None:
        """Read the launcher's request and answer it."""
        request = read_request(self._line)
        settings = self.load(request.host, request.names) if request else None
        if request is None or settings is None:
            return
        deadline = request.deadline(settings.hook_deadline_ms / 1000)
        again = deadline.server_s <= time.monotonic() - deadline.began_s
        _answer_alone(self, settings, request, deadline, again, keep_by=deadline.keep_by)


def _answer_alone(
    hook: _Hook, settings: Settings, request: Request, deadline: Deadline, again: bool, keep_by: float
) -> None:
    from holdfast.surfaces.hooks.alone import answer_alone  # late: a hook that a server answers needs none of it

    answer_alone(hook, settings, request.payload, deadline, again=again, keep_by=keep_by)


def _read_payload() -> bytes:
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1_048_576):
        parts.append(part)
        size += len(part)
        if size > PAYLOAD_LIMIT:
            raise InvalidValueError(f"a hook payload of more than {PAYLOAD_LIMIT:,} bytes")
    return b"".join(parts)


def print_answer(text: str) -> bool:
    """Print the hook's output unless it is blank; return False if the host has stopped listening."""
    rest = b"" if text.isspace() else text.encode("utf-8", "replace")
    try:
        while rest:
            rest = rest[os.write(1, rest) :]
    except OSError:
        return False
    return True
