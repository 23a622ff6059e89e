"""The first answers of the MCP server, given before the SDK is imported. Lean.

Some hosts do not wait for a server: one that answers `initialize` and `tools/list` late has no tools in the whole
session. Their answers are constants (`offers.json`, written by scripts/render_mcp_offers.py from what the SDK's server
answers; a test holds the two together), so they are given at once while another thread imports the rest. Whatever else
a client sends is the SDK's server's: it is told the handshake again, and gets every line that was not answered here.

A host without hooks of ours is told what matters in the instructions, which needs the memory: it is not met here.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from holdfast._version import __version__
from holdfast.errors import HoldfastError
from holdfast.lean.texts import dumps, loads
from holdfast.surfaces.mcp.greeting import HOOKED, is_registered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Thread
    from typing import Any

    from holdfast.surfaces.mcp.serving import Serving

    Json = dict[str, Any]

OFFERS = "offers.json"
HANDSHAKES = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
"""Revisions that a client opens with `initialize`, all answered alike."""
MODERN = "2026-07-28"
"""The revision whose requests each carry who asks."""
ENVELOPE = "io.modelcontextprotocol/"


class Opening:
    """What the SDK's server must know of the time before it."""

    def __init__(self, lines: list[bytes], answered: tuple[str | int, ...] = ()) -> None:
        self.lines = lines
        """What the client sent: the handshake, and all that is still to be answered."""
        self.answered = answered
        """The id of the handshake's request, which has had its answer."""


class Door:
    """Answers what it can, then hands the streams over."""

    def __init__(self, host: str, hooked: bool) -> None:
        self._host = host
        self._hooked = hooked
        self._handshake: list[bytes] = []
        self._answered: tuple[str | int, ...] = ()
        self._is_open = False
        self._serving: Serving | None = None
        self._behind: Thread | None = None
        self._listed = False

    def run(self) -> None:
        """Answer, hand over, and serve until the host hangs up."""
        opening = self._attend() if self._is_hooked() else Opening([])
        if self._behind is not None:
            self._behind.join()
        (self._serving or self._make()).serve(opening)

    def _is_hooked(self) -> bool:
        """Whether the instructions are a constant: the host has hooks of ours that deliver."""
        if self._hooked:
            return True
        if not self._host:
            return False
        try:
            from holdfast.settings import load_settings

            if not is_registered(load_settings().home, self._host, os.getcwd()):
                return False
            name = self._host.replace("-", "_")
            if not name.isidentifier():
                return False
            module = __import__(f"holdfast.hosts.{name}", fromlist=["make"])
            return bool(module.make({}).profile.moments)
        except (HoldfastError, ImportError, OSError, AttributeError):
            return False  # the SDK's server finds out, and says what is wrong

    def _attend(self) -> Opening:
        """Answer until a line comes that is not ours to answer, or the tools were listed."""
        offers = self._offers()
        rest = b""
        while not self._listed:
            chunk = os.read(0, 65_536)
            *lines, rest = (rest + chunk).split(b"\n")
            for number, line in enumerate(lines):
                answer = self._answer(line, offers)
                if answer is None or not _write(answer):
                    return self._opening(lines[number:], rest)
            if not chunk:
                return self._opening([], rest)
            if self._is_open and not self._listed:
                self._begin()
        return self._opening([], rest)

    def _opening(self, lines: list[bytes], rest: bytes) -> Opening:
        """The lines left over; the last one is read to its end."""
        while rest and not rest.endswith(b"\n") and (chunk := os.read(0, 65_536)):
            rest += chunk
        lines = [*lines, *rest.split(b"\n")]
        return Opening([*self._handshake, *(line for line in lines if line.strip())], self._answered)

    def _answer(self, line: bytes, offers: Json) -> str | None:
        """The line that answers this one, empty where none is due; None where the SDK's server must."""
        try:
            message = loads(line.decode("utf-8"))
        except (HoldfastError, ValueError, RecursionError):
            return None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return None
        method, number, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "notifications/initialized" and self._answered and "id" not in message:
            self._handshake.append(dumps(message).encode())
            self._is_open = True
            return ""
        if not isinstance(number, (str, int)) or isinstance(number, bool):
            return None
        if not isinstance(params, dict) or set(message) - {"jsonrpc", "id", "method", "params"}:
            return None
        result = self._result(method, params, offers)
        if result is None:
            return None
        if method == "initialize":
            self._answered = (number,)
            self._handshake.append(dumps(message).encode())
        self._listed = self._listed or method == "tools/list"
        return dumps({"jsonrpc": "2.0", "id": number, "result": result})

    def _result(self, method: object, params: Json, offers: Json) -> Json | None:
        if method == "initialize" and not self._answered and not self._is_open and _is_handshake(params):
            return {**offers["initialize"], "protocolVersion": params["protocolVersion"], "instructions": HOOKED}
        if self._answered:
            if self._is_open and method == "tools/list" and not params:
                result: Json = offers["tools/list"]
                return result
            return {} if self._is_open and method == "ping" and not params else None
        if _is_modern(params) and method in ("tools/list", "server/discover"):
            self._is_open = True
            modern: Json = offers[f"modern {method}"]
            return {**modern, "instructions": HOOKED} if method == "server/discover" else modern
        return None

    def _offers(self) -> Json:
        with open(os.path.join(os.path.dirname(__file__), OFFERS), encoding="utf-8") as stream:
            return dict(loads(stream.read().replace("@VERSION@", __version__)))

    def _begin(self) -> None:
        """Make the rest while the client thinks: hooks are answered from then on."""
        if self._behind is None:
            import threading

            self._behind = threading.Thread(target=self._make_quietly, daemon=True, name="holdfast-server")
            self._behind.start()

    def _make_quietly(self) -> None:
        with suppress(Exception):  # made again in the foreground, where it is told
            self._serving = self._make()

    def _make(self) -> Serving:
        from holdfast.surfaces.mcp.serving import Serving

        return Serving(self._host, self._hooked)


def _is_handshake(params: Json) -> bool:
    """Whether these are the plain parameters of a revision we know; anything else the SDK judges."""
    client = params.get("clientInfo")
    return (
        params.get("protocolVersion") in HANDSHAKES
        and _are_plain(params.get("capabilities"))
        and isinstance(client, dict)
        and all(isinstance(client.get(name), str) for name in ("name", "version"))
        and all(isinstance(value, str) for value in client.values())
        and set(params) <= {"protocolVersion", "capabilities", "clientInfo"}
    )


def _are_plain(capabilities: object) -> bool:
    """Whether a client's capabilities are objects of objects and truth values."""
    if isinstance(capabilities, dict):
        return all(isinstance(value, bool) or _are_plain(value) for value in capabilities.values())
    return False


def _is_modern(params: Json) -> bool:
    about = params.get("_meta")
    return (
        set(params) == {"_meta"}
        and isinstance(about, dict)
        and set(about) <= {f"{ENVELOPE}{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities")}
        and about.get(f"{ENVELOPE}protocolVersion") == MODERN
        and _are_plain(about.get(f"{ENVELOPE}clientCapabilities"))
        and isinstance(about.get(f"{ENVELOPE}clientInfo"), dict)
        and all(isinstance(about[f"{ENVELOPE}clientInfo"].get(name), str) for name in ("name", "version"))
    )


def _write(line: str) -> bool:
    """Send a line; whether the client is still there. An empty one is nothing to send."""
    unsent = f"{line}\n".encode() if line else b""
    try:
        while unsent:
            unsent = unsent[os.write(1, unsent) :]
    except OSError:
        sys.exit(0)
    return True
