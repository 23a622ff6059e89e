"""Slow and many connections do not stay open, and whoever asks something is answered all the while."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
import uvicorn

from holdfast.server.slowness import LimitedConfig, LimitedProtocol

WAIT_S = 60.0
"""A test that waits for so long has failed; none measures how long anything takes."""
HEAD = "GET / HTTP/1.1\r\nHost: x\r\n"
POST = HEAD.replace("GET", "POST")
LONG = 64_000_000
Start = Callable[..., int]


class Answers:
    """Reads the body and says how long it was; `/long` answers with many bytes, and `ended` is set when it is over."""

    def __init__(self) -> None:
        self.ended = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        is_long = scope["path"] == "/long"
        length = b"%d" % (LONG if is_long else 2)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        if not is_long:
            await send({"type": "http.response.body", "body": b"%02d" % len(body)})
            return
        for _ in range(LONG // 64_000):
            await send({"type": "http.response.body", "body": bytes(64_000), "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        self.ended.set()


@pytest.fixture
def answers() -> Answers:
    return Answers()


@pytest.fixture
def start(answers: Answers) -> Iterator[Start]:
    """Start a server with those limits; its port."""
    with ExitStack() as ended:

        def start(request_s: float = WAIT_S * 10, send_s: float = WAIT_S * 10, connections: int = 128) -> int:
            line = ended.enter_context(socket.create_server(("127.0.0.1", 0)))
            config = LimitedConfig(answers, http=LimitedProtocol, log_level="error", ws="none", lifespan="off")
            config.request_s, config.send_s, config.connections = request_s, send_s, connections
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
        "", "GET / HT", HEAD, POST + "Content-Length: 9\r\n\r\nhalf",
        POST + "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    ],
    ids=["nothing", "half a line", "half a head", "half a body", "half the chunks"],
)  # fmt: skip
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


def test_a_client_that_takes_nothing_of_its_answer_is_cut_off(start: Start, answers: Answers) -> None:
    port = start(send_s=0.2)
    with connect(port, HEAD.replace("/", "/long", 1) + "\r\n") as opened:
        assert opened.recv(12) == b"HTTP/1.1 200"
        assert answers.ended.wait(WAIT_S)  # what answers is not held up for ever
        taken = 12
        with pytest.raises(ConnectionError):  # noqa: PT012  # what the kernels held arrives first
            while part := opened.recv(1_000_000):
                taken += len(part)
            raise ConnectionResetError
    assert taken < LONG
    assert ask(port).startswith(b"HTTP/1.1 200")


def test_a_client_that_takes_its_answer_slowly_gets_all_of_it(start: Start) -> None:
    port = start()
    with connect(port, HEAD.replace("/", "/long", 1) + "Connection: close\r\n\r\n") as opened:
        stream = opened.makefile("rb")
        while stream.readline().strip():
            pass
        assert sum(len(part) for part in iter(lambda: stream.read(100_000), b"")) == LONG


def test_many_half_open_connections_keep_nobody_out(start: Start) -> None:
    port = start(connections=8)
    with ExitStack() as stack:
        half_open = [stack.enter_context(connect(port, "GET / HT")) for _ in range(40)]
        assert ask(port).startswith(b"HTTP/1.1 200")
        assert all(is_cut_off(connection) for connection in half_open[:30])
