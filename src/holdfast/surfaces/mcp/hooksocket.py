"""The private socket of a running server, which hooks ask instead of opening the store themselves.

The folder is accessible to its owner only. Each process has one socket, and each connection carries one request.
`surfaces/hooks/rendezvous` describes the protocol. A separate thread learns from finished turns, so that learning never
delays an answer.
"""

from __future__ import annotations

import atexit
import os
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from holdfast._version import __version__
from holdfast.backfill.transcripts import keep_turn, read_errands
from holdfast.bootstrap import Memory
from holdfast.curation.checkpoint import leave, leave_waiting
from holdfast.domain.hookcall import HookCall, render_errand
from holdfast.home.runfiles import LearningLock, embed_in_turn, leave_errand, note
from holdfast.home.spool import Spool, drain
from holdfast.lean.deadline import Deadline
from holdfast.lean.texts import loads
from holdfast.learning.learn import LearnReport
from holdfast.recall.embed import probe
from holdfast.service import hook
from holdfast.settings import socket_folder

BACKLOG = 16
"""Connections of hooks that may wait to be accepted."""
REQUEST_S = 0.5
"""How long a hook may take to say what it wants; it says it at once or never."""

HEARD_S = 3.0
"""How long a hook may take to say whether its host was told the answer."""
HEARD = b"+"

HEAD_LIMIT, PAYLOAD_LIMIT = 1_048_576, 17_000_000
"""Bytes of a request's first line, and of the payload after it."""
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

    What the first delivery would load is loaded before, because hooks that answer alone meanwhile are quicker. Raises
    OSError if there can be no private socket; hooks then answer alone.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    sys.setswitchinterval(SWITCH_S)
    _load_embedder(memory)
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
        self._answering: set[threading.Thread] = set()
        self._starting = threading.Lock()
        """Held while a thread is added and started, because a thread that has not started cannot be joined."""

    def start(self) -> None:
        self._learner.start()
        threading.Thread(target=self._accept, daemon=True, name="holdfast-hook-socket").start()

    def close(self) -> None:
        """Remove the socket; from then on hooks answer alone. A second call does nothing."""
        if self._line.fileno() < 0:
            return
        _remove(self._path)
        with suppress(OSError):  # not on every system
            self._line.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._line.close()
        self._learner.close()
        until_s = time.monotonic() + LEAVE_S
        with self._starting:
            answering = list(self._answering)
        for thread in answering:  # the caller closes the store next
            thread.join(max(0.0, until_s - time.monotonic()))

    def _accept(self) -> None:
        while True:
            try:
                asking, _ = self._line.accept()
            except OSError:
                return  # closed
            thread = threading.Thread(target=self._answer, args=(asking,), daemon=True, name="holdfast-hook")
            with self._starting:
                self._answering.add(thread)
                thread.start()

    def _answer(self, asking: socket.socket) -> None:
        """Answer one hook's request. After any error the connection is closed, and the hook answers alone."""
        with asking:
            try:
                asking.settimeout(REQUEST_S)
                host, payload = self._read_request(asking)
                if host:
                    self._respond(asking, host, payload)
            except Exception as exc:  # a thread's exception would go to the host's terminal
                self._log_failure("socket", exc)
            finally:
                with self._starting:
                    self._answering.discard(threading.current_thread())

    def _read_request(self, asking: socket.socket) -> tuple[str, bytes]:
        """Return host and payload; the host is "" for an incomplete request or one for another version or store."""
        request = bytearray()
        while b"\n" not in request:
            part = asking.recv(1_048_576)
            if not part or len(request) > HEAD_LIMIT:
                return "", b""
            request += part
        head, _, payload = request.partition(b"\n")
        version, store, host, size = (*head.decode("utf-8", "replace").split("\t"), "", "", "", "")[:4]
        if version != __version__ or store != self._memory.settings.store or not size.isdigit():
            return "", b""
        while len(payload) < int(size) <= PAYLOAD_LIMIT and (part := asking.recv(1_048_576)):
            payload += part
        return (host, bytes(payload)) if len(payload) == int(size) else ("", b"")

    def _respond(self, asking: socket.socket, host: str, payload: bytes) -> None:
        settings = self._memory.settings
        until_s = self._memory.services.clock.elapsed_s() + Deadline(0.0, settings.hook_deadline_ms / 1000).deliver_s
        plain = loads(payload.decode("utf-8", "replace"))
        memory = self._memory.for_hooks()
        call = hook.parse(memory, host, plain if isinstance(plain, dict) else {})
        if call.transcript and memory.services.capture:
            with suppress(OSError):  # for example a full disk; the learner still gets this turn from the queue
                leave_errand(settings.run_path, call)
        reply = _SocketReply(asking, call, lambda: memory.services.clock.elapsed_s() > until_s)
        hook.attend(memory, call, reply, self._log_failure, later=Spool(settings.run_path, host), until_s=until_s)
        if call.ends_turn and not (call.ends_session or call.may_be_last):
            self._learner.add(call)

    def _log_failure(self, step: str, exc: Exception) -> None:
        note(self._memory.settings.log_path, f"server {step}", exc)


