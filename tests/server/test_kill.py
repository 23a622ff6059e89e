"""Nothing that was acknowledged is lost and nothing is stored twice, whoever is killed under load."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2 as httpx
import psycopg
import pytest

from tests.postgresql import Cluster, Clusters
from tests.server.ledger import Ledger
from tests.server.people import Founded, found
from tests.server.serving import WAIT_S, Server, served

PROJECT = "g1-harbour"
LONG = "long words " * 150
FIRST, LATER = 40, 40
"""Acknowledged writes before the kill, and after it."""


@pytest.fixture
def own_cluster(clusters: Clusters) -> Cluster:
    """A PostgreSQL server that a test may kill; it ends with the run."""
    return clusters.start()


@pytest.fixture
def environment(own_cluster: Cluster, tmp_path: Path) -> dict[str, str]:
    """What a server over that cluster is told."""
    own_cluster.create_database("team")
    return {
        "HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / ".holdfast"), "HOLDFAST_HOLDOUT": "0",
        "HOLDFAST_STORE": own_cluster.url("team"),
    }  # fmt: skip


@pytest.fixture
def team(environment: dict[str, str]) -> Founded:
    return found(**environment)


def make_project(url: str, team: Founded) -> None:
    headers = {"authorization": f"Bearer {team.key}"}
    made = httpx.post(f"{url}/v1/projects", json={"id": PROJECT, "name": PROJECT}, headers=headers, timeout=WAIT_S)
    assert made.is_success, made.text


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port: int = reserved.getsockname()[1]
        return port


def wait_until(holds: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(0.02)


def is_ready(server: Server) -> bool:
    try:
        return server.get("/v1/ready").is_success
    except httpx.HTTPError:
        return False


def test_a_killed_worker_is_replaced_and_nothing_is_lost(team: Founded) -> None:
    with served(["workers=2"], **team.environment) as server:
        make_project(server.url, team)
        ledger = Ledger(server.url, team.key, PROJECT)
        with ledger.load():
            for number in range(2):
                ledger.wait_for(FIRST * (number + 1))
                os.kill(server.workers[number], signal.SIGKILL)
                server.wait_for("a worker died", number + 1)
            ledger.wait_for(FIRST * 2 + LATER)
        ledger.check()
        assert server.count("a worker died") == 2
        numbers = server.get("/v1/metrics").text
        assert all(f'pid="{worker}"' not in numbers for worker in server.workers[:2])


def test_workers_are_renewed_under_load(team: Founded) -> None:
    with served(["workers=2"], **team.environment) as server:
        make_project(server.url, team)
        ledger = Ledger(server.url, team.key, PROJECT)
        with ledger.load():
            ledger.wait_for(FIRST)
            server.process.send_signal(signal.SIGHUP)
            server.wait_for("reloaded")
            ledger.wait_for(len(ledger.acknowledged) + LATER)
        ledger.check()
        assert len(set(server.workers)) == 4
        assert server.count("a worker died") == 0


def test_a_killed_server_leaves_its_address_and_nothing_is_lost(team: Founded) -> None:
    port = free_port()
    arguments = [f"port={port}", "workers=2"]
    with served(arguments, **team.environment) as first:
        make_project(first.url, team)
        ledger = Ledger(first.url, team.key, PROJECT)
        with ledger.load():
            ledger.wait_for(FIRST)
            first.process.kill()  # the one that watches; the workers notice it and stop
            first.wait_for("stopped", 2)
            with served(arguments, **team.environment) as second:
                ledger.wait_for(FIRST + LATER)
                os.killpg(second.process.pid, signal.SIGKILL)  # all of them at once
                second.process.wait(WAIT_S)
                with served(arguments, **team.environment) as third:
                    ledger.wait_for(FIRST + 2 * LATER)
                    ledger._stopped.set()
                    wait_until(lambda: not writers(), "the writers end")
                    ledger.check()
                    assert third.count("a worker died") == 0
    assert ledger.broken


def writers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if "(write)" in thread.name]


def test_a_killed_postgresql_is_waited_for_and_nothing_is_lost(team: Founded, own_cluster: Cluster) -> None:
    with served(["workers=2"], **team.environment) as server:
        make_project(server.url, team)
        ledger = Ledger(server.url, team.key, PROJECT)
        with ledger.load():
            ledger.wait_for(FIRST)
            own_cluster.kill()
            wait_until(lambda: server.get("/v1/ready").status_code == 503, "the server says that it is not ready")
            assert server.get("/v1/live").is_success
            own_cluster.start()
            wait_until(lambda: is_ready(server), "the server is ready again")
            ledger.wait_for(FIRST + LATER)
        ledger.check()
        assert server.count("a worker died") == 0
    assert "postgresql://" not in server.text


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of some megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=96m,mode=0777", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no small disk can be made here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=False)


def fill(disk: Path) -> Path:
    """Fill the disk to its last byte by a file; the file."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as stream, suppress(OSError):
        while stream.write(bytes(1_000_000)):
            pass
    with filler.open("ab", buffering=0) as stream, suppress(OSError):
        while stream.write(bytes(512)):
            pass
    return filler


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_a_full_disk_refuses_writes_and_loses_nothing(
    clusters: Clusters, small_disk: Path, tmp_path: Path, store: str
) -> None:
    url = f"sqlite://{small_disk}/memory.db" if store == "sqlite" else make_on(clusters.start(), small_disk)
    environment = {
        "HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / ".holdfast"), "HOLDFAST_HOLDOUT": "0",
        "HOLDFAST_STORE": url,
    }  # fmt: skip
    team = found(**environment)
    with served(**environment) as server:
        make_project(server.url, team)
        ledger = Ledger(server.url, team.key, PROJECT)
        with ledger.load(2):
            ledger.wait_for(10)
            filler = fill(small_disk)
            wait_until(lambda: sum(ledger.unready.values()) > 3, "writes are refused")
            headers = {"authorization": f"Bearer {team.key}"}
            url = f"{server.url}/v1/projects/{PROJECT}/lessons"
            assert httpx.get(url, headers=headers, timeout=WAIT_S).is_success  # reading goes on
            assert server.get("/v1/live").is_success
            filler.unlink()
            ledger.wait_for(len(ledger.acknowledged) + 10)
        assert set(ledger.unready) <= {503, 507}
        ledger.check()


