"""Doctor's proof that hosts can start the MCP server: starts it in the current folder as they do, and greets it."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

from holdfast.errors import HoldfastError
from holdfast.installing.hostfiles import SETUP_SCOPES, HostFiles
from holdfast.settings import Settings, child_environment, isolated
from holdfast.surfaces.cli.findings import BAD, OK, CheckFinding

SERVER_NAME = "holdfast"
START_TIMEOUT_S = 30.0
"""Seconds that an MCP server may take to answer its first request."""
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "holdfast doctor", "version": "1"},
    },
}  # fmt: skip


def check_server(settings: Settings) -> Iterator[CheckFinding]:
    """Check that the server answers in the current folder, once for each registered command, with a scratch memory."""
    commands = registered_servers(settings) or {tuple(isolated("holdfast.surfaces.mcp.__main__")): "holdfast setup"}
    for command, mend in commands.items():
        problem = start_server(list(command), os.getcwd())
        if problem:
            yield CheckFinding(BAD, "server", f"the MCP server does not start in {os.getcwd()}: {problem}", mend)
            return
    yield CheckFinding(OK, "server", "the MCP server answers in this folder")


def registered_servers(settings: Settings) -> dict[tuple[str, ...], str]:
    """Return the different commands by which hosts start the server, and for each the command that registers it."""
    try:
        manifest = HostFiles(settings.home).manifest
    except HoldfastError:
        return {}  # another check-up reports it
    servers: dict[tuple[str, ...], str] = {}
    for edit in (edit for entry in manifest.values() for edit in entry["edits"]):
        host, scope, _ = edit["owner"].split(":", 2)
        words = server_words(edit.get("value")) if edit.get("key") == SERVER_NAME and scope in SETUP_SCOPES else []
        kind = tuple(words[: words.index("--for")] if "--for" in words else words)
        if kind:
            servers.setdefault(kind, f"holdfast setup {host}")
    return servers


def server_words(value: Any) -> list[str]:
    """Return the program and arguments of a server's entry in any host's form; [] if the value is not an entry."""
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("transport"), dict):
        value = value["transport"]
    program = value.get("command", value.get("cmd"))
    words = program if isinstance(program, list) else [program, *value.get("args", ())]
    return [word for word in words if isinstance(word, str)]


def start_server(command: list[str], folder: str) -> str:
    """Start a server in the folder with a scratch memory; return why it does not answer, or "" if it does."""
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-", ignore_cleanup_errors=True) as scratch:
        environment = child_environment(HOLDFAST_HOME=os.path.join(os.path.realpath(scratch), "home"))
        environment.pop("HOLDFAST_STORE", None)
        try:
            server = subprocess.Popen(
                command, cwd=folder, env=environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
        except OSError as exc:
            return f"{command[0]}: {exc.strerror}"
        try:
            out, err = server.communicate(json.dumps(HELLO).encode() + b"\n", START_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate()
            return f"no answer in {START_TIMEOUT_S:.0f} s"
    if b'"serverInfo"' in out:
        return ""
    last = err.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return last or f"it ended with exit {server.returncode}"
