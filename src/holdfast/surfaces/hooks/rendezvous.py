"""Asking a running `holdfast mcp` through its private socket: the whole memory, already warm, for a millisecond.

The request is one line of who asks (version, store, host) and the payload. The answer is one line with the errand
for a learner when a session ended (else an empty line), and the host's stdout text. A server of another version or
store hangs up without a word, and the hook answers alone.
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
ANSWER_S = 0.2
ANSWER_LIMIT = 1_000_000


def ask_server(settings: Settings, host: str, payload: bytes) -> tuple[str, str] | None:
    """Errand for a learner (or empty) and stdout text from the newest server that answers in time.

    None without a server; two empty texts when there is one that did not answer.
    """
    folder = socket_folder(settings.run_path)
    sockets = _find_sockets(folder)
    if not sockets:
        return None
    line = f"{__version__}\t{settings.store}\t{host}\n".encode()
    deadline = time.monotonic() + ANSWER_S
    for path in sockets[:TRIES]:
        answer = _ask(path, line + payload, deadline)
        if answer:
            errand, _, text = answer.partition("\n")
            return errand, text
    return "", ""


def _find_sockets(folder: str) -> list[str]:
    """Sockets of servers, newest first; none in a folder that others could have put them in."""
    try:
        held = os.lstat(folder)
        if not hasattr(os, "getuid") or held.st_uid != os.getuid() or held.st_mode & 0o170077 != 0o040000:
            return []
        names = [name for name in os.listdir(folder) if name.endswith(".sock")]
        paths = [os.path.join(folder, name) for name in names]
        return sorted(paths, key=lambda path: os.lstat(path).st_mtime_ns, reverse=True)
    except OSError:
        return []


def _ask(path: str, request: bytes, deadline: float) -> str:
    from _socket import AF_UNIX, SHUT_WR, SOCK_STREAM, socket

    line = socket(AF_UNIX, SOCK_STREAM)
    try:
        line.settimeout(CONNECT_S)
        line.connect(path)
        line.settimeout(max(0.001, deadline - time.monotonic()))
        line.sendall(request)
        line.shutdown(SHUT_WR)
        return _read_answer(line, deadline).decode("utf-8", "replace")
    except OSError:
        return ""  # a stale socket or a busy server: the next one, or alone
    finally:
        line.close()


def _read_answer(line: socket, deadline: float) -> bytes:
    """Everything until the server hangs up; empty when that is not in time, for half an answer is none."""
    parts: list[bytes] = []
    size = 0
    while size < ANSWER_LIMIT:
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            return b""
        line.settimeout(left_s)
        part = line.recv(65_536)
        if not part:
            return b"".join(parts)
        parts.append(part)
        size += len(part)
    return b""
