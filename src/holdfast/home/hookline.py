"""The line between a hook and who answers it: a running `holdfast mcp`, or a Python child of the compiled launcher.

`launcher/hook.c` and `ask_server` are the hook's end, `Answering` is the other. Both answerers get the same request:

    version TAB store TAB host TAB size TAB began TAB names NEWLINE payload

The store is the hook's HOLDFAST_STORE; without one it is what the config file says. `began` is the hook's start in
milliseconds since 1970. The names are those of all environment variables that are set, with commas between them: they
tell which host calls. The answer is messages of a letter, a decimal length, a newline and a body:

    O  the best answer so far, for a hook that stops waiting before a better one comes
    W  until when the hook should wait, in milliseconds after its start
    A  the answer
    N  the hook has nothing to do
    G  the host need not wait any longer

The hook ends the talk with a letter: what the host got. Only that is logged as shown. Then the answerer closes the
line, or goes on for as long as it likes.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

from holdfast._version import __version__
from holdfast.lean.deadline import LATE_FACTOR, Deadline
from holdfast.lean.hostmarks import IMITATED, UNMARKED
from holdfast.settings import Settings, calling_host, socket_folder

HEARD, OFFERED, UNHEARD, DEAF = b"+", b"o", b"-", b"x"
"""What the host got: the answer; the last offer; neither, because both came too late; nothing, because it is gone."""

ANY = "any"
"""The host's name for a command that serves several hosts; the environment says which."""
HEAD_LIMIT, PAYLOAD_LIMIT, ANSWER_LIMIT = 65_536, 16_000_000, 1_000_000
"""Bytes of a request's first line, of the payload after it, and of an answer."""
REQUEST_S = 0.5
"""How long a hook may take to send its request; it sends it at once or never."""
HEARD_S = 3.0
"""How long a hook may take to say what the host got."""
CONNECT_S = 0.05
TRIES = 2
LOGGED_S = 5.0
"""How long a hook waits for the log. The host has its answer by then, and does not wait longer than for that."""


class Request(NamedTuple):
    """What a hook asks."""

    store: str
    host: str
    """The host's name as it was registered: an adapter's, or `any`."""
    payload: bytes
    began_s: float
    """The hook's start, in seconds since 1970."""
    names: frozenset[str]
    """The names of the environment variables that are set."""
    version: str = __version__

    def deadline(self, answer_s: float) -> Deadline:
        """Return the hook's time limits, on this process's monotonic clock."""
        spent_s = min(max(0.0, time.time() - self.began_s), 30.0)  # another clock, which may have been set meanwhile
        return Deadline(time.monotonic() - spent_s, answer_s)


def render_request(request: Request) -> bytes:
    """Return the request as it is sent."""
    began = str(int(request.began_s * 1000))
    names = ",".join(sorted(name for name in request.names if name.isidentifier() and name.isascii()))
    fields = (request.version, request.store, request.host, str(len(request.payload)), began, names)
    return "\t".join(fields).encode("utf-8", "replace") + b"\n" + request.payload


def read_request(line: socket.socket) -> Request | None:
    """Return the request; None for one that is incomplete or none of ours. Raises OSError."""
    received = bytearray()
    while b"\n" not in received:
        part = line.recv(1_048_576)
        if not part or len(received) > HEAD_LIMIT:
            return None
        received += part
    head, _, rest = bytes(received).partition(b"\n")
    fields = head.decode("utf-8", "replace").split("\t")
    if len(fields) != 6 or not fields[3].isdecimal() or not fields[4].isdecimal():
        return None
    version, store, host, size, began, names = fields
    payload = bytearray(rest)
    while len(payload) < int(size) <= PAYLOAD_LIMIT and (part := line.recv(1_048_576)):
        payload += part
    if len(payload) != int(size):
        return None
    return Request(store, host, bytes(payload), int(began) / 1000, frozenset(names.split(",")), version)


def serving_host(registered: str, names: frozenset[str]) -> str:
    """Return the adapter's name for a hook registered under that name; "" for a hook that another host has started too.

    `names` are those of the environment variables that are set.
    """
    calling = calling_host(dict.fromkeys(names, "1"))
    if registered == ANY:
        return calling or UNMARKED
    # Another host also runs the hooks in this host's files, and has hooks of its own.
    return "" if registered in IMITATED and calling not in ("", registered) else registered


