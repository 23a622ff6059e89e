"""Requests over a real socket: what is sent again, what is not, and what a caller is told."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from holdfast.client import transport
from holdfast.client.requests import HttpRequest, body, path
from holdfast.client.transport import AsyncTransport, Transport, check_url
from holdfast.errors import (
    HoldfastError,
    InvalidValueError,
    NotFoundError,
    NotSignedInError,
    QuotaExceededError,
    RateLimitedError,
    ServerError,
    ServerUnreachableError,
    StaleWriteError,
    StoreError,
)

OK = (200, {}, b'{"answer": 42}')
BREAK_OFF = (0, {}, b"")


class Server(ThreadingHTTPServer):
    """Answers what it is told to, in turn, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[tuple[int, dict[str, str], bytes]] = []
        self.received: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def _answer(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.received.append((self.command, self.path, headers, content))
        status, more, answer = self.server.answers.pop(0) if self.server.answers else OK
        if not status:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response(status)
        for name, value in more.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(transport, "backoff_s", lambda attempt: 0.01)
    with Server() as made:
        thread = Thread(target=made.serve_forever, args=(0.05,))
        thread.start()
        yield made
        made.shutdown()
        thread.join()


def ask(method: str = "GET", **more: Any) -> HttpRequest[Any]:
    return HttpRequest(method=method, path="/version", read=lambda reply: reply.json()["answer"], **more)


def send(server: Server, request: HttpRequest[Any]) -> Any:
    client = Transport(server.url, "hf_secret", timeout_s=5.0)
    try:
        return client.send(request)
    finally:
        client.close()


def problem(status: int, **fields: Any) -> tuple[int, dict[str, str], bytes]:
    return status, {"Content-Type": "application/problem+json"}, json.dumps({"status": status, **fields}).encode()


def test_a_request_is_sent_with_its_token_and_its_parts_encoded(server: Server) -> None:
    request = HttpRequest(
        method="POST", path=path("projects", "git:a/b c", "lessons"), query={"q": "ä&b"},
        body=body(insight="ü", why=None),
        read=lambda reply: reply.json(),
    )  # fmt: skip
    assert send(server, request) == {"answer": 42}
    method, target, headers, content = server.received[0]
    assert (method, target) == ("POST", "/v1/projects/git%3Aa%2Fb%20c/lessons?q=%C3%A4%26b")
    assert headers["authorization"] == "Bearer hf_secret"
    assert headers["content-type"] == "application/json"
    assert json.loads(content) == {"insight": "ü"}


def test_a_client_says_how_far_the_feed_was_after_its_writes(server: Server) -> None:
    def about(project: str) -> HttpRequest[Any]:
        return HttpRequest(method="POST", path=path("projects", project, "recall"), read=lambda reply: reply.status)

    def answered(*positions: str) -> list[tuple[int, dict[str, str], bytes]]:
        return [(200, {"Holdfast-After": position} if position else {}, b"{}") for position in positions]

    def received() -> list[str | None]:
        sent = [headers.get("holdfast-after") for _, _, headers, _ in server.received]
        server.received.clear()
        return sent

    requests = [about("a"), about("b"), about("a"), about("a"), ask()]
    positions = [*answered("7", "3", "5", "words"), OK]
    server.answers = positions[:]
    client = Transport(server.url, "hf_secret")
    for request in requests:
        client.send(request)
    client.close()
    assert received() == ["0", "0", "7", "7", None]

    async def send_all() -> None:
        client = AsyncTransport(server.url, "hf_secret")
        for request in requests:
            await client.send(request)
        await client.close()

    server.answers = positions[:]
    asyncio.run(send_all())
    assert received() == ["0", "0", "7", "7", None]


@pytest.mark.parametrize("failure", [BREAK_OFF, problem(502), problem(504), problem(408)])
def test_a_repeatable_request_is_sent_again_and_another_one_is_not(
    server: Server, failure: tuple[int, dict[str, str], bytes]
) -> None:
    server.answers = [failure]
    assert send(server, ask(is_repeatable=True)) == 42
    assert len(server.received) == 2
    server.answers = [failure]
    with pytest.raises(ServerError):
        send(server, ask("POST", body=b"{}"))
    assert len(server.received) == 3


def test_a_busy_server_is_asked_again_after_its_pause(server: Server) -> None:
    server.answers = [(429, {"Retry-After": "0"}, b"{}"), (503, {"Retry-After": "0"}, b"{}")]
    assert send(server, ask("POST", body=b"{}")) == 42
    assert len(server.received) == 3


def test_a_server_that_stays_in_trouble_is_one_that_cannot_be_reached(server: Server) -> None:
    server.answers = [(503, {"Retry-After": "0"}, b'{"detail": "no database", "hint": "later"}')] * 9
    with pytest.raises(ServerUnreachableError, match="the server has trouble: no database") as raised:
        send(server, ask())
    assert raised.value.hint == "later"


def test_a_pause_longer_than_the_time_left_is_left_to_the_caller(server: Server) -> None:
    server.answers = [(429, {"Retry-After": "120"}, json.dumps({"detail": "too many"}).encode())]
    with pytest.raises(RateLimitedError, match="too many") as raised:
        send(server, ask())
    assert raised.value.retry_after_s == 120
    assert len(server.received) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (401, NotSignedInError), (402, QuotaExceededError), (404, NotFoundError), (412, StaleWriteError),
        (422, InvalidValueError), (507, StoreError), (500, ServerError), (418, ServerError),
    ],
)  # fmt: skip
def test_a_problem_is_the_error_that_the_store_would_raise(
    server: Server, status: int, kind: type[HoldfastError]
) -> None:
    server.answers = [problem(status, title="t", detail="it is so", hint="do that")]
    with pytest.raises(kind, match="it is so") as raised:
        send(server, ask())
    assert raised.value.hint == "do that"  # type: ignore[attr-defined]