class _SocketReply:
    """Sends the answer of `service.hook` to the hook that asked, and waits until it says whether its host got it."""

    def __init__(self, asking: socket.socket, call: HookCall, is_late: Callable[[], bool]) -> None:
        self._asking = asking
        self._is_late = is_late
        # The host will soon end this server too, so the learner must be a process of its own.
        self._errand = render_errand(call) if call.ends_session or call.may_be_last else ""

    def offer(self, text: str) -> None:
        """Do nothing: a hook that has stopped waiting answers alone."""

    def write_answer(self, text: str) -> str | None:
        """Send the answer and wait for the hook's confirmation; return None if the hook or the answer was too late.

        A late answer is not sent, because it may lack its lessons: the connection is closed and the hook answers alone.
        """
        if self._is_late():
            return None
        try:
            body = text.encode("utf-8", "replace")
            self._asking.sendall(f"{len(body)}\t{self._errand}\n".encode("utf-8", "replace") + body)
            self._asking.settimeout(HEARD_S)
            return text if self._asking.recv(1) == HEARD else None
        except OSError:
            return None


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
        """Accept no more turns, and wait for the current one, because the caller closes the store next."""
        self._closed.set()
        self._calls.put(None)
        self._thread.join(LEAVE_S)

    def _work(self) -> None:
        if self._closed.wait(SETTLE_S):
            return
        try:
            # a store of its own, because long use of the shared store would delay hooks
            with Memory(self._memory.folder, settings=self._memory.settings) as own:
                self._memory = own
                self._run(lambda: self._catch_up(own))
                self._run(lambda: embed_in_turn(own, own.settings.run_path, EMBEDDED_AT_ONCE))
                self._take_turns(own)
        except Exception as exc:  # learners in processes of their own still learn when sessions end
            note(self._memory.settings.log_path, "server learner", exc)

    def _take_turns(self, own: Memory) -> None:
        followed = -FOLLOW_EVERY_S
        while (call := self._calls.get()) is not None and not self._closed.is_set():
            self._run(lambda ended_turn=call: self._learn_turn(ended_turn))  # type: ignore[misc]
            self._run(lambda: embed_in_turn(own, own.settings.run_path, EMBEDDED_AT_ONCE))
            if own.services.clock.elapsed_s() - followed >= FOLLOW_EVERY_S:
                self._run(lambda ended_turn=call: own.at(ended_turn.cwd).follow_moves())  # type: ignore[misc]
                self._run(lambda ended_turn=call: own.at(ended_turn.cwd).prepare_brief(ended_turn.session))  # type: ignore[misc]
                followed = own.services.clock.elapsed_s()

    def _catch_up(self, own: Memory) -> None:
        """Learn from what crashed sessions left in the spool, in their transcripts, and among the events."""
        drain(own, own.settings.run_path)
        read_errands(own, own.settings.run_path, self._note)
        for why in leave_waiting(own.services):
            self._note(RuntimeError(why))
        self._log_failures(own.learn_pending())

    def _learn_turn(self, call: HookCall) -> None:
        run_path = self._memory.settings.run_path
        drain(self._memory, run_path)
        if not read_errands(self._memory, run_path, self._note, call):
            keep_turn(self._memory, call)
        here = self._memory.at(call.cwd)
        try:
            leave(here.services, here.location, call.session)  # a host that is killed tells of no end
        except Exception as exc:  # the turn is learnt from all the same
            self._note(exc)
        self._log_failures(here.learn(call.session))

    def _log_failures(self, report: LearnReport) -> None:
        for why in report.failed:
            note(self._memory.settings.log_path, "server learn", RuntimeError(why))

    def _note(self, exc: Exception) -> None:
        note(self._memory.settings.log_path, "server learn", exc)

    def _run(self, learn: Callable[[], object]) -> None:
        try:
            with LearningLock(self._memory.settings.run_path) as ours:
                if ours:
                    learn()
        except Exception as exc:  # the session's end repeats the learning; the server goes on
            note(self._memory.settings.log_path, "server learn", exc)


def _load_embedder(memory: Memory) -> None:
    """Embed a text if the embedder runs on this machine, so that the first prompt need not wait for its files."""
    try:
        embedder = memory.services.embedder()
        if getattr(embedder, "is_local", False):
            probe(memory.services)
    except Exception as exc:  # the tools report a broken embedder; hooks are answered without it
        note(memory.settings.log_path, "server embedder", exc)


def _open_folder(folder: str) -> str:
    """Create the folder for this user only, and remove sockets of killed servers; return it. Raises OSError."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    status = os.lstat(folder)
    if status.st_uid != os.getuid() or status.st_mode & 0o170000 != 0o040000:
        raise PermissionError(f"{folder} is not a folder of this user")
    if status.st_mode & 0o077:
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
            return True  # for example a full backlog: the server is busy, not gone
    return True


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as exc:
        if not isinstance(exc, FileNotFoundError):
            print(f"holdfast: {path}: {exc}", file=sys.stderr)
