"""The private socket of a running server: hooks ask it instead of opening the store themselves.

Owner-only folder, one socket a process, one request a connection. The protocol is told in `surfaces/hooks/rendezvous`.
Learning from a finished turn waits in a queue of its own thread and never keeps an answer waiting.
"""

from __future__ import annotations

import atexit
import os
import queue
import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from holdfast._version import __version__
from holdfast.bootstrap import Memory
from holdfast.domain.hookcall import HookCall, render_errand
from holdfast.domain.jsontext import loads
from holdfast.runfiles import LearningTurn, embed_in_turn, note
from holdfast.service import hook
from holdfast.service.learn import LearnReport
from holdfast.settings import socket_folder
from holdfast.transcripts import keep_turn

BACKLOG = 16
REQUEST_S = 0.5
"""How long a hook may take to say what it wants; it says it at once or never."""

DELIVER_S = 0.16
"""How long a delivery may take: a hook that has waited for 0.2 s answers alone."""

REQUEST_LIMIT = 17_000_000
SETTLE_S = 3.0
"""Before learning what crashed sessions left: the session's own start goes first."""

EMBEDDED_AT_ONCE = 100
"""Lessons given a vector after a turn; the others follow after the next, or with the learner."""

FOLLOW_EVERY_S = 600.0
"""Seconds between two looks through all lessons for code that has moved; every delivery follows its own anyway."""

SWITCH_S = 0.0005
"""How long a thread may keep others waiting: Python's 5 ms, for each step of a hook, add up to a late answer."""

LEAVE_S = 2.0
"""How long closing waits for what is being learnt."""

Closer = Callable[[], None]


