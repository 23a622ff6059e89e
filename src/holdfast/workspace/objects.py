"""GitObjects: files of earlier commits, from one git process for a whole run, because starting git costs most of it.

`git cat-file --batch` reads only objects: no filter, no diff driver and no hook of a repository runs.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from threading import Timer
from typing import IO
from weakref import finalize

from holdfast.lean.gitsafety import safe_environment
from holdfast.workspace.gitrun import command_line

TIMEOUT_S = 0.5
"""Seconds for one file, times the timeout scale."""
FILE_LIMIT = 5_000_000
"""Bytes of the longest file that is read."""
FAILURES_MOST = 3
"""Times that git may end or be too slow; what is asked after that is not known."""
KEPT_BYTES = 32_000_000
"""Bytes of files that are kept in memory; all are dropped when there are more."""


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
