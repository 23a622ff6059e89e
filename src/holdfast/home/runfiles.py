"""Files that the processes of one user share: the hooks' log and counts, locks, learner requests. Starts processes.

A hook imports this module only if something failed or a learner is needed.

A learner request (errand) is a session whose transcript is still to be read: host, session, folder and path of the
transcript, without any of its text. Each request is a small file, written atomically and taken by renaming it. One
shared file would not do: its lines could never be removed safely, because another process may be about to append.
"""

from __future__ import annotations

import os
from binascii import crc32
from collections.abc import Iterator
from datetime import UTC, datetime

from holdfast.domain.hookcall import HookCall, parse_errand
from holdfast.errors import HoldfastError
from holdfast.lean.files import FileLock, write_whole
from holdfast.ports.services import HasServices
from holdfast.redaction import redact

COUNTS = "hook-counts"
LATE, SPOOLED, DROPPED = "late", "spooled", "dropped"
"""What is counted for each host: answers after the deadline; calls whose events or deliveries went to the spool; calls
whose events or deliveries were lost, because the spool could not take them either."""

ERRANDS = "errands"
ERRANDS_LIMIT = 1_000
"""Most sessions that wait for their transcript to be read."""
ATTEMPTS = 5
"""How often a transcript is begun and not ended before it is given up: `holdfast backfill` still reads it."""

LOG_LIMIT = 256_000
"""Bytes; when the log is longer, its older half goes."""

LINE_LIMIT = 2_000
NAP_S = 0.05
"""Longest pause in seconds between two questions whether it is our turn."""


class RunLock:
    """A lock by name: `with RunLock(run_path, name, wait_s) as ours:`; `ours` is true in one process at a time.

    The lock is released at the end of the process at the latest, however it ends.
    """

    def __init__(self, run_path: str, name: str, wait_s: float = 0.0) -> None:
        self._run_path = run_path
        self._lock = FileLock(os.path.join(run_path, name + ".lock"))
        self._wait_s = wait_s

    def __enter__(self) -> bool:
        os.makedirs(self._run_path, mode=0o700, exist_ok=True)
        return self._lock.take(self._wait_s, NAP_S)

    def __exit__(self, *exc: object) -> None:
        self._lock.close()


class LearningLock(RunLock):
    """The lock of the process that learns: `with LearningLock(run_path, wait_s) as ours:`."""

    def __init__(self, run_path: str, wait_s: float = 0.0) -> None:
        super().__init__(run_path, "learner", wait_s)


class EmbeddingLock(RunLock):
    """The lock of the process that embeds lessons: `with EmbeddingLock(run_path, wait_s) as ours:`."""

    def __init__(self, run_path: str, wait_s: float = 0.0) -> None:
        super().__init__(run_path, "embedder", wait_s)


def embed_in_turn(memory: HasServices, run_path: str, limit: int) -> int:
    """Embed pending lessons, or return 0 while another process embeds, which would do the work twice."""
    from holdfast.recall.embed import embed_pending

    with EmbeddingLock(run_path) as ours:
        return embed_pending(memory.services, limit) if ours else 0


def write_private(folder: str, name: str, content: bytes) -> None:
    """Write a file of the run folder atomically. Raises OSError."""
    path = os.path.join(folder, name)
    try:
        write_whole(path, content)
    except FileNotFoundError:
        run_path = os.path.dirname(folder)
        for part in (os.path.dirname(run_path), run_path, folder):
            os.makedirs(part, mode=0o700, exist_ok=True)
        write_whole(path, content)


def count(run_path: str, host: str, what: str) -> None:
    """Count one of LATE, SPOOLED, DROPPED for the host; do nothing if the file cannot be written."""
    line = f"{_now()}\t{' '.join(host.split())[:40]}\t{what}\n"
    try:
        _append(os.path.join(run_path, COUNTS), line.encode("utf-8", "replace"))
    except OSError:
        return


def read_counts(run_path: str, since: str = "") -> dict[str, dict[str, int]]:
    """Return the counts by host since a day (`2026-11-22`), as far back as the file goes."""
    counts: dict[str, dict[str, int]] = {}
    try:
        with open(os.path.join(run_path, COUNTS), encoding="utf-8", errors="replace") as stream:
            lines = stream.read().splitlines()
    except OSError:
        return counts
    for line in lines:
        at, _, rest = line.partition("\t")
        host, _, what = rest.partition("\t")
        if at >= since and what in (LATE, SPOOLED, DROPPED):
            by_host = counts.setdefault(host, {})
            by_host[what] = by_host.get(what, 0) + 1
    return counts


def leave_errand(run_path: str, call: HookCall) -> None:
    """Write a request to read the transcript of the call's session. Raises OSError.

    This is the first step at a session's or a turn's end, so that the session is read later even if everything else
    fails. A session has at most one request that has not been taken.
    """
    folder = os.path.join(run_path, ERRANDS)
    name = _errand_name(call)
    if len(_names(folder)) >= ERRANDS_LIMIT and not os.path.exists(os.path.join(folder, name)):
        raise OSError(f"{folder}: more than {ERRANDS_LIMIT:,} transcripts wait to be read")
    fields = (call.cwd, call.host, call.session, call.transcript)
    write_private(folder, name, "\t".join(map(_one_line, fields)).encode("utf-8", "replace"))


