"""Gives the first answers of the MCP server before the SDK is imported.

Some hosts do not wait: if a server answers `initialize` and `tools/list` late, its tools are missing for the whole
session. Their answers are constants in `offers.json`, which scripts/render_mcp_offers.py writes from the answers of the
SDK's server (a test compares the two). This module sends them at once, while another thread imports the rest. The SDK's
server then gets the handshake again, and every line that was not answered here.

A host without Holdfast's hooks gets a brief in its instructions, which needs the memory, but not the SDK.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from holdfast import plugins
from holdfast._version import __version__
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HoldfastError
from holdfast.lean.texts import dumps, loads
from holdfast.surfaces.mcp.greeting import greet, host_of, is_registered, must_ask

if TYPE_CHECKING:
    from typing import Any

    from holdfast.settings import Settings
    from holdfast.surfaces.mcp.opening import MemoryOnce
    from holdfast.surfaces.mcp.serving import Serving

    Json = dict[str, Any]

OFFERS = "offers.json"
HANDSHAKES = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})
"""Protocol revisions that a client opens with `initialize`; all get the same answer."""
MODERN = "2026-07-28"
"""The stateless protocol revision, in which each request carries the client's name and capabilities."""
ENVELOPE = "io.modelcontextprotocol/"
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")
"""Requests whose answers are constants."""
LISTEN, ACKNOWLEDGED = "subscriptions/listen", "notifications/subscriptions/acknowledged"
SUBSCRIPTION = f"{ENVELOPE}subscriptionId"
SOCKET_S = 1.0
"""How long the import of the SDK waits for the hooks' socket: it takes several times longer than opening the socket."""
NOTIFICATIONS = ("toolsListChanged", "promptsListChanged", "resourcesListChanged")


class Opening:
    """What the SDK's server must know about the messages that came before it was ready."""

    def __init__(
        self, lines: list[bytes], answered: tuple[str | int, ...] = (), acknowledged: tuple[str | int, ...] = ()
    ) -> None:
        self.lines = lines
        """Lines from the client: the handshake, subscriptions, and all lines that still need an answer."""
        self.answered = answered
        """The id of the handshake's request, which has already been answered."""
        self.acknowledged = acknowledged
        """The ids of the subscriptions that have already been acknowledged."""


