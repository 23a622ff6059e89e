"""What the processes of one user share besides the store: the hooks' log and counts, turns, errands, and how one
starts another.

Lean, and imported only when something failed or is to be learnt.

An errand is a session whose transcript is still to be read: host, session, folder and path of the transcript, and no
words of anybody. Each is a small file of its own, which appears whole and is taken by renaming it. One shared file
would have no moment at which its lines can be removed: another process may be about to append.
"""

from __future__ import annotations

import os

from holdfast.errors import HoldfastError
from holdfast.lean.files import FileLock, write_whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.domain.hookcall import HookCall
    from holdfast.service.memory import Memory

COUNTS = "hook-counts"
LATE, SPOOLED, DROPPED = "late", "spooled", "dropped"
"""What is counted for each host: answers that came after the deadline; times that events or deliveries of a call were
spooled; times that they were lost, because not even the spool took them."""

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


class Turn:
    """`with Turn(run_path, name, wait_s) as ours:` whether it is our turn; only one process's at a time for a name.

    It ends with the process at the latest, however that ends.
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


class LearningTurn(Turn):
    """`with LearningTurn(run_path, wait_s) as ours:` whether it is our turn to learn."""

    def __init__(self, run_path: str, wait_s: float = 0.0) -> None:
        super().__init__(run_path, "learner", wait_s)


class EmbeddingTurn(Turn):
    """`with EmbeddingTurn(run_path, wait_s) as ours:` whether it is our turn to embed lessons."""

    def __init__(self, run_path: str, wait_s: float = 0.0) -> None:
        super().__init__(run_path, "embedder", wait_s)


def embed_in_turn(memory: Memory, run_path: str, limit: int) -> int:
    """Embed as `Memory.embed_pending` does; 0 while another process embeds, since the work would be done twice."""
    with EmbeddingTurn(run_path) as ours:
        return memory.embed_pending(limit) if ours else 0


def write_private(folder: str, name: str, content: bytes) -> None:
    """Write a file of the run folder that other processes see whole or not at all. Raises OSError."""
    path = os.path.join(folder, name)
    try:
        write_whole(path, content)
    except FileNotFoundError:
        run_path = os.path.dirname(folder)
        for part in (os.path.dirname(run_path), run_path, folder):
            os.makedirs(part, mode=0o700, exist_ok=True)
        write_whole(path, content)


def count(run_path: str, host: str, what: str) -> None:
    """Count one of LATE, SPOOLED, DROPPED for the host; does nothing where there is no place to write."""
    line = f"{_now()}\t{' '.join(host.split())[:40]}\t{what}\n"
    try:
        _append(os.path.join(run_path, COUNTS), line.encode("utf-8", "replace"))
    except OSError:
        return


def read_counts(run_path: str, since: str = "") -> dict[str, dict[str, int]]:
    """How often each thing happened to each host since a day (`2026-11-22`), as far back as the file reaches."""
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
    """Write down that the transcript of the call's session is to be read. Raises OSError.

    Called before anything else that a session's or a turn's end does, so that the session is read later even where
    everything else fails. A session has at most one errand that nobody has taken yet.
    """
    folder = os.path.join(run_path, ERRANDS)
    name = _errand_name(call)
    if len(_names(folder)) >= ERRANDS_LIMIT and not os.path.exists(os.path.join(folder, name)):
        raise OSError(f"{folder}: more than {ERRANDS_LIMIT:,} transcripts wait to be read")
    fields = (call.cwd, call.host, call.session, call.transcript)
    write_private(folder, name, "\t".join(map(_one_line, fields)).encode("utf-8", "replace"))


class Errand:
    """A transcript to be read; nobody else has it. `with errand as call: ...`; an error leaves it for the next time."""

    def __init__(self, path: str, call: HookCall) -> None:
        self._path = path
        self.call = call

    def __enter__(self) -> HookCall:
        return self.call

    def __exit__(self, kind: type[BaseException] | None, exc: BaseException | None, trace: object) -> None:
        if kind is None:
            _remove(self._path)


def take_errands(run_path: str, only: HookCall | None = None) -> Iterator[Errand]:
    """Take the errands, all or the one of that call's session, one after another. Only whoever may learn calls this.

    One that was taken `ATTEMPTS` times and never carried out is given up. Raises OSError.
    """
    from holdfast.domain.hookcall import parse_errand

    folder = os.path.join(run_path, ERRANDS)
    wanted = "" if only is None else _errand_name(only)
    for name in _names(folder):
        plain, _, attempts = name.partition("~")
        if wanted and plain != wanted:
            continue
        attempt = int(attempts) + 1 if attempts.isdigit() else 1
        # Under a name of its own: an errand that the session leaves meanwhile is another one, and stays.
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


def _errand_name(call: HookCall) -> str:
    """A file name for the session: readable, and told apart from others by a sum where it had to be changed."""
    from binascii import crc32

    plain = "".join(c if c.isascii() and (c.isalnum() or c == "-") else "_" for c in f"{call.host}-{call.session}")
    return f"{plain[:80]}-{crc32(f'{call.host} {call.session}'.encode('utf-8', 'replace')):08x}"


def _names(folder: str) -> list[str]:
    """Names of the whole files in the folder, in order; none where there is no folder."""
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
    message = redact(f"{subject}: {type(exc).__name__}: {exc}{hint}{_where(exc)}")
    clean = "".join(char if char.isprintable() else " " for char in message[:LINE_LIMIT])
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
