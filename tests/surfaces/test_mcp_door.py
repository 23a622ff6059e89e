"""The first answers of the MCP server: the SDK's own, but given before it is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from scripts.render_mcp_offers import ENVELOPE, HANDSHAKE, SERVE, TARGET, render

from holdfast.surfaces.mcp.door import _subscription

START = str(Path(__file__).parents[2] / "src" / "holdfast" / "surfaces" / "start.py")
DOOR = ["-I", START, "holdfast.surfaces.mcp.__main__", "--hooked"]
OTHERS = pytest.mark.nightly("starts the SDK's server once more")
INITIALIZED = {"method": "notifications/initialized"}
MODERN = {"params": {"_meta": ENVELOPE}}


class Server:
    """A server process, spoken to line by line."""

    def __init__(self, arguments: list[str], home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=home,
            env={**os.environ, "HOLDFAST_HOME": str(home), "HOME": str(home)},
        )  # fmt: skip

    def send(self, *messages: dict[str, Any] | bytes) -> None:
        assert self.process.stdin is not None
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps({"jsonrpc": "2.0", **message}).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answers(self, count: int) -> list[dict[str, Any]]:
        assert self.process.stdout is not None
        return [json.loads(self.process.stdout.readline()) for _ in range(count)]


@contextmanager
def served(arguments: list[str], home: Path) -> Iterator[Server]:
    server = Server(arguments, home)
    with server.process:
        yield server
        server.process.stdin.close()  # type: ignore[union-attr]


def test_the_constants_are_what_the_sdks_server_answers() -> None:
    assert TARGET.read_text(encoding="utf-8") == render(), "run scripts/render_mcp_offers.py"


def test_hooks_are_served_before_the_sdk_is_needed(tmp_path: Path) -> None:
    with served(DOOR, tmp_path) as server:
        server.send({"id": 0, "method": "initialize", "params": HANDSHAKE})
        server.answers(1)
        until = time.monotonic() + 20
        while not (opened := list((tmp_path / "run").glob("*.sock"))) and time.monotonic() < until:
            time.sleep(0.02)
        modules = Path(f"/proc/{server.process.pid}/maps")
        assert opened
        if modules.exists():
            assert "pydantic_core" not in modules.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "revision",
    ["2025-06-18", *(pytest.param(r, marks=OTHERS) for r in ("2024-11-05", "2025-03-26", "2025-11-25"))],
)
def test_each_older_revision_is_answered_as_by_the_sdk(tmp_path: Path, revision: str) -> None:
    handshake = {"id": 0, "method": "initialize", "params": {**HANDSHAKE, "protocolVersion": revision}}
    answers = []
    for arguments in (DOOR, ["-c", SERVE]):
        with served(arguments, tmp_path / str(len(answers))) as server:
            server.send(handshake, INITIALIZED, {"id": "two", "method": "tools/list"})
            answers.append(server.answers(2))
    assert answers[0] == answers[1]


def test_the_newest_revision_is_answered_as_by_the_sdk(tmp_path: Path) -> None:
    answers = []
    for arguments in (DOOR, ["-c", SERVE]):
        with served(arguments, tmp_path / str(len(answers))) as server:
            server.send({"id": 1, "method": "server/discover", **MODERN})
            first = server.answers(1)
            server.send({"id": 2, "method": "tools/list", **MODERN})
            answers.append(first + server.answers(1))
    assert answers[0] == answers[1]


def test_the_first_answers_come_without_the_sdk(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['mcp'] = sys.modules['anyio'] = sys.modules['pydantic'] = None\n"
        "from holdfast.surfaces.mcp.door import Door; Door('', True).run()"
    )
    with served(["-c", program], tmp_path) as server:
        server.process.stderr = None
        server.send({"id": 0, "method": "initialize", "params": HANDSHAKE}, INITIALIZED, {"id": 1, "method": "ping"})
        assert [answer["id"] for answer in server.answers(2)] == [0, 1]
        server.process.kill()


ABOUT = {**ENVELOPE, "progressToken": 0}
LISTEN = {"toolsListChanged": True, "promptsListChanged": True, "resourcesListChanged": True}
OPENINGS = {
    "Codex": [
        {"id": 0, "method": "initialize", "params": HANDSHAKE}, INITIALIZED,
        {"id": 1, "method": "tools/list", "params": {"_meta": {"progressToken": 0}}},
    ],
    "Gemini CLI": [
        {"id": 0, "method": "initialize", "params": HANDSHAKE}, INITIALIZED,
        {"id": 1, "method": "prompts/list", "params": {}}, {"id": 2, "method": "resources/list"},
        {"id": 3, "method": "resources/templates/list"}, {"id": 4, "method": "tools/list"},
    ],
    "Claude Code": [
        {"id": 1, "method": "server/discover", **MODERN},
        {"id": 2, "method": "subscriptions/listen", "params": {"_meta": ENVELOPE, "notifications": LISTEN}},
        {"id": 3, "method": "prompts/list", **MODERN}, {"id": 4, "method": "resources/list", **MODERN},
        {"id": 5, "method": "resources/templates/list", **MODERN}, {"id": 6, "method": "tools/list", **MODERN},
    ],
    "Copilot CLI": [
        {"id": 1, "method": "server/discover", **MODERN},
        {"id": "l", "method": "subscriptions/listen",
         "params": {"_meta": ENVELOPE, "notifications": {"toolsListChanged": True}}},
        {"id": 2, "method": "server/discover", **MODERN}, {"id": 3, "method": "tools/list", "params": {"_meta": ABOUT}},
    ],
}  # fmt: skip
"""The requests that four hosts were seen to send first, with the lists that some ask for."""


@pytest.mark.parametrize("host", OPENINGS)
def test_no_line_of_a_hosts_opening_needs_the_sdk(tmp_path: Path, host: str) -> None:
    program = (
        "import sys; sys.modules['mcp'] = sys.modules['anyio'] = sys.modules['pydantic'] = None\n"
        "from holdfast.surfaces.mcp.door import Door; Door('', True).run()"
    )
    requests = [message for message in OPENINGS[host] if "id" in message]
    with served(["-c", program], tmp_path) as server:
        for message in OPENINGS[host]:  # one after another, as a host waits for each answer
            server.send(message)
            if "id" in message:
                (answer,) = server.answers(1)
                about = answer.get("params", {}).get("_meta", {})
                assert message["id"] == answer.get("id", about.get("io.modelcontextprotocol/subscriptionId"))
                assert "error" not in answer
        server.process.kill()
    assert requests[-1]["method"] == "tools/list"


@pytest.mark.parametrize("host", ["Claude Code", pytest.param("Gemini CLI", marks=OTHERS)])
def test_a_hosts_opening_is_answered_as_by_the_sdk(tmp_path: Path, host: str) -> None:
    ping = {"id": "last", "method": "ping"} if host == "Gemini CLI" else {
        "id": "last", "method": "tools/list", **MODERN}  # fmt: skip
    answers = []
    for arguments in (DOOR, ["-c", SERVE]):
        received: list[dict[str, Any]] = []
        with served(arguments, tmp_path / str(len(answers))) as server:
            for message in OPENINGS[host]:
                server.send(message)
                received += server.answers(1) if "id" in message else []
            server.send(ping)
            answers.append(received + server.answers(1))
    assert answers[0] == answers[1]
    assert answers[0][-1]["id"] == "last"


@pytest.mark.parametrize(
    "wanted",
    [{}, {"toolsListChanged": False}, {"resourceSubscriptions": ["holdfast://brief"]}, {"nope": True}, [], None, "all"],
)
def test_an_unusual_subscription_is_left_to_the_sdk(wanted: object) -> None:
    assert _subscription({"_meta": ENVELOPE, "notifications": wanted}) == {}
    assert _subscription({"_meta": {}, "notifications": LISTEN}) == {}
    assert _subscription({"notifications": LISTEN}) == {}


def test_what_is_sent_in_one_go_is_answered_once_each(tmp_path: Path) -> None:
    call = {"method": "tools/call", "params": {"name": "recall", "arguments": {"query": "amounts"}}}
    with served(DOOR, tmp_path) as server:
        server.send(
            {"id": 0, "method": "initialize", "params": HANDSHAKE}, INITIALIZED, {"id": 1, "method": "ping"},
            {"id": "0", "method": "tools/list"}, {"id": 3, **call}, {"id": 4, "method": "prompts/list"},
            {"method": "notifications/cancelled", "params": {"requestId": 99}}, {"id": 5, "method": "nope"},
        )  # fmt: skip
        answers = {answer["id"]: answer for answer in server.answers(6)}
        server.send({"id": 6, "method": "ping"})
        assert server.answers(1)[0]["id"] == 6
    assert set(answers) == {0, 1, "0", 3, 4, 5}
    assert answers[3]["result"]["structuredContent"]["lessons"] == []
    assert "error" in answers[5]


def test_a_line_that_comes_in_two_pieces_is_one_request(tmp_path: Path) -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HANDSHAKE}).encode()
    with served(DOOR, tmp_path) as server:
        assert server.process.stdin is not None
        server.process.stdin.write(line[:40])
        server.process.stdin.flush()
        server.send(line[40:])
        assert server.answers(1)[0]["id"] == 0


@pytest.mark.parametrize(
    "first",
    [
        b"no JSON at all",
        pytest.param(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/list"}', marks=OTHERS),
        pytest.param(
            b'{"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {"protocolVersion": "2025-11-25"}}',
            marks=OTHERS,
        ),
        b'{"jsonrpc": "2.0", "id": true, "method": "initialize", "params": {}}',
    ],
)
def test_what_is_odd_is_left_to_the_sdk(tmp_path: Path, first: bytes) -> None:
    with served(DOOR, tmp_path) as server:
        server.send(first, {"id": 1, "method": "initialize", "params": HANDSHAKE}, INITIALIZED)
        answers = server.answers(1)
        while answers[-1].get("id") != 1:
            answers += server.answers(1)
        assert answers[-1]["result"]["serverInfo"]["name"] == "holdfast"


def test_the_official_client_meets_the_door_and_the_server_behind_it(tmp_path: Path) -> None:
    async def talk() -> tuple[list[str], str]:
        parameters = StdioServerParameters(
            command=sys.executable, args=DOOR, cwd=tmp_path, env={"HOLDFAST_HOME": str(tmp_path), "HOME": str(tmp_path)}
        )
        async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as session:
            await session.initialize()
            tools = await session.list_tools()
            answer = await session.call_tool("remember", {"insight": "Amounts in money.py are whole cents."})
            await session.list_tools()
            return [tool.name for tool in tools.tools], str(answer.content)

    names, text = anyio.run(talk)
    assert names == ["recall", "expand", "remember", "revise", "checkpoint", "feedback"]
    assert "whole cents" in text or "saved" in text.lower()