class Door:
    """Answers the first requests from constants, then passes the streams to the SDK's server."""

    def __init__(self, host: str, hooked: bool) -> None:
        self._host = host
        self._hooked = hooked
        self._handed_on: list[bytes] = []
        """Lines that were answered but that the SDK's server must get too: the handshake and subscriptions."""
        self._answered: tuple[str | int, ...] = ()
        self._acknowledged: tuple[str | int, ...] = ()
        self._is_open = False
        self._serving: Serving | None = None
        self._behind: threading.Thread | None = None
        self._opening_socket: threading.Thread | None = None
        self._listed = False
        self._instructions = greet(hooked=True, asks=False) if hooked else ""
        self._memory: MemoryOnce | None = None
        self._lock = threading.Lock()
        self._session = ""

    def run(self) -> None:
        """Answer the first requests, then serve until the host closes the connection."""
        opening = self._attend()
        if self._behind is not None:
            self._behind.join()
        (self._serving or self._make()).serve(opening)

    def _instruct(self, client: object, has_roots: bool) -> str:
        """Return the instructions for the client of that name; empty where the SDK's server must write them.

        They are constant for a host with Holdfast hooks that deliver. Other hosts get a brief.
        """
        if self._instructions or not isinstance(client, str):
            return self._instructions
        try:
            from holdfast.settings import host_session, load_settings

            settings = load_settings()
            session_host, self._session = host_session()
            host = self._host or (session_host if self._session else host_of(client))
            self._instructions = self._greet_hooked(settings, host) or self._brief(settings, host, has_roots)
        except (HoldfastError, ImportError, OSError, AttributeError):
            pass  # the SDK's server meets the same error and reports it
        return self._instructions

    def _greet_hooked(self, settings: Settings, host: str) -> str:
        """Return the instructions for a host with Holdfast hooks that deliver; empty for others."""
        name = host.replace("-", "_")
        if not is_registered(settings.home, host, os.getcwd()) or not name.isidentifier():
            return ""
        moments = plugins.load("hosts", host).profile.moments
        return greet(hooked=True, asks=must_ask(settings, moments)) if moments else ""

    def _brief(self, settings: Settings, host: str, has_roots: bool) -> str:
        """Return instructions with the brief; empty if the client's roots must say which project it is about."""
        if settings.database_path and not os.path.exists(settings.database_path):
            return greet(hooked=False, asks=must_ask(settings, ()))  # nothing was ever stored
        from holdfast.surfaces.mcp.instructions import ANSWER_S, instruct, is_project

        memory = self._shared_memory()
        if has_roots and not is_project(memory):
            return ""
        session = self._session = self._session or os.urandom(16).hex()
        texts: list[str] = []

        def write() -> None:
            with suppress(Exception):  # the client must still get the tools, which report a broken store
                texts.append(instruct(memory().at(memory.folder), settings, host, SessionId(session)))

        thread = threading.Thread(target=write, daemon=True, name="holdfast-brief")
        thread.start()
        thread.join(ANSWER_S)
        return texts[0] if texts else greet(hooked=False, asks=True)

    def _attend(self) -> Opening:
        """Answer until a line needs the SDK's server, or until the tools were listed."""
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
            self._begin_socket()
            if self._is_open and not self._listed:
                self._begin()
        return self._opening([], rest)

    def _opening(self, lines: list[bytes], rest: bytes) -> Opening:
        """Return the opening with the remaining lines; an incomplete last line is read to its end."""
        while rest and not rest.endswith(b"\n") and (chunk := os.read(0, 65_536)):
            rest += chunk
        lines = [*lines, *rest.split(b"\n")]
        lines = [*self._handed_on, *(line for line in lines if line.strip())]
        return Opening(lines, self._answered, self._acknowledged)

    def _answer(self, line: bytes, offers: Json) -> str | None:
        """Return the answer to a line, "" if none is due, or None if the SDK's server must answer."""
        try:
            message = loads(line.decode("utf-8"))
        except (HoldfastError, ValueError, RecursionError):
            return None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return None
        method, number, params = message.get("method"), message.get("id"), message.get("params", {})
        if method == "notifications/initialized" and self._answered and "id" not in message:
            self._handed_on.append(dumps(message).encode())
            self._is_open = True
            return ""
        if not isinstance(number, (str, int)) or isinstance(number, bool):
            return None
        if not isinstance(params, dict) or set(message) - {"jsonrpc", "id", "method", "params"}:
            return None
        if method == LISTEN and not self._answered and (wanted := _subscription(params)):
            self._is_open = True
            self._acknowledged = (*self._acknowledged, number)
            self._handed_on.append(dumps(message).encode())
            about = {"_meta": {SUBSCRIPTION: number}, "notifications": wanted}
            return dumps({"jsonrpc": "2.0", "method": ACKNOWLEDGED, "params": about})
        result = self._result(method, params, offers)
        if result is None:
            return None
        if method == "initialize":
            self._answered = (number,)
            self._handed_on.append(dumps(message).encode())
        self._listed = self._listed or method == "tools/list"
        return dumps({"jsonrpc": "2.0", "id": number, "result": result})

    def _result(self, method: object, params: Json, offers: Json) -> Json | None:
        if method == "initialize" and not self._answered and not self._is_open and _is_handshake(params):
            text = self._instruct(params["clientInfo"]["name"], "roots" in params["capabilities"])
            about = {"protocolVersion": params["protocolVersion"], "instructions": text}
            return {**offers["initialize"], **about} if text else None
        if self._answered:
            if not self._is_open or set(params) - {"_meta"}:  # nothing in `_meta` changes these answers
                return None
            return {} if method == "ping" else offers[method] if method in LISTS else None
        if _is_modern(params) and method in (*LISTS, "server/discover"):
            self._is_open = True
            modern: Json = offers[f"modern {method}"]
            if method != "server/discover":
                return modern
            text = self._instruct(params["_meta"][f"{ENVELOPE}clientInfo"]["name"], has_roots=False)
            return {**modern, "instructions": text} if text else None
        return None

    def _offers(self) -> Json:
        with open(os.path.join(os.path.dirname(__file__), OFFERS), encoding="utf-8") as stream:
            return dict(loads(stream.read().replace("@VERSION@", __version__)))

    def _begin_socket(self) -> None:
        """Open the hooks' socket in a thread, before the SDK is imported: a session's first prompt comes soon."""
        if self._opening_socket is None:
            self._opening_socket = threading.Thread(target=self._open_socket, daemon=True, name="holdfast-hooks")
            self._opening_socket.start()

    def _open_socket(self) -> None:
        """Open the socket. If that fails (no Unix sockets, a broken store), print why; hooks then answer alone."""
        try:
            from holdfast.surfaces.mcp.hooksocket import serve

            memory = self._shared_memory()()
            serve(memory, memory.settings.run_path)
        except Exception as exc:  # the server's tools must work without the socket, or report the same error
            print(f"holdfast: hooks answer alone: {exc}", file=sys.stderr)

    def _shared_memory(self) -> MemoryOnce:
        """Return the memory that the tools and the hooks' socket share."""
        from holdfast.surfaces.mcp.opening import MemoryOnce

        with self._lock:
            self._memory = self._memory or MemoryOnce(os.getcwd())
            return self._memory

    def _begin(self) -> None:
        """Build the SDK's server in a thread."""
        if self._behind is None:
            self._behind = threading.Thread(target=self._make_quietly, daemon=True, name="holdfast-server")
            self._behind.start()

    def _make_quietly(self) -> None:
        with suppress(Exception):  # `run` builds it again in the main thread, where the error is reported
            self._serving = self._make()

    def _make(self) -> Serving:
        self._begin_socket()
        if self._opening_socket is not None:
            self._opening_socket.join(SOCKET_S)
        from holdfast.surfaces.mcp.serving import Serving

        return Serving(self._host, self._hooked, self._shared_memory(), self._session, self._instructions)