class Errand:
    """A taken request to read a transcript: `with errand as call: ...`. After an error it is kept for the next try."""

    def __init__(self, path: str, call: HookCall) -> None:
        self._path = path
        self.call = call

    def __enter__(self) -> HookCall:
        return self.call

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: object) -> None:
        if kind is None:
            _remove(self._path)


def take_errands(run_path: str, only: HookCall | None = None) -> Iterator[Errand]:
    """Take and yield the requests, all or that of one call's session. Only the holder of the learning lock calls this.

    A request that was taken `ATTEMPTS` times without success is removed. Raises OSError.
    """
    folder = os.path.join(run_path, ERRANDS)
    wanted = "" if only is None else _errand_name(only)
    for name in _names(folder):
        plain, _, attempts = name.partition("~")
        if wanted and plain != wanted:
            continue
        attempt = int(attempts) + 1 if attempts.isdigit() else 1
        # Taken under another name, so that a request which the session leaves meanwhile is not lost.
        taken = os.path.join(folder, f"{plain}~{attempt}")
        try:
            os.replace(os.path.join(folder, name), taken)
            with open(taken, encoding="utf-8", errors="replace") as stream:
                line = stream.read(LINE_LIMIT * 8)
        except FileNotFoundError:
            continue
        if attempt > ATTEMPTS:
            _remove(taken)
            continue
        yield Errand(taken, parse_errand(line))


def has_errand(run_path: str, host: str, session: str) -> bool:
    """Return whether the session's transcript is still to be read."""
    wanted = _name_of(host, session)
    return any(name.partition("~")[0] == wanted for name in _names(os.path.join(run_path, ERRANDS)))


def _errand_name(call: HookCall) -> str:
    return _name_of(call.host, call.session)


def _name_of(host: str, session: str) -> str:
    """Return a readable file name for the session; a checksum keeps the names of different sessions apart."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c == "-") else "_" for c in f"{host}-{session}")
    return f"{plain[:80]}-{crc32(f'{host} {session}'.encode('utf-8', 'replace')):08x}"


def _names(folder: str) -> list[str]:
    """Return the names of the complete files in the folder, sorted; none without a folder."""
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))
    except OSError:
        return []


def _one_line(text: str) -> str:
    return text.replace("\t", " ").replace("\n", " ")


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def note(path: str, subject: str, exc: BaseException) -> None:
    """Append a line that says what failed and why; do nothing if the file cannot be written."""
    if not path:
        return
    line = _line(subject, exc)
    try:
        _append(path, line.encode("utf-8", "replace"))
    except OSError:
        return  # a read-only or full disk, which must not disturb the host


def _line(subject: str, exc: BaseException) -> str:
    hint = f" ({exc.hint})" if isinstance(exc, HoldfastError) and exc.hint else ""
    message = redact(f"{subject}: {type(exc).__name__}: {exc}{hint}{_where(exc)}")
    clean = "".join(char if char.isprintable() else " " for char in message[:LINE_LIMIT])
    return f"{_now()} {clean.strip()}\n"


def _where(exc: BaseException) -> str:
    """Return the file and line of an error that was not raised on purpose, else ""."""
    trace = exc.__traceback__
    if trace is None or isinstance(exc, HoldfastError):
        return ""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return f" at {os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _append(path: str, line: bytes) -> None:
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        log = os.open(path, flags, 0o600)
    except FileNotFoundError:  # the very first hook failed before there was a home
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


def start_detached(command: list[str]) -> int:
    """Start a process that outlives this one, in a new session, without standard streams or inherited files.

    Returns its id.
    """
    if not hasattr(os, "posix_spawn"):
        return _start_elsewhere(command)
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
    closed = [(os.POSIX_SPAWN_CLOSE, fd) for fd in _inherited()]
    try:
        return os.posix_spawn(command[0], command, os.environ, file_actions=[*quiet, *closed], setsid=True)
    except NotImplementedError:  # no setsid here; the new process leaves the session by itself
        return os.posix_spawn(command[0], command, os.environ, file_actions=[*quiet, *closed])


def _inherited() -> list[int]:
    """Return inherited descriptors: if the child kept them open, a host might wait for the end of a pipe."""
    try:
        return [fd for fd in map(int, os.listdir("/dev/fd")) if fd > 2 and _passes_on(fd)]
    except (OSError, ValueError):
        return []


def _passes_on(fd: int) -> bool:
    try:
        return os.get_inheritable(fd)
    except OSError:
        return False


def _start_elsewhere(command: list[str]) -> int:
    import subprocess  # Windows

    # A hidden console for the programs that the process starts: without a console git would open a window.
    flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    return subprocess.Popen(command, stdin=-3, stdout=-3, stderr=-3, close_fds=True, creationflags=flags).pid
