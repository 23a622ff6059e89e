"""The private socket of a running server, which hooks ask instead of opening the store themselves.

The folder is accessible to its owner only. Each process has one socket, and each connection carries one request.
`home/hookline` describes the protocol. A separate thread learns from finished turns, so that learning never
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
from holdfast.domain.moments import PATIENT_MOMENTS
from holdfast.home.handover import start_learner
from holdfast.home.hookline import REQUEST_S, Answering, Request, is_own_user, read_request, serving_host
from holdfast.home.runfiles import LearningLock, embed_in_turn, leave_errand, note
from holdfast.home.spool import Spool, drain
from holdfast.lean.texts import loads
from holdfast.learning.learn import LearnReport
from holdfast.recall.embed import probe
from holdfast.service import hook
from holdfast.settings import Settings, child_environment, load_settings, socket_folder

BACKLOG = 16
"""Connections of hooks that may wait to be accepted."""
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
        self._turns: dict[str, threading.Lock] = {}
        """By session: a hook waits until the answer before it is logged, and so does not show the same again."""
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
            # The host will soon end this server too, so the learner must be a process of its own.
            start_learner(render_errand(call))
        elif call.ends_turn:
            self._learner.add(call)

    def _log_failure(self, step: str, exc: Exception) -> None:
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