def make_on(cluster: Cluster, disk: Path) -> str:
    """Make a database whose tables are on the disk; its URL."""
    folder = disk / "tables"
    folder.mkdir()
    data = (cluster.folder / "data").stat()
    os.chown(folder, data.st_uid, data.st_gid)
    for parent in [*disk.parents, disk]:
        if not parent.stat().st_mode & 0o001:
            parent.chmod(parent.stat().st_mode | 0o111)  # the server's user has to come through
    cluster.execute(f"CREATE TABLESPACE small LOCATION '{folder}'")
    cluster.execute("CREATE DATABASE small TABLESPACE small")
    return cluster.url("small")


# Transactions


@pytest.fixture
def filled(team: Founded) -> Iterator[Server]:
    """A server with a project of many lessons."""
    with served(["send_s=1", "stop_s=3"], **team.environment) as server:
        make_project(server.url, team)
        headers = {"authorization": f"Bearer {team.key}", "content-type": "application/x-ndjson"}
        for part in range(4):
            lines = "".join(
                json.dumps({"kind": "convention", "insight": f"Rule {part}x{number}: {LONG}file{part}x{number}.py"})
                + "\n"
                for number in range(250)
            )
            answer = httpx.post(
                f"{server.url}/v1/projects/{PROJECT}/import", content=lines, headers=headers, timeout=WAIT_S
            )
            assert answer.is_success, answer.text
        yield server


def open_transactions(cluster: Cluster) -> list[Any]:
    """Transactions of the server that are open at this moment."""
    with psycopg.connect(cluster.url("team"), autocommit=True) as connection:
        return connection.execute(
            "SELECT state, query FROM pg_stat_activity WHERE datname = 'team' AND pid <> pg_backend_pid()"
            " AND xact_start IS NOT NULL"
        ).fetchall()


def begin_export(server: Server, team: Founded, state: str = "active,candidate") -> socket.socket:
    """Ask for everything, and take nothing of it but the beginning."""
    host, _, port = server.url.removeprefix("http://").partition(":")
    opened = socket.create_connection((host, int(port)), WAIT_S)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    head = f"GET /v1/projects/{PROJECT}/export?state={state} HTTP/1.1\r\nHost: localhost\r\n"
    opened.sendall(f"{head}Authorization: Bearer {team.key}\r\n\r\n".encode())
    assert opened.recv(12) == b"HTTP/1.1 200"
    return opened


def test_a_client_that_leaves_or_stalls_keeps_no_transaction_open(
    filled: Server, team: Founded, own_cluster: Cluster
) -> None:
    for leaves in (True, False):
        done = filled.count("request")
        with begin_export(filled, team) as opened:
            if leaves:
                opened.close()
            wait_until(lambda: not open_transactions(own_cluster), "no transaction is open")
            filled.wait_for("request", done + 1)  # a client that takes nothing is cut off
    wait_until(lambda: not open_transactions(own_cluster), "no transaction is open")


def test_streams_end_and_requests_are_finished_when_the_server_stops(team: Founded) -> None:
    headers = {"authorization": f"Bearer {team.key}"}
    with served(["stop_s=10"], **team.environment) as server:
        make_project(server.url, team)
        address = f"{server.url}/v1/projects/{PROJECT}"
        saved = httpx.post(f"{address}/lessons", json={"insight": "Cents, no floats"}, headers=headers, timeout=WAIT_S)
        assert saved.is_success
        with httpx.stream("GET", f"{address}/changes?after=0", headers=headers, timeout=WAIT_S) as changes:
            lines = changes.iter_lines()
            while not next(lines).startswith("event: lesson"):
                pass
            server.process.send_signal(signal.SIGTERM)
            for _ in lines:  # the server ends the stream; it does not break off
                pass
        assert server.stop() in (0, -signal.SIGTERM)
        assert server.wait_for("stopped")
        assert not [entry for entry in server.log if entry.get("level") == "error"]
        with pytest.raises(httpx.ConnectError):
            server.get("/v1/live")


def test_a_request_that_was_begun_is_answered_while_the_server_stops(team: Founded) -> None:
    headers = {"authorization": f"Bearer {team.key}", "content-type": "application/x-ndjson"}
    lines = "".join(
        json.dumps({"kind": "convention", "insight": f"Rule {number}: {LONG}file{number}.py"}) + "\n"
        for number in range(100)
    )
    with served(["stop_s=60", "workers=2"], **team.environment) as server:
        make_project(server.url, team)
        answers: list[httpx.Response] = []

        def send() -> None:
            url = f"{server.url}/v1/projects/{PROJECT}/import"
            answers.append(httpx.post(url, content=lines, headers=headers, timeout=WAIT_S))

        sender = threading.Thread(target=send)
        sender.start()
        numbers = "holdfast_requests_open 2.0"  # the import, and the request that asks
        wait_until(lambda: numbers in server.get("/v1/metrics").text or bool(answers), "the import has begun")
        server.process.send_signal(signal.SIGTERM)
        sender.join(WAIT_S)
        assert [answer.status_code for answer in answers] == [200]
        assert server.stop() in (0, -signal.SIGTERM)
        assert server.count("stopped") == 2
