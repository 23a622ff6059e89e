"""What the processes of one user share besides the store: the hooks' log, turns, and how one starts another.

Lean, and imported only when something failed or is to be learnt.
"""

from __future__ import annotations

import os
import time

from holdfast.domain.errors import HoldfastError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.service.memory import Memory

LOG_LIMIT = 256_000
"""Bytes; when the log is longer, its older half goes."""

LINE_LIMIT = 2_000
NAP_S = 0.05


class Turn:
    """`with Turn(run_path, name, wait_s) as ours:` whether it is our turn; only one process's at a time for a name.

    It ends with the process at the latest, however that ends.
    """

    def __init__(self, run_path: str, name: str, wait_s: float = 0.0) -> None:
        self._run_path = run_path
        self._name = name
        self._wait_s = wait_s
        self._lock = -1

    def __enter__(self) -> bool:
        os.makedirs(self._run_path, mode=0o700, exist_ok=True)
        flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
        self._lock = os.open(os.path.join(self._run_path, self._name + ".lock"), flags, 0o600)
        deadline = time.monotonic() + self._wait_s
        while not _take(self._lock):
            if time.monotonic() >= deadline:
                return False
            time.sleep(NAP_S)
        return True

    def __exit__(self, *exc: object) -> None:
        os.close(self._lock)


class LearningTurn(Turn):
    """`with LearningTurn(run_path, wait_s) as ours:` whether it is our turn to learn."""

    def __init__(self, run_path: str, wait_s: float = 0.0) -> None:
        super().__init__(run_path, "learner", wait_s)


class EmbeddingTurn(Turn):
    """`with EmbeddingTurn(run_path, wait_s) as ours:` whether it is our turn to embed lessons."""

    def __init__(self, run_path: str, wait_s: float = 0.0) -> None:
        super().__init__(run_path, "embedder", wait_s)


def embed_in_turn(memory: Memory, run_path: str, limit: int) -> int:
    """As `Memory.embed_pending`; 0 while another process embeds, which would only do the same work twice."""
    with EmbeddingTurn(run_path) as ours:
        return memory.embed_pending(limit) if ours else 0


def _take(lock: int) -> bool:
    try:
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock
        except ImportError:
            import msvcrt

            msvcrt.locking(lock, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            flock(lock, LOCK_EX | LOCK_NB)
    except OSError:
        return False
    return True


def note(path: str, subject: str, exc: BaseException) -> None:
    """Append a line saying what failed and why; does nothing where there is no place to write."""
    if not path:
        return
    line = _line(subject, exc)
    try:
        _append(path, line.encode("utf-8", "replace"))
    except OSError:
        return  # a read-only or full disk: the host must not hear of it


def _line(subject: str, exc: BaseException) -> str:
    from holdfast.text.redaction import redact

    hint = f" ({exc.hint})" if isinstance(exc, HoldfastError) and exc.hint else ""
    told = redact(f"{subject}: {type(exc).__name__}: {exc}{hint}{_where(exc)}")
    clean = "".join(char if char.isprintable() else " " for char in told[:LINE_LIMIT])
    return f"{_now()} {clean.strip()}\n"


def _where(exc: BaseException) -> str:
    """The place in our code, for what was not raised on purpose."""
    trace = exc.__traceback__
    if trace is None or isinstance(exc, HoldfastError):
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _append(path: str, line: bytes) -> None:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        log = os.open(path, flags, 0o600)
    except FileNotFoundError:  # the first hook of all failed before there was a home
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        log = os.open(path, flags, 0o600)
    try:
        size = os.fstat(log).st_size
        if size > LOG_LIMIT:
            _forget_older_half(log, size)
        os.write(log, line)
    finally:
        os.close(log)


def _forget_older_half(log: int, size: int) -> None:
    os.lseek(log, size - LOG_LIMIT // 2, os.SEEK_SET)
    newer = os.read(log, LOG_LIMIT // 2).partition(b"\n")[2]
    os.ftruncate(log, 0)
    os.write(log, newer)


def start_detached(command: list[str]) -> None:
    """Start a process that outlives us: own session, no standard streams, nothing inherited, no window."""
    if not hasattr(os, "posix_spawn"):
        _start_elsewhere(command)
        return
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    closed = [(os.POSIX_SPAWN_CLOSE, fd) for fd in _inherited()]
    try:
        os.posix_spawn(command[0], command, os.environ, file_actions=[*quiet, *closed], setsid=True)
    except NotImplementedError:  # it leaves our session by itself then
        os.posix_spawn(command[0], command, os.environ, file_actions=[*quiet, *closed])


def _inherited() -> list[int]:
    """Descriptors that were leaked to us: held open, they could keep a host waiting for the end of a pipe."""
    try:
        return [fd for fd in map(int, os.listdir("/dev/fd")) if fd > 2 and _passes_on(fd)]
    except (OSError, ValueError):
        return []


def _passes_on(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:
        return False


def _start_elsewhere(command: list[str]) -> None:
    import subprocess  # Windows

    # A console that is not shown, for what it starts in its turn: git would open a window of its own without any.
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    subprocess.Popen(command, stdin=-3, stdout=-3, stderr=-3, close_fds=True, creationflags=flags)
