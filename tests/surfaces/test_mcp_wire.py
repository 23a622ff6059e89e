"""The MCP server as bytes: older revisions' handshakes and broken lines on stdio; HTTP and who may not come in."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ListRootsResult, Root, TextContent

from holdfast.bootstrap import Memory
from holdfast.errors import InvalidValueError
from holdfast.settings import load_settings
from holdfast.surfaces.mcp import loopback
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.server import build
from holdfast.testing.builders import make_event
from tests.codebase import Codebase

OLDEST = "2024-11-05"
NEWEST_HANDSHAKE = "2025-11-25"
MODERN = "2026-07-28"
WAIT_S = 120


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def opening(version: str = NEWEST_HANDSHAKE) -> dict[str, Any]:
    client = {"name": "wire", "version": "1"}
    return request(0, "initialize", protocolVersion=version, capabilities={}, clientInfo=client)


def enveloped(number: int, method: str, version: str = MODERN, **params: Any) -> dict[str, Any]:
    """A request of the stateless revision: what a handshake would have settled comes with each."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
    }
    return request(number, method, **params, _meta=meta)


INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    """Where servers are started."""
    made = tmp_path / "code"
    made.mkdir()
    return made


def environment(home: Path) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("CLAUDE")}
    return {**inherited, "HOME": str(home), "HOLDFAST_HOME": str(home)}


