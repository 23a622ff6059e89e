"""Slow and many connections do not stay open, and whoever asks something is answered all the while."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvicorn

from holdfast.surfaces.mcp.loopback import TokenGuard, open_line
from holdfast.surfaces.mcp.slowness import limited

TOKEN = "t" * 40
WAIT_S = 60.0
"""A test that waits for so long has failed; none measures how long anything takes."""
HEAD = f"GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
Start = Callable[..., int]


async def answer(scope: Any, receive: Any, send: Any) -> None:
    """Read the body, then say how long it was."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"%02d" % len(body)})


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a server with those limits; its port."""
    with ExitStack() as ended:

        def start(request_s: float = WAIT_S * 10, most_connections: int = 128) -> int:
            line = ended.enter_context(open_line(0))
            protocol = limited(request_s, most_connections)
            config = uvicorn.Config(
                TokenGuard(answer, TOKEN), http=protocol, log_level="error", ws="none", lifespan="off"
            )
            server = uvicorn.Server(config)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [line]})
            thread.start()

            def stop() -> None:
                server.should_exit = server.force_exit = True
                thread.join(WAIT_S)

            ended.callback(stop)
            port: int = line.getsockname()[1]
            assert ask(port).startswith(b"HTTP/1.1 200")
            return port

        yield start


def connect(port: int, sent: str = "") -> socket.socket:
    opened = socket.create_connection(("127.0.0.1", port), WAIT_S)
    opened.sendall(sent.encode())
    return opened


def ask(port: int) -> bytes:
    """The answer to a whole request."""
    with connect_and_ask(port, "Connection: close\r\n") as (opened, first):
        return first + opened.makefile("rb").read()


@contextmanager
def connect_and_ask(port: int, more: str = "") -> Iterator[tuple[socket.socket, bytes]]:
    """A connection, and the first bytes of the answer to a whole request on it.

    On a busy machine this thread may rest between connecting and asking, and be cut off: then it asks again.
    """
    while True:
        with connect(port) as opened:
            try:
                opened.sendall(f"{HEAD}{more}\r\n".encode())
                first = opened.recv(1000)
            except ConnectionError:
                continue
            if first:
                yield opened, first
                return


def is_cut_off(opened: socket.socket) -> bool:
    """Wait until the server has ended the connection without an answer."""
    try:
        return opened.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "GET / HT",
        HEAD,
        HEAD.replace(TOKEN, "wrong"),
        HEAD.replace("GET", "POST") + "Content-Length: 9\r\n\r\nhalf",
        HEAD.replace("GET", "POST") + "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ],
    ids=["nothing", "half a line", "half a head", "half a head with a wrong token", "half a body", "half the chunks"],
)
def test_a_request_that_is_not_whole_in_time_is_cut_off(start: Start, sent: str) -> None:
    port = start(request_s=0.1)
    with connect(port, sent) as opened:
        assert is_cut_off(opened)
    assert ask(port).startswith(b"HTTP/1.1 200")


def test_bytes_that_trickle_in_win_no_time(start: Start) -> None:
    port = start(request_s=0.2)
    with connect(port, HEAD) as opened:
        ended = threading.Event()

        def trickle() -> None:
            try:
                while not ended.wait(0.02):
                    opened.sendall(b"X-A: b\r\n")
            except OSError:
                return

        thread = threading.Thread(target=trickle)
        thread.start()
        assert is_cut_off(opened)
        ended.set()
        thread.join(WAIT_S)


def test_a_second_request_that_stays_half_is_cut_off_too(start: Start) -> None:
    port = start(request_s=0.2)
    with connect_and_ask(port) as (opened, answered):
        while not answered.endswith(b"00"):
            answered += opened.recv(1000)
        assert answered.startswith(b"HTTP/1.1 200")
        opened.sendall(b"GET / HT")
        assert is_cut_off(opened)


def test_many_half_open_connections_keep_nobody_out(start: Start) -> None:
    port = start(most_connections=8)
    with ExitStack() as stack:
        half_open = [stack.enter_context(connect(port, "GET / HT")) for _ in range(40)]
        assert ask(port).startswith(b"HTTP/1.1 200")
        assert all(is_cut_off(connection) for connection in half_open[:30])


def test_a_wrong_token_is_refused_before_the_body_comes(start: Start) -> None:
    port = start()
    with connect(port, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n") as opened:
        assert opened.recv(12) == b"HTTP/1.1 401"
