"""Live changes, and clients that are slow or gone: nothing is told twice, nothing is left out, nothing stays open."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvicorn

from holdfast.surfaces.rest.kit import RequestLimits

from .world import SHOP, World, open_world

PATIENCE_S = 60
"""How long a test waits for what has to come; it is never waited for in vain."""
CHANGES = f"/projects/{SHOP}/changes"


def events(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the events of a stream with their ids."""
    found_events = []
    for block in text.replace("\r\n", "\n").split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "data" in fields:
            found_events.append((int(fields["id"]), json.loads(fields["data"])))
    return found_events


def test_a_stream_goes_on_where_the_client_was(world: World) -> None:
    saved = [world.lesson(f"Prefer module{number} over handmade code {number}")["id"] for number in range(3)]
    stream = world.call("GET", CHANGES + "?after=0", role="reader")
    assert stream.headers["content-type"].startswith("text/event-stream")
    assert [(id_, event["lesson"], event["seq"]) for id_, event in events(stream.text)] == [
        (1, saved[0], 1), (2, saved[1], 2), (3, saved[2], 3),
    ]  # fmt: skip
    resumed = world.call("GET", CHANGES, role="reader", headers={"Last-Event-ID": "2"})
    assert [id_ for id_, _ in events(resumed.text)] == [3]
    assert events(world.call("GET", CHANGES, role="reader").text) == []


def test_a_proposal_is_told_to_reviewers_and_its_proposer_alone(world: World) -> None:
    world.lesson("Retries are capped at 3", role="writer")
    counts = {role: len(events(world.call("GET", CHANGES + "?after=0", role=role).text)) for role in world.home.tokens}
    assert counts == {"reader": 0, "writer": 1, "reviewer": 1, "admin": 1, "author": 1, "proposer": 0}


@pytest.mark.parametrize(
    ("position", "status"), [("x", 400), ("", 400), ("-1", 400), ("1.0", 400), ("1" * 30, 400), ("7", 410)]
)
def test_a_position_that_never_was_is_refused(world: World, position: str, status: int) -> None:
    answer = world.call("GET", CHANGES, headers={"Last-Event-ID": position})
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_a_worker_takes_only_so_many_watchers(world: World) -> None:
    feed = world.client.app.state.kit.feed  # type: ignore[attr-defined]
    feed.most = 0
    assert world.call("GET", CHANGES).status_code == 503


# On a socket, over PostgreSQL


class Server:
    """The application of a world on a port of this machine."""

    def __init__(self, world: World) -> None:
        config = uvicorn.Config(world.client.app, host="127.0.0.1", port=0, log_level="error", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run)
        self._thread.start()
        wait_for(lambda: self._server.started)
        self.port: int = self._server.servers[0].sockets[0].getsockname()[1]

    def stop(self) -> None:
        """Stop it."""
        self._server.should_exit = True
        self._thread.join()

    def connect(self, head: str) -> socket.socket:
        """Send the beginning of a request, and return the connection."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        connection.sendall(head.replace("\n", "\r\n").encode())
        return connection


def wait_for(condition: Callable[[], Any]) -> None:
    """Return once the condition holds."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def read_until(connection: socket.socket, end: bytes) -> bytes:
    """Return what arrives, up to and with the first occurrence of those bytes."""
    received = b""
    while end not in received:
        part = connection.recv(4_096)
        assert part, received
        received += part
    return received


@pytest.fixture(scope="module")
def live(database: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Server]]:
    limits = RequestLimits(body_s=0.5)
    with open_world(tmp_path_factory.mktemp("world"), database.store_url(), limits) as world:
        feed = world.client.app.state.kit.feed  # type: ignore[attr-defined]
        feed.stream_s, feed.poll_s = PATIENCE_S, 0.05
        server = Server(world)
        try:
            yield world, server
        finally:
            server.stop()


def open_transactions(database: Any) -> int:
    """Count the transactions of the program that are open and do nothing."""
    with database.connect() as sql:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'"
        return int(sql.execute(query).fetchone()[0])


def head(world: World, method: str, path: str, *more: str) -> str:
    """Return the head of a reviewer's request."""
    token = f"Authorization: Bearer {world.home.tokens['reviewer']}"
    return "\n".join((f"{method} /v1{path} HTTP/1.1", "Host: here", token, *more)) + "\n\n"


def test_a_change_is_told_while_it_happens_and_no_transaction_waits_for_the_next(
    live: tuple[World, Server], database: Any
) -> None:
    world, server = live
    with server.connect(head(world, "GET", CHANGES)) as stream:
        read_until(stream, b"\r\n\r\n")
        wait_for(lambda: open_transactions(database) == 0)
        for number in range(3):
            saved = world.lesson(f"Prefer module{number} over handmade code {number}")
            read_until(stream, saved["id"].encode())
        wait_for(lambda: open_transactions(database) == 0)


def test_a_client_that_stops_in_mid_request_is_told_and_holds_nothing(
    live: tuple[World, Server], database: Any
) -> None:
    world, server = live
    more = ("Content-Type: application/json", "Content-Length: 100")
    with server.connect(head(world, "POST", f"/projects/{SHOP}/lessons", *more) + '{"insi') as slow:
        wait_for(lambda: open_transactions(database) == 0)
        answer = read_until(slow, b"\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"connection: close" in answer.lower()
    assert world.call("GET", f"/projects/{SHOP}/lessons").status_code == 200


def test_a_client_that_is_gone_in_mid_answer_leaves_no_transaction(live: tuple[World, Server], database: Any) -> None:
    world, server = live
    rows = [{"insight": f"Rule {n} of many {'words ' * 300}{n}", "kind": "fix"} for n in range(150)]
    assert world.lines(f"/projects/{SHOP}/import?accept=true", rows).status_code == 200
    for path in (f"/projects/{SHOP}/export", CHANGES + "?after=0", f"/projects/{SHOP}/documents"):
        gone = server.connect(head(world, "GET", path))
        read_until(gone, b"\r\n\r\n")
        gone.close()
    for body in (b"", b'{"in', b'{"insight": "half"}'):
        more = ("Content-Type: application/json", "Content-Length: 100")
        gone = server.connect(head(world, "POST", f"/projects/{SHOP}/lessons", *more))
        gone.sendall(body)
        gone.close()
    wait_for(lambda: open_transactions(database) == 0)
    assert world.call("GET", f"/projects/{SHOP}/lessons?tag=half").json()["items"] == []
    assert world.call("GET", f"/projects/{SHOP}/stats").status_code == 200
