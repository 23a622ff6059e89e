"""The MCP server as bytes: older revisions' handshakes and broken lines on stdio; HTTP and who may not come in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

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