def converse(folder: Path, home: Path, *lines: bytes | dict[str, Any]) -> list[dict[str, Any]]:
    """What a server on stdio answers to these lines, up to the answer to the last of them; it must end well then."""
    content = b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    last = lines[-1]
    assert isinstance(last, dict)
    answers: list[dict[str, Any]] = []
    with subprocess.Popen(
        [sys.executable, "-m", "holdfast.surfaces.mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, cwd=folder, env=environment(home),
    ) as server:  # fmt: skip
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(content)
        server.stdin.flush()
        while not answers or answers[-1].get("id") != last["id"]:
            answers.append(json.loads(server.stdout.readline()))
        server.stdin.close()
        assert server.wait(WAIT_S) == 0
    return answers


def test_the_oldest_revision_is_served_and_broken_lines_are_answered_or_skipped(folder: Path, home: Path) -> None:
    broken: list[bytes] = [
        b"{", b"", b"null", b"[]", b'"x"', b"\xff\xfe\x00", b'{"jsonrpc":"2.0"}', b'{"jsonrpc":"2.0","id":7}',
        b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":7}}', b"[" * 5_000, b"x" * 2_000_000,
        b'{"jsonrpc":"2.0","id":9,"method":"no/such","params":{}}',
    ]  # fmt: skip
    answers = converse(folder, home, opening(OLDEST), INITIALIZED, *broken, request(10, "tools/list"))
    by_id = {answer.get("id"): answer for answer in answers}
    assert by_id[0]["result"]["protocolVersion"] == OLDEST
    assert len(by_id[10]["result"]["tools"]) == 6
    assert "resultType" not in by_id[10]["result"]
    assert by_id[8]["error"]["code"] == -32602
    assert by_id[9]["error"]["code"] == -32601


# HTTP


class Running:
    """`holdfast mcp --http` as a process, on a free port."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home = folder, home
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "mcp", "--http", "--port", "0", "-C", str(folder)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(home), text=True,
        )  # fmt: skip
        assert self.process.stderr is not None
        self.told = "".join(self.process.stderr.readline() for _ in range(3))
        self.url = self.told.partition(" at ")[2].partition(";")[0]
        self.port = int(self.url.rpartition(":")[2].partition("/")[0])
        self.token = (home / "mcp-token").read_text().strip()

    def post(self, body: bytes | dict[str, Any], token: str | None = None, **headers: str) -> tuple[int, str]:
        """Status and body of one POST."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT_S)
        sent = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.token if token is None else token}",
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        try:
            line.request("POST", "/mcp", body if isinstance(body, bytes) else json.dumps(body).encode(), sent)
            answer = line.getresponse()
            return answer.status, answer.read().decode()
        finally:
            line.close()

    def ask(self, method: str, version: str = MODERN) -> dict[str, Any]:
        """The answer to one request of the stateless revision."""
        _, body = self.post(enveloped(1, method, version), MCP_Protocol_Version=version, Mcp_Method=method)
        answer: dict[str, Any] = json.loads(body)
        return answer

    @asynccontextmanager
    async def client(self, mode: str, **more: Any) -> Any:
        """The official client with our token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=WAIT_S) as web:
            transport = streamable_http_client(self.url, http_client=web)
            async with Client(transport, mode=mode, **more) as opened:
                yield opened

    def end(self, sign: int = signal.SIGINT) -> tuple[int, str]:
        """Exit code and what it said at its end."""
        self.process.send_signal(sign)
        output, complaints = self.process.communicate(timeout=WAIT_S)
        return self.process.returncode, output + complaints


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for all that only asks."""
    home = tmp_path_factory.mktemp("http")
    folder = home / "code"
    folder.mkdir()
    server = Running(folder, home)
    yield server
    code, output = server.end()
    assert (code, "Traceback" in output) == (0, False), output


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_lesson_goes_round_over_http_in_both_eras(mode: str, running: Running) -> None:
    async def work() -> None:
        async with running.client(mode) as client:
            assert client.protocol_version == (NEWEST_HANDSHAKE if mode == "legacy" else MODERN)
            assert client.instructions.startswith("Memory of earlier sessions")
            with Memory(str(running.folder), settings=load_settings(environment(running.home))) as memory:
                words = "Amounts are kept in whole cents"
                memory.append([make_event(kind="prompt", text=words, project="", cwd=memory.folder, trust="person")])
            await client.call_tool("remember", {"insight": "Amounts are kept in whole cents"})
            answer = await client.call_tool("recall", {"query": "how are amounts kept"})
            (content,) = answer.content
            assert isinstance(content, TextContent)
            assert "whole cents" in content.text
            assert (await client.read_resource("holdfast://checkpoint")).contents

    asyncio.run(work())


@pytest.mark.parametrize(
    ("revision", "answered"),
    [("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"), ("1999-01-01", NEWEST_HANDSHAKE)],
)
def test_a_handshake_settles_on_its_revision_or_the_newest_there_is(
    revision: str, answered: str, running: Running
) -> None:
    status, body = running.post(opening(revision))
    (line,) = [line for line in body.splitlines() if line.startswith("data: {")]
    assert (status, json.loads(line[6:])["result"]["protocolVersion"]) == (200, answered)


def test_the_stateless_revision_needs_no_handshake(running: Running) -> None:
    discovered = running.ask("server/discover")["result"]
    assert MODERN in discovered["supportedVersions"]
    assert discovered["instructions"].startswith("Memory of earlier sessions")
    listed = running.ask("tools/list")["result"]
    assert (len(listed["tools"]), listed["cacheScope"]) == (6, "private")
    refused = running.ask("tools/list", "2099-01-01")["error"]
    assert refused["code"] == -32022
    assert MODERN in refused["data"]["supported"]


def test_several_clients_are_served_at_once(running: Running) -> None:
    async def work() -> None:
        async with running.client("legacy") as legacy, running.client("auto") as modern:
            calls = [
                client.call_tool("recall", {"query": f"amounts {n}"}) for n in range(5) for client in (legacy, modern)
            ]
            assert not any(result.is_error for result in await asyncio.gather(*calls))

    asyncio.run(work())


def test_a_client_over_http_says_which_project_it_is_about(running: Running, code: Codebase) -> None:
    with Memory(str(code.folder), settings=load_settings(environment(running.home))) as memory:
        lesson = memory.remember("Tides are given in metres above chart datum")

    async def roots(asking: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=code.folder.as_uri())])  # type: ignore[arg-type]

    async def work() -> None:
        async with running.client("legacy", list_roots_callback=roots) as client:
            answer = await client.call_tool("recall", {"query": "how are tides given"})
            assert answer.structured_content["lessons"] == [lesson.id]

    asyncio.run(work())