def serve(memory: Memory, run_path: str) -> Closer:
    """Answer hooks in daemon threads until the returned function is called or the process ends.

    Raises OSError where there can be no private socket; hooks then answer alone.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    sys.setswitchinterval(SWITCH_S)
    server = _Server(memory, _open_folder(socket_folder(run_path)))
    server.start()
    atexit.register(server.close)
    return server.close


class _Server:
    def __init__(self, memory: Memory, folder: str) -> None:
        self._memory = memory
        self._learner = _Learner(memory)
        self._path = os.path.join(folder, f"{os.getpid()}.sock")
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        _remove(self._path)
        self._line.bind(self._path)
        os.chmod(self._path, 0o600)
        self._line.listen(BACKLOG)

    def start(self) -> None:
        self._learner.start()
        threading.Thread(target=self._accept, daemon=True, name="holdfast-hook-socket").start()

    def close(self) -> None:
        """Take the socket away: hooks answer alone from now on. Calling it twice is fine."""
        if self._line.fileno() < 0:
            return
        _remove(self._path)
        with suppress(OSError):  # not on every system
            self._line.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._line.close()
        self._learner.close()

    def _accept(self) -> None:
        while True:
            try:
                asking, _ = self._line.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._answer, args=(asking,), daemon=True, name="holdfast-hook").start()

    def _answer(self, asking: socket.socket) -> None:
        """One hook's request; whatever goes wrong, hanging up tells the hook to answer alone."""
        with asking:
            try:
                asking.settimeout(REQUEST_S)
                host, payload = self._read_request(asking)
                if host:
                    self._send(asking, self._respond(host, payload))
            except Exception as exc:  # a thread's exception would go to the host's terminal
                self._complain("socket", exc)

    def _send(self, asking: socket.socket, answer: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # the hook waits no longer and answers alone
            asking.sendall(answer)

    def _read_request(self, asking: socket.socket) -> tuple[str, bytes]:
        """Host name and payload; no host for a request that is not meant for us."""
        request = bytearray()
        while part := asking.recv(1_048_576):
            request += part
            if len(request) > REQUEST_LIMIT:
                return "", b""
        line, _, payload = bytes(request).partition(b"\n")
        version, _, rest = line.decode("utf-8", "replace").partition("\t")
        store, _, host = rest.partition("\t")
        meant = version == __version__ and store == self._memory.settings.store
        return (host, payload) if meant else ("", b"")

    def _respond(self, host: str, payload: bytes) -> bytes:
        until_s = self._memory.parts.clock.elapsed_s() + DELIVER_S
        told = loads(payload.decode("utf-8", "replace"))
        memory = self._memory.for_hooks()
        call = hook.parse(memory, host, told if isinstance(told, dict) else {})
        text = hook.respond(memory, call, self._complain, until_s)
        if call.ends_turn and not call.ends_session:
            self._learner.add(call)
        # The session's host is about to end us too: the learner has to be a process of its own.
        errand = render_errand(call) if call.ends_session else ""
        return f"{errand}\n{text}".encode("utf-8", "replace")

    def _complain(self, step: str, exc: Exception) -> None:
        note(self._memory.settings.log_path, f"server {step}", exc)


class _Learner:
    """One thread that learns from finished turns, one after another."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._calls: queue.SimpleQueue[HookCall | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True, name="holdfast-learner")

    def start(self) -> None:
        self._thread.start()

    def add(self, call: HookCall) -> None:
        """Learn from the call's session soon."""
        self._calls.put(call)

    def close(self) -> None:
        """Take no more turns, and let the one in work end: whoever closes us closes the store next."""
        self._closed.set()
        self._calls.put(None)
        self._thread.join(LEAVE_S)

    def _work(self) -> None:
        if self._closed.wait(SETTLE_S):
            return
        try:
            # a store of its own: whoever holds the shared one for long keeps hooks waiting
            with Memory(self._memory.folder, settings=self._memory.settings) as own:
                self._memory = own
                self._run(lambda: self._complain(own.learn_pending()))
                self._run(lambda: embed_in_turn(own, own.settings.run_path, EMBEDDED_AT_ONCE))
                self._take_turns(own)
        except Exception as exc:  # the sessions' ends are learnt from by processes of their own
            note(self._memory.settings.log_path, "server learner", exc)

    def _take_turns(self, own: Memory) -> None:
        followed = -FOLLOW_EVERY_S
        while (call := self._calls.get()) is not None and not self._closed.is_set():
            self._run(lambda held=call: self._learn_turn(held))  # type: ignore[misc]
            self._run(lambda: embed_in_turn(own, own.settings.run_path, EMBEDDED_AT_ONCE))
            if own.parts.clock.elapsed_s() - followed >= FOLLOW_EVERY_S:
                self._run(lambda held=call: own.at(held.cwd).follow_moves())  # type: ignore[misc]
                followed = own.parts.clock.elapsed_s()

    def _learn_turn(self, call: HookCall) -> None:
        keep_turn(self._memory, call)
        self._complain(self._memory.at(call.cwd).learn(call.session))

    def _complain(self, report: LearnReport) -> None:
        for why in report.failed:
            note(self._memory.settings.log_path, "server learn", RuntimeError(why))

    def _run(self, learn: Callable[[], object]) -> None:
        try:
            with LearningTurn(self._memory.settings.run_path) as ours:
                if ours:
                    learn()
        except Exception as exc:  # learning is repeated at the session's end; the server goes on
            note(self._memory.settings.log_path, "server learn", exc)


def _open_folder(folder: str) -> str:
    """The folder, ours and closed to others, without what servers that were killed left. Raises OSError."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    held = os.lstat(folder)
    if held.st_uid != os.getuid() or held.st_mode & 0o170000 != 0o040000:
        raise PermissionError(f"{folder} is not a folder of this user")
    if held.st_mode & 0o077:
        os.chmod(folder, 0o700)
    for name in os.listdir(folder):
        if name.endswith(".sock") and not _is_alive(os.path.join(folder, name)):
            _remove(os.path.join(folder, name))
    return folder


def _is_alive(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(0.2)
        try:
            line.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # busy is alive
    return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as exc:
        if not isinstance(exc, FileNotFoundError):
            print(f"holdfast: {path}: {exc}", file=sys.stderr)
