"""Serves the same MCP server over streamable HTTP on this machine, for clients that cannot start a program.

It listens on 127.0.0.1. Every request needs the token of this user's Holdfast home, the server's own Host, and no
foreign Origin. This keeps out other users of the machine and web pages (DNS rebinding). Imported only with `--http`.
"""

from __future__ import annotations

import hmac
import os
import secrets
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import uvicorn
from mcp.server import Server
from mcp.server.transport_security import TransportSecuritySettings

from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.home.runfiles import RunLock
from holdfast.surfaces.mcp import render
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.slowness import limited

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

ADDRESS = "127.0.0.1"
PORT = 4653
"""HOLD on a telephone."""
PATH = "/mcp"
TOKEN_FILE = "mcp-token"
TOKEN_BYTES = 32
"""Random bytes of a new token, and characters of the shortest that is taken for one."""
TURN_S = 2.0
"""Seconds to wait for another process that makes the token."""

BODY_LIMIT = 1_000_000
"""Bytes of a request; the longest lesson and checkpoint are far below."""
SESSIONS = 64
"""Sessions of handshake revisions at once; one that is quiet for half an hour ends."""
LEAVE_S = 2
"""Seconds that open streams may delay the end."""
BACKLOG = 64
"""Connections that may wait to be accepted."""


def serve(server: Server[None], memory: MemoryOnce, port: int | None = None) -> int:
    """Serve until interrupted; return the exit code. Port 0 picks a free port, None is the default port."""
    try:
        settings = memory().settings
        token = load_token(settings.home, settings.run_path)
        line = open_line(PORT if port is None else port)
    except HoldfastError as exc:
        print(f"error: {render.failure(exc)}", file=sys.stderr)
        return 1
    with line:
        url = f"http://{ADDRESS}:{line.getsockname()[1]}{PATH}"
        _tell(url, os.path.join(settings.home, TOKEN_FILE), memory.folder)
        served = uvicorn.Config(
            application(server, token, line.getsockname()[1]),
            http=limited(),
            log_level="warning",
            ws="none",
            server_header=False,
            timeout_graceful_shutdown=LEAVE_S,
        )
        signal.signal(signal.SIGTERM, _leave)  # uvicorn ends its streams, then raises the signal again
        with suppress(KeyboardInterrupt):  # Ctrl-C is the usual end
            uvicorn.Server(served).run(sockets=[line])
    return 0


def _leave(sign: int, frame: object) -> None:
    """Exit through every `finally`, so that the store is closed."""
    sys.exit(0)


def application(server: Server[None], token: str, port: int) -> ASGIApp:
    """Return the application for the port, guarded by the token."""
    names = (ADDRESS, "localhost")
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=BODY_LIMIT,
        max_sessions=SESSIONS,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{name}:{port}" for name in names],
            allowed_origins=[f"http://{name}:{port}" for name in names],
        ),
    )
    return TokenGuard(app, token)


class TokenGuard:
    """An ASGI application that passes only requests with `Authorization: Bearer <token>` to another application."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or the application's start and end."""
        if scope["type"] != "http" or self._may_enter(scope["headers"]):
            await self._app(scope, receive, send)
            return
        body = b'{"error":"wrong or missing token; holdfast mcp --http prints how to send it"}'
        headers = [(b"content-type", b"application/json"), (b"www-authenticate", b"Bearer")]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _may_enter(self, headers: list[tuple[bytes, bytes]]) -> bool:
        credentials = [value for name, value in headers if name == b"authorization"]
        return len(credentials) == 1 and hmac.compare_digest(credentials[0], self._wanted)


def load_token(home: str, run_path: str) -> str:
    """Return the token of this home, which is created at the first use in a file that only its owner can read.

    Raises InvalidValueError if others can read the file, if it holds no token, or if it cannot be written.
    """
    path = os.path.join(home, TOKEN_FILE)
    try:
        with RunLock(run_path, "token", TURN_S):  # two servers may start at once; only one creates the token
            if not os.path.exists(path):
                with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as stream:
                    stream.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
    except OSError as exc:
        raise InvalidValueError(
            f"{path} cannot be written: {exc.strerror}", hint="check the folder's permissions"
        ) from exc
    return _read_token(path)


def _read_token(path: str) -> str:
    try:
        mode = os.stat(path).st_mode
        with open(path, encoding="ascii") as stream:
            token = stream.read().strip()
    except (OSError, UnicodeDecodeError) as exc:
        raise InvalidValueError(f"{path} cannot be read: {exc}", hint=f"remove {path}; a new one is made") from exc
    if len(token) < TOKEN_BYTES:
        raise InvalidValueError(f"{path} holds no token", hint=f"remove {path}; a new one is made")
    if os.name == "posix" and mode & 0o077:
        raise InvalidValueError(f"{path} can be read by others", hint=f"remove {path}; a new one is made")
    return token


def open_line(port: int) -> socket.socket:
    """Return a listening socket on the loopback address. Raises InvalidValueError if the port cannot be used."""
    line = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            line.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        line.bind((ADDRESS, port))
        line.listen(BACKLOG)
    except (OSError, OverflowError) as exc:
        line.close()
        why = exc.strerror if isinstance(exc, OSError) else "ports go from 0 to 65535"
        raise InvalidValueError(
            f"port {port} on {ADDRESS}: {why}", hint="choose another port, or --port 0 for a free one"
        ) from exc
    return line


def _tell(url: str, token_file: str, folder: str) -> None:
    """Print the address, the folder and how a client connects; not the token, which a terminal would record."""
    print(
        f"holdfast: serving the memory of {folder} at {url}; Ctrl-C stops it\n"
        f"holdfast: clients send the header `Authorization: Bearer <token>`; the token is in {token_file}\n"
        f"holdfast: claude mcp add -s local -t http holdfast {url} "
        f'-H "Authorization: Bearer $(cat {token_file})"',
        file=sys.stderr,
        flush=True,
    )
