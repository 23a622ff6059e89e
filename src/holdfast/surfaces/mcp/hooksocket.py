"""The private socket of a running server, which hooks ask instead of opening the store themselves.

The folder is accessible to its owner only. Each process has one socket, and each connection carries one request.
`home/hookline` describes the protocol. Learners are processes of their own, so that learning never delays an answer.
"""

from __future__ import annotations

import atexit
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from holdfast._version import __version__
from holdfast.bootstrap import Memory
from holdfast.domain.hookcall import HookCall, render_errand
from holdfast.domain.moments import PATIENT_MOMENTS
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HoldfastError
from holdfast.home.handover import SYNC, TURN, has_leftovers, is_left_waiting, is_sync_due, start_learner
from holdfast.home.hookline import REQUEST_S, Answering, Request, is_own_user, read_request, serving_host
from holdfast.home.runfiles import leave_errand, note
from holdfast.home.spool import Spool
from holdfast.lean.texts import loads
from holdfast.recall.embed import probe
from holdfast.service import hook
from holdfast.settings import Settings, child_environment, load_settings, socket_folder

BACKLOG = 16
"""Connections of hooks that may wait to be accepted."""
SETTLE_S = 3.0
"""Before learning what crashed sessions left: the session's own start goes first."""

SWITCH_S = 0.0005
"""How long a thread may keep others waiting: Python's 5 ms, for each step of a hook, add up to a late answer."""

DELIVERY = ("holdfast.recall.deliver", "holdfast.recall.written", "holdfast.freshness.notice", "holdfast.text.prompts")
"""Modules that an answer imports when it needs them."""

LEAVE_S = 2.0
"""How long closing waits for hooks that are being answered."""

Closer = Callable[[], None]


def serve(memory: Memory, run_path: str) -> Closer:
    """Answer hooks in daemon threads until the returned function is called or the process ends.

    What the first delivery would load is loaded before, because hooks that answer alone meanwhile are quicker. Raises
    OSError if there can be no private socket; hooks then answer alone.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise OSError("this system has no Unix sockets")
    sys.setswitchinterval(SWITCH_S)
    for module in DELIVERY:
        import_module(module)
    _load_embedder(memory)
    server = _Server(memory, _open_folder(socket_folder(run_path)))
    server.start()
    atexit.register(server.close)
    return server.close


class _Server:
    def __init__(self, memory: Memory, folder: str) -> None:
        self._memory = memory
        self._learners = _Learners()
        self._path = os.path.join(folder, f"{os.getpid()}.sock")
        self._line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        _remove(self._path)
        self._line.bind(self._path)
        os.chmod(self._path, 0o600)
        self._line.listen(BACKLOG)
        self._answering: set[threading.Thread] = set()
        self._turns: dict[str, threading.Lock] = {}
        """By session: a hook waits until the answer before it is logged, and so does not show the same again."""
        self._starting = threading.Lock()
        """Held while a thread is added and started, because a thread that has not started cannot be joined."""

    def start(self) -> None:
        settled = threading.Timer(SETTLE_S, self._catch_up)
        settled.daemon = True
        settled.start()
        threading.Thread(target=self._accept, daemon=True, name="holdfast-hook-socket").start()

    def close(self) -> None:
        """Remove the socket; from then on hooks answer alone. A second call does nothing."""
        if self._line.fileno() < 0:
            return
        _remove(self._path)
        with suppress(OSError):  # not on every system
            self._line.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        self._line.close()
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
                request = read_request(asking) if is_own_user(asking) else None
                settings = self._settings_of(request) if request else None
                if request and settings:
                    self._respond(asking, request, settings)
            except Exception as exc:  # a thread's exception would go to the host's terminal
                self._log_failure("socket", exc)
            finally:
                with self._starting:
                    self._answering.discard(threading.current_thread())

    def _settings_of(self, request: Request) -> Settings | None:
        """Return the hook's settings; None if it is of another version or has another store."""
        own = self._memory.settings
        if request.version != __version__:
            return None
        environment = child_environment(HOLDFAST_HOME=own.home, HOLDFAST_STORE=request.store)
        settings = load_settings(environment)  # the config file may have changed since this server started
        return settings if settings.store == own.store else None

    def _respond(self, asking: socket.socket, request: Request, settings: Settings) -> None:
        host = serving_host(request.host, request.names)
        if not host or not (settings.capture or settings.deliver):
            Answering(asking).write_nothing()
            return
        deadline = request.deadline(settings.hook_deadline_ms / 1000)
        until_s = time.monotonic() + deadline.deliver_s
        plain = loads(request.payload.decode("utf-8", "replace"))
        memory = self._memory.for_hooks()
        call = hook.parse(memory, host, plain if isinstance(plain, dict) else {})
        if call.transcript and memory.services.capture:
            with suppress(OSError):  # for example a full disk; the learner still gets this turn from the queue
                leave_errand(settings.run_path, call)
        ends = call.ends_session or call.may_be_last
        reply = Answering(asking, refuse_after_s=until_s, releases=not ends)
        reply.wait_until(deadline, is_patient=call.moment in PATIENT_MOMENTS)
        turn = self._turns.setdefault(call.session, threading.Lock())
        has_turn = turn.acquire(timeout=deadline.deliver_s)
        try:
            hook.attend(memory, call, reply, self._log_failure, later=Spool(settings.run_path, host), until_s=until_s)
        finally:
            if has_turn:
                turn.release()
        if ends:
            self._learners.start(render_errand(call))
        elif call.ends_turn:
            self._learners.add_turn(call)

    def _catch_up(self) -> None:
        """Learn what crashed sessions left in the spool, in their transcripts, and among the events."""
        with suppress(HoldfastError):  # the hooks report a broken store
            if is_left_waiting(self._memory.settings.run_path) or has_leftovers(self._memory.services.store):
                self._learners.start()
        if is_sync_due(self._memory.settings.home, self._memory.settings.run_path):
            call = HookCall(host="", name=SYNC, session=SessionId(""), cwd=self._memory.folder)
            self._learners.start(render_errand(call), SYNC)

    def _log_failure(self, step: str, exc: Exception) -> None:
        note(self._memory.settings.log_path, f"server {step}", exc)


class _Learners:
    """Starts the processes that learn: at once for a session that ends, one after another for turns that end."""

    def __init__(self) -> None:
        self._turns: dict[str, HookCall] = {}
        """By session, those whose last turn is still to be learnt from."""
        self._lock = threading.Lock()
        self._is_working = False

    def start(self, errand: str = "", *options: str) -> None:
        """Learn from all sessions now, or what an option says: the host may soon end this server and its children.

        The process that is started leaves the work to a child and ends at once, so the learner is nobody's child when
        this returns, and only then does the hook let the host go on.
        """
        process = start_learner(errand, *options)
        if hasattr(os, "fork"):
            _reap(process)
        else:
            threading.Thread(target=_reap, args=(process,), daemon=True, name="holdfast-learner").start()

    def add_turn(self, call: HookCall) -> None:
        """Learn from the call's session soon."""
        with self._lock:
            self._turns[call.session] = call
            if self._is_working:
                return
            self._is_working = True
        threading.Thread(target=self._work, daemon=True, name="holdfast-learner").start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._turns:
                    self._is_working = False
                    return
                _, call = self._turns.popitem()
            _reap(start_learner(render_errand(call), TURN))


def _reap(process: int) -> None:
    """Wait for the learner's end, so that it does not stay as a zombie."""
    with suppress(OSError):
        os.waitpid(process, 0)


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