def _is_handshake(params: Json) -> bool:
    """Return whether these are the plain parameters of a known revision; the SDK judges everything else."""
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
    """Return whether a client's capabilities are nested objects of booleans."""
    if isinstance(capabilities, dict):
        return all(isinstance(value, bool) or _are_plain(value) for value in capabilities.values())
    return False


def _subscription(params: Json) -> Json:
    """Return the notifications that a plain subscription asks for, as the SDK orders them; the SDK judges others."""
    wanted = params.get("notifications")
    if set(params) != {"_meta", "notifications"} or not _is_modern({"_meta": params["_meta"]}):
        return {}
    if not isinstance(wanted, dict) or set(wanted) - set(NOTIFICATIONS) or not all(v is True for v in wanted.values()):
        return {}
    return {name: True for name in NOTIFICATIONS if name in wanted}


def _is_modern(params: Json) -> bool:
    about = params.get("_meta")
    names = {f"{ENVELOPE}{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities")}
    return (
        set(params) == {"_meta"}
        and isinstance(about, dict)
        and set(about) <= {*names, "progressToken"}
        and about.get(f"{ENVELOPE}protocolVersion") == MODERN
        and _are_plain(about.get(f"{ENVELOPE}clientCapabilities"))
        and isinstance(about.get(f"{ENVELOPE}clientInfo"), dict)
        and all(isinstance(about[f"{ENVELOPE}clientInfo"].get(name), str) for name in ("name", "version"))
    )


def _write(line: str) -> bool:
    """Send a line, unless it is empty; return True. Ends the process if the client is gone."""
    unsent = f"{line}\n".encode() if line else b""
    try:
        while unsent:
            unsent = unsent[os.write(1, unsent) :]
    except OSError:
        sys.exit(0)
    return True
