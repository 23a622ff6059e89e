"""Runs git with a deadline and without the `subprocess` module, whose import takes longer than git's answer.

`GitObjects` reads the files of a commit through one process that stays.
"""

from __future__ import annotations

import os
import select
from collections.abc import Sequence
from contextlib import suppress
from threading import Timer
from typing import IO, TYPE_CHECKING
from weakref import finalize

from holdfast.lean.gitsafety import SAFE_OPTIONS, UNTRUSTED, git_program, safe_environment
from holdfast.ports.services import Clock

if TYPE_CHECKING:
    import subprocess

OUTPUT_LIMIT = 4_000_000
"""Bytes of the longest answer; a longer one is none."""

TIMEOUT_S = 0.5
"""Seconds for one file, times the timeout scale."""
FILE_LIMIT = 5_000_000
"""Bytes of the longest file that is read."""
FAILURES_MOST = 3
"""Times that git may end or be too slow; what is asked after that is not known."""
KEPT_BYTES = 32_000_000
"""Bytes of files that are kept in memory; all are dropped when there are more."""


class Git:
    """The git program, run in a folder."""

    def __init__(self, clock: Clock, timeout_scale: float = 1.0) -> None:
        self._clock = clock
        self._timeout_scale = timeout_scale

    def ask(self, folder: str, arguments: Sequence[str], timeout_s: float, trusted: bool = False) -> bytes | None:
        """Return git's stdout; None if git fails, is missing or takes longer than the timeout times the patience.

        `trusted` also answers in a folder of another user (`safe.directory`). Use it only for questions whose answer
        cannot make git run anything that the repository names.
        """
        if not hasattr(os, "posix_spawnp"):
            return _ask_elsewhere(command_line(folder, arguments, trusted), timeout_s * self._timeout_scale)
        running = self.start(folder, arguments, trusted)
        return None if running is None else self.collect(running, timeout_s)

    def start(self, folder: str, arguments: Sequence[str], trusted: bool = False) -> tuple[int, int] | None:
        """Start git without waiting; the result must be passed to `collect`. None if this is not possible."""
        if not hasattr(os, "posix_spawnp"):
            return None
        reading, writing = os.pipe()
        try:
            return _spawn(command_line(folder, arguments, trusted), writing), reading
        except OSError:
            os.close(reading)
            return None
        finally:
            os.close(writing)

    def collect(self, running: tuple[int, int], timeout_s: float) -> bytes | None:
        """Return git's output, as `ask` does, waiting at most that long from now."""
        child, reading = running
        deadline = self._clock.elapsed_s() + timeout_s * self._timeout_scale
        output = None
        try:
            output = self._read_until(reading, deadline)
        finally:  # also after an interrupt by the hook's own deadline: no child may be left behind
            if output is None:
                os.kill(child, 9)
            os.close(reading)
            _, status = os.waitpid(child, 0)
        return output if status == 0 else None

    def _read_until(self, reading: int, deadline: float) -> bytes | None:
        """Return everything up to the end of the stream; None if the deadline or the limit comes first."""
        watch = select.poll()
        watch.register(reading, select.POLLIN | select.POLLHUP)
        parts: list[bytes] = []
        size = 0
        while size <= OUTPUT_LIMIT:
            left_ms = int((deadline - self._clock.elapsed_s()) * 1000)
            if left_ms <= 0 or not watch.poll(left_ms):
                return None
            part = os.read(reading, 65_536)
            if not part:
                return b"".join(parts)
            parts.append(part)
            size += len(part)
        return None


def command_line(folder: str, arguments: Sequence[str], trusted: bool) -> list[str]:
    """Return the words that start git in the folder so that nothing the repository names is run."""
    safe = ("-c", "safe.directory=*") if trusted else UNTRUSTED
    program = git_program(os.environ.get("PATH", ""), os.path.isfile, os.name == "nt")
    return [program, "-C", folder, *SAFE_OPTIONS, *safe, *arguments]


def _spawn(command: list[str], writing: int) -> int:
    silence = (
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_DUP2, writing, 1),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    )
    return os.posix_spawnp(command[0], command, safe_environment(os.environ), file_actions=silence)


def _ask_elsewhere(command: list[str], timeout_s: float) -> bytes | None:
    import subprocess  # late: see the top

    no_window = getattr(subprocess, "CREATE_NO_WINDOW", 0)
    calm = safe_environment(os.environ)
    try:
        completed = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, timeout=timeout_s, env=calm, check=True,
            creationflags=no_window,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return completed.stdout


class GitObjects:
    """The objects of the repository whose work tree is at `root`. Git is started at the first question."""

    def __init__(self, root: str, timeout_scale: float = 1.0) -> None:
        self._root = root
        self._timeout_s = TIMEOUT_S * timeout_scale
        self._kept: dict[tuple[str, str], bytes | None] = {}
        self._size = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._failures = 0

    def file(self, commit: str, path: str) -> bytes | None:
        """Return the file's content in that commit; None for no file, one over 5 MB, or if git does not answer."""
        key = (commit, path)
        if key not in self._kept:
            # git ends at a path that it takes as relative to its folder
            is_plain = not {".", ".."}.intersection(path.split("/"))
            content = self._ask(f"{commit}:{path}") if is_plain else None
            self._size += len(content or b"")
            if self._size > KEPT_BYTES:
                self._kept, self._size = {}, len(content or b"")
            self._kept[key] = content
        return self._kept[key]

    def _ask(self, name: str) -> bytes | None:
        process = None if "\n" in name or "\0" in name else self._running()
        if process is None or process.stdin is None or process.stdout is None:
            return None
        killer = Timer(self._timeout_s, process.kill)
        killer.start()
        try:
            process.stdin.write(os.fsencode(name) + b"\n")
            process.stdin.flush()
            return self._answer(process.stdout)
        except (OSError, ValueError):
            self._process, self._failures = None, self._failures + 1  # git ended, or took too long
            return None
        finally:
            killer.cancel()

    def _answer(self, stream: IO[bytes]) -> bytes | None:
        """Read one answer: `<id> blob <size>`, the content and a line's end; or one line that says why there is none.

        Raises ValueError if the stream ends before that.
        """
        head = stream.readline()
        if not head.endswith(b"\n"):
            raise ValueError("git ended")
        words = head.split()
        if len(words) != 3 or not words[2].isdigit():
            return None
        size, content = int(words[2]), b""
        if size <= FILE_LIMIT:
            content = stream.read(size)
            left = 1
        else:
            left = size + 1
        while left:
            part = stream.read(min(left, 65_536))
            if not part:
                raise ValueError("git ended")
            left -= len(part)
        return content if words[1] == b"blob" and size <= FILE_LIMIT else None

    def _running(self) -> subprocess.Popen[bytes] | None:
        """Return git, started again if it ended; None if that happened too often."""
        if self._process is None and self._failures < FAILURES_MOST:
            import subprocess  # late: see the top

            try:
                self._process = subprocess.Popen(
                    command_line(self._root, ("cat-file", "--batch"), trusted=True),
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    env=safe_environment(os.environ), creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
                )  # fmt: skip
            except OSError:
                self._failures = FAILURES_MOST
                return None
            finalize(self, _end, self._process)
        return self._process


def _end(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):  # git is gone already
                stream.close()
    process.kill()
    process.wait()