class Answering:
    """The answerer's end of one request. A hook that has left is no error: nobody waits any more."""

    def __init__(self, line: socket.socket, refuse_after_s: float = float("inf"), releases: bool = False) -> None:
        self._line = line
        self._refuse_after_s = refuse_after_s
        self._releases = releases
        """Whether the host need not wait until the answer is logged, because its next hook will."""
        self._best = ""
        self._is_answered = False
        self.is_late = False
        """Whether the host stopped waiting before the answer came."""

    def wait_until(self, deadline: Deadline, *, is_patient: bool) -> None:
        """Say how long the hook should wait: longer for an answer that is useful even if it is late."""
        wait_s = deadline.answer_s * (LATE_FACTOR if is_patient else 1.0)
        self._send(b"W", str(int(wait_s * 1000)))

    def offer(self, text: str) -> None:
        """Send the best answer so far."""
        self._best = text
        self._send(b"O", text)

    def write_answer(self, text: str) -> str | None:
        """Send the answer; return the text that the host got, or None if it got none of ours.

        Only the first answer is sent. None is sent after `refuse_after_s` of the monotonic clock: it may lack its
        lessons, and the hook has another answerer by then.
        """
        if self._is_answered or time.monotonic() > self._refuse_after_s:
            return None
        self._is_answered = True
        return self._best_of(self._finish(b"A", text), text)

    def write_nothing(self) -> None:
        """Tell the hook that it has nothing to do."""
        if not self._is_answered:
            self._is_answered = True
            self._finish(b"N", "")

    def release(self) -> None:
        """Let the host go on without waiting for what follows."""
        self._send(b"G", "")

    def _best_of(self, sign: bytes, text: str) -> str | None:
        if sign == HEARD:
            return text
        self.is_late = sign != DEAF
        return self._best or None if sign == OFFERED else None

    def _finish(self, letter: bytes, text: str) -> bytes:
        self._send(letter, text, before=b"G0\n" if self._releases else b"")
        try:
            self._line.settimeout(HEARD_S)
            return self._line.recv(1)
        except OSError:
            return UNHEARD

    def _send(self, letter: bytes, text: str, before: bytes = b"") -> None:
        body = text.encode("utf-8", "replace")
        with suppress(OSError):
            self._line.sendall(b"%s%s%d\n%s" % (before, letter, len(body), body))


class ServerAnswer(NamedTuple):
    """A server's answer; `text` is None if it has nothing to say to the host."""

    text: str | None
    line: socket.socket

    def close(self, sign: bytes) -> None:
        """Say what the host got, and wait until that is logged.

        The session's next hook may come at once, and must not show the same again.
        """
        with self.line, suppress(OSError):
            self.line.settimeout(LOGGED_S)
            self.line.sendall(sign)
            self.line.recv(1)


def ask_server(settings: Settings, request: Request, until_s: float) -> tuple[ServerAnswer | None, bool]:
    """Return the answer of the newest server that answers before `until_s`, and whether there is any server.

    The caller closes the answer. Offers are ignored: a hook that stops waiting answers alone.
    """
    paths = find_sockets(socket_folder(settings.run_path))
    for path in paths[:TRIES]:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            line.settimeout(CONNECT_S)
            line.connect(path)
            line.settimeout(max(0.001, until_s - time.monotonic()))
            line.sendall(render_request(request))
            for letter, text in _read_messages(line, until_s):
                if letter in b"AN":
                    return ServerAnswer(text if letter == b"A" else None, line), True
        except (OSError, ValueError):
            pass  # a stale socket, a busy server, or none of ours
        line.close()
    return None, bool(paths)


def find_sockets(folder: str) -> list[str]:
    """Return the sockets of servers, newest first; none from a folder that others can write."""
    try:
        status = os.lstat(folder)
        if not hasattr(os, "getuid") or status.st_uid != os.getuid() or status.st_mode & 0o170077 != 0o040000:
            return []
        paths = [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".sock")]
        return sorted(paths, key=lambda path: os.lstat(path).st_mtime_ns, reverse=True)
    except OSError:
        return []


def is_own_user(line: socket.socket) -> bool:
    """Return whether the process at the other end is this user's, where the system can say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True  # macOS: the folder's mode keeps others out
    credentials = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return bool(struct.unpack("3i", credentials)[1] == os.getuid())


def _read_messages(line: socket.socket, until_s: float) -> Iterator[tuple[bytes, str]]:
    """Yield letters and bodies until the line is closed or the time is over. Raises OSError, and ValueError."""
    received = b""
    while len(received) < ANSWER_LIMIT and (left_s := until_s - time.monotonic()) > 0:
        line.settimeout(left_s)
        part = line.recv(65_536)
        if not part:
            return
        received += part
        while b"\n" in received[:16]:
            head, _, rest = received.partition(b"\n")
            size = int(head[1:])
            if len(rest) < size:
                break
            received = rest[size:]
            yield head[:1], rest[:size].decode("utf-8", "replace")
