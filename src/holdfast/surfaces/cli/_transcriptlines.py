"""A transcript's lines with the position behind them: in bounded memory, from anywhere in the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import Self

LINE_LIMIT = 32 * 1024 * 1024
"""Bytes; a longer line is no transcript's and is skipped."""


class TranscriptLines:
    """The lines of a file from a position on; `position` is the end of the last whole line that was given out."""

    def __init__(self, path: str, start: int = 0) -> None:
        self.path = path
        self.position = start
        self._stream = open(path, "rb")  # noqa: SIM115 - closed by __exit__
        self._stream.seek(max(0, start - 1))
        if start:
            self._read_line()  # the rest of a line that began before

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def __iter__(self) -> Iterator[str]:
        while line := self._read_line():
            # A line without an end may still be being written: it is tried, and read again next time.
            if line.endswith(b"\n"):
                self.position = self._stream.tell()
            yield line.decode("utf-8", "replace")

    def identity(self) -> str:
        """What tells this file from another that takes its name."""
        return str(os.fstat(self._stream.fileno()).st_ino)

    def _read_line(self) -> bytes:
        line = self._stream.readline(LINE_LIMIT)
        if len(line) < LINE_LIMIT or line.endswith(b"\n"):
            return line
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(LINE_LIMIT)
        return b"\n"
