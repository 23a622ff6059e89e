"""Asking a running `holdfast mcp` through its private socket: the whole memory, already warm, for a millisecond.

The request is one line of who asks (version, store, host, the payload's bytes) and the payload. The answer is one line
with the text's bytes and the errand for a learner when a session ended (else nothing), and the host's stdout text. Then
the hook says with one byte whether the host was told, only that is logged as shown, and the server hangs up. A server
of another version or store hangs up without a word, and the hook answers alone.
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


class Answer:
    """What a server said: the errand for a learner (or nothing) and the stdout text; both empty for no answer."""

    def __init__(self, text: str = "", errand: str = "", line: socket | None = None) -> None:
        self.text = text
        self.errand = errand
        self._line = line

    def close(self, heard: bool) -> None:
        """Tell the server whether the host was told the text, and wait until it has written that down.

        The session's next hook may come at once, and must not be told the same again.
        """
        if self._line is None:
            return
        try:
            self._line.settimeout(LOGGED_S)
            self._line.sendall(HEARD if heard else UNHEARD)
            self._line.recv(1)
        except OSError:
            pass  # the server has ended meanwhile
        finally:
            self._line.close()


def ask_server(settings: Settings, host: str, payload: bytes, wait_s: float) -> Answer | None:
    """The answer of the newest server that gives one in time; to be closed.

    None without a server; an empty answer when there is one that did not answer.
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
    return Answer()


def _find_sockets(folder: str) -> list[str]:
    """Sockets of servers, newest first; none in a folder that others could have put them in."""
    try:
        status = os.lstat(folder)
        if not hasattr(os, "getuid") or status.st_uid != os.getuid() or status.st_mode & 0o170077 != 0o040000:
            return []
        names = [name for name in os.listdir(folder) if name.endswith(".sock")]
        paths = [os.path.join(folder, name) for name in names]
        return sorted(paths, key=lambda path: os.lstat(path).st_mtime_ns, reverse=True)
    except OSError:
        return []


def _ask(path: str, request: bytes, deadline: float) -> Answer | None:
    from _socket import AF_UNIX, SOCK_STREAM, socket

    line = socket(AF_UNIX, SOCK_STREAM)
    try:
        line.settimeout(CONNECT_S)
        line.connect(path)
        line.settimeout(max(0.001, deadline - time.monotonic()))
        line.sendall(request)
        errand, text = _read_answer(line, deadline)
    except OSError:
        errand = text = ""  # a stale socket or a busy server: the next one, or alone
    if text:
        return Answer(text, errand, line)
    line.close()
    return None


def _read_answer(line: socket, deadline: float) -> tuple[str, str]:
    """Errand and text; both empty when they are not whole in time."""
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