def test_it_says_where_it_is_and_how_to_get_in_but_not_the_token(running: Running) -> None:
    assert running.url == f"http://127.0.0.1:{running.port}/mcp"
    assert "Authorization: Bearer" in running.told
    assert str(running.home / "mcp-token") in running.told
    assert running.token not in running.told
    if os.name == "posix":
        assert (running.home / "mcp-token").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("token", ["", "wrong", "Bearer", "é"])
def test_nobody_comes_in_without_the_token(token: str, running: Running) -> None:
    status, body = running.post(opening(), token)
    assert status == 401
    assert "holdfast mcp --http prints how" in body


@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Host", "evil.example", 421),
        ("Host", "127.0.0.1", 421),
        ("Host", "127.0.0.1:1", 421),
        ("Host", "127.0.0.1.evil.example:{port}", 421),
        ("Origin", "http://evil.example", 403),
        ("Origin", "http://evil.example:{port}", 403),
        ("Origin", "null", 403),
        ("Origin", "https://127.0.0.1:{port}", 403),
        ("Origin", "http://127.0.0.1:{port}", 200),
        ("Host", "localhost:{port}", 200),
    ],
)
def test_a_rebound_name_or_a_foreign_page_is_refused_even_with_the_token(
    header: str, value: str, status: int, running: Running
) -> None:
    headers = {header: value.format(port=running.port)}
    assert running.post(opening(), **headers)[0] == status
    modern = enveloped(1, "tools/list")
    answered = running.post(modern, MCP_Protocol_Version=MODERN, Mcp_Method="tools/list", **headers)
    assert answered[0] == status


@pytest.mark.parametrize(
    ("body", "headers", "status", "message"),
    [
        (b"{", {}, 400, "Parse error"),
        (b"", {}, 400, ""),
        (b"[]", {}, 400, ""),
        (b"\xff\x00", {}, 400, ""),
        (b" " * 1_100_000, {}, 413, "too large"),
        (b"{}", {"Content_Type": "text/plain"}, 400, ""),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {"MCP_Protocol_Version": "2099-01-01"}, 400, ""),
        (b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', {"Mcp_Session_Id": "unknown"}, 404, "Session not found"),
    ],
)
def test_a_bad_request_is_refused_and_the_next_one_served(
    body: bytes, headers: dict[str, str], status: int, message: str, running: Running
) -> None:
    answered, text = running.post(body, **headers)
    assert (answered, message in text) == (status, True), text
    assert running.post(opening())[0] == 200


def test_only_this_machine_can_reach_it(running: Running) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as other:
        other.settimeout(1)
        assert other.connect_ex(("127.0.0.2", running.port)) != 0


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_it_ends_at_once_and_well_even_while_a_client_listens(folder: Path, home: Path) -> None:
    server = Running(folder, home)

    async def work() -> tuple[int, str]:
        async with server.client("legacy") as client:  # holds its stream open
            await client.list_tools()
            return await asyncio.to_thread(server.end, signal.SIGTERM)

    code, output = asyncio.run(work())
    assert (code, "Traceback" in output) == (0, False), output


def test_a_port_in_use_is_said_with_a_way_out(
    running: Running, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = MemoryOnce(str(folder))
    assert loopback.serve(build(memory), memory, running.port) == 1
    memory.close()
    stderr = capsys.readouterr().err
    assert f"error: port {running.port} on 127.0.0.1: " in stderr
    assert "hint: choose another port, or --port 0 for a free one" in stderr


def test_the_token_is_made_once_and_refused_when_others_could_know_it(tmp_path: Path) -> None:
    token = loopback.load_token(str(tmp_path), str(tmp_path / "run"))
    assert loopback.load_token(str(tmp_path), str(tmp_path / "run")) == token
    assert len(token) >= 32
    file = tmp_path / "mcp-token"
    if os.name == "posix":
        file.chmod(0o644)
        with pytest.raises(InvalidValueError, match="read by others"):
            loopback.load_token(str(tmp_path), str(tmp_path / "run"))
        file.chmod(0o600)
    for content in (b"", b"short", b"\xff" * 40):
        file.write_bytes(content)
        with pytest.raises(InvalidValueError, match="mcp-token"):
            loopback.load_token(str(tmp_path), str(tmp_path / "run"))
