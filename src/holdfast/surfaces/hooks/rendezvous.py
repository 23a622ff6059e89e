"""Asks a running `holdfast mcp` through its private socket, which takes a millisecond: its memory is open.

The request is a line (version, store, host, length of the payload) and the payload. The answer is a line (length of the
text, and the learner's request if a session ended) and the text for the host's stdout. The hook then sends a byte that
says whether the host got the text. Only then is it logged as shown, and the server closes the connection. A server of
another version or store closes the connection at once, and the hook answers alone.
"""

from __future__ import annotations

import os
import time

from holdfast._version import __version__
from holdfast.settings import socket_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _socket import socket

    from holdfast.settings import Settings

TRIES = 2
CONNECT_S = 0.05
ANSWER_LIMIT = 1_000_000
HEARD, UNHEARD = b"+", b"-"
LOGGED_S = 5.0
"""How long to wait for the server's log. The host has its answer by then, and does not wait longer than for that."""


class ServerAnswer:
    """A server's answer: the text for stdout and the learner's request; both are empty for no answer."""

    def __init__(self, text: str = "", errand: str = "", line: socket | None = None) -> None:
        self.text = text
        self.errand = errand
        self._line = line

    def close(self, heard: bool) -> None:
        """Send the server whether the host got the text, and wait until that is logged.

        The session's next hook may come at once, and must not show the same again.
        """
        if self._line is None:
            return
        try:
            self._line.settimeout(LOGGED_S)
            self._line.sendall(HEARD if heard else UNHEARD)
            self._line.recv(1)
        except OSError:
            pass  # the server has ended
        finally:
            self._line.close()


def ask_server(settings: Settings, host: str, payload: bytes, wait_s: float) -> ServerAnswer | None:
    """Return the answer of the newest server that answers in time; the caller closes it.

    Returns None without a server, and an empty answer if no server answered.
    """
    folder = socket_folder(settings.run_path)
    sockets = _find_sockets(folder)
    if not sockets:
        return None
    head = f"{__version__}\t{settings.store}\t{host}\t{len(payload)}\n".encode()
    deadline = time.monotonic() + wait_s
    for path in sockets[:TRIES]:
        answer = _ask(path, head + payload, deadline)
        if answer is not None:
            return answer
    return ServerAnswer()


def _find_sockets(folder: str) -> list[str]:
    """Return the sockets of servers, newest first; none from a folder that others can write."""
    try:
        status = os.lstat(folder)
        if not hasattr(os, "getuid") or status.st_uid != os.getuid() or status.st_mode & 0o170077 != 0o040000:
            return []
        names = [name for name in os.listdir(folder) if name.endswith(".sock")]
        paths = [os.path.join(folder, name) for name in names]
        return sorted(paths, key=lambda path: os.lstat(path).st_mtime_ns, reverse=True)
    except OSError:
        return []


def _ask(path: str, request: bytes, deadline: float) -> ServerAnswer | None:
    from _socket import AF_UNIX, SOCK_STREAM, socket

    line = socket(AF_UNIX, SOCK_STREAM)
    try:
        line.settimeout(CONNECT_S)
        line.connect(path)
        line.settimeout(max(0.001, deadline - time.monotonic()))
        line.sendall(request)
        errand, text = _read_answer(line, deadline)
    except OSError:
        errand = text = ""  # a stale socket or a busy server
    if text:
        return ServerAnswer(text, errand, line)
    line.close()
    return None


def _read_answer(line: socket, deadline: float) -> tuple[str, str]:
    """Return the learner's request and the text; both are empty if they are not complete in time."""
    answer = b""
    while len(answer) < ANSWER_LIMIT:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            break
        line.settimeout(left_s)
        part = line.recv(65_536)
        if not part:
            break
        answer += part
        head, _, body = answer.partition(b"\n")
        size, _, errand = head.decode("utf-8", "replace").partition("\t")
        if size.isdigit() and len(body) >= int(size):
            return errand, body.decode("utf-8", "replace")
    return "", ""