def test_the_faults_of_a_body_are_named(server: Server) -> None:
    server.answers = [problem(422, detail="1 value is impossible", errors=[{"where": "body.kind", "what": "unknown"}])]
    with pytest.raises(InvalidValueError, match=r"impossible; body\.kind: unknown"):
        send(server, ask())


@pytest.mark.parametrize("content", [b"<html>", b"", b"\xff\xfe", b'{"answer"'])
def test_an_address_of_something_else_is_said_to_be_one(server: Server, content: bytes) -> None:
    server.answers = [(200, {}, content), (404, {}, content)]
    for _ in range(2):
        with pytest.raises(HoldfastError) as raised:
            send(server, ask())
        assert "address of a Holdfast server" in raised.value.hint


def test_no_server_is_a_clear_error_without_the_token() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        client = Transport(f"http://127.0.0.1:{taken.getsockname()[1]}", "hf_secret", timeout_s=1.0)
        with pytest.raises(ServerUnreachableError, match="refused") as raised:
            client.send(ask())
        client.close()
    assert "hf_secret" not in str(raised.value) + repr(client)


def test_a_redirect_is_not_followed_because_the_token_would_go_with_it(server: Server) -> None:
    server.answers = [(302, {"Location": f"{server.url}/elsewhere"}, b"")]
    with pytest.raises(ServerError, match="302"):
        send(server, ask())
    assert len(server.received) == 1


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory.example.com",
        "ftp://a",
        "http://memory.example.com",
        "https://u:p@a",
        "ftp://u:p@a",
        "https://a/?x=1",
    ],
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        check_url(url)
    assert "u:p" not in str(raised.value)


def test_an_address_loses_its_last_slash_and_keeps_its_path() -> None:
    assert check_url("https://a.example/memory/") == "https://a.example/memory"
    assert check_url("http://[::1]:8080") == "http://[::1]:8080"


def test_the_awaited_transport_does_the_same(server: Server) -> None:
    async def run() -> tuple[Any, str]:
        client = AsyncTransport(server.url, "hf_secret", timeout_s=5.0)
        server.answers = [problem(502), OK, problem(404, detail="nothing")]
        answer = await client.send(ask(is_repeatable=True))
        with pytest.raises(NotFoundError) as raised:
            await client.send(ask())
        await client.close()
        return answer, str(raised.value)

    assert asyncio.run(run()) == (42, "nothing")
