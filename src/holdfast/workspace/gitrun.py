"""Runs git with a deadline and without the `subprocess` module, whose import takes longer than git's answer."""

from __future__ import annotations

import os
import select
import subprocess
from collections.abc import Sequence

from holdfast.lean.gitsafety import SAFE_OPTIONS, UNTRUSTED, git_program, safe_environment
from holdfast.ports.services import Clock

OUTPUT_LIMIT = 4_000_000
"""Bytes of the longest answer; a longer one is none."""


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
