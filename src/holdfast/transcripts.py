"""A host's transcript files: their lines with positions, and what a running session's tells beyond its hooks.

Hooks hear only the last reply of a turn; causes and decisions are often said in the replies before it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from holdfast.domain.event import Event
    from holdfast.domain.hookcall import HookCall
    from holdfast.service.memory import Memory

LINE_LIMIT = 32 * 1024 * 1024
"""Bytes; a longer line is no transcript's and is skipped."""


TAIL = 4 * 1024 * 1024
"""Bytes of a session's transcript that are looked at after a turn: what is older was read after the turns before."""

BATCH = 256
"""Events of one transaction."""


def keep_turn(memory: Memory, call: HookCall) -> int:
    """Keep what the transcript of the call's session tells and its hooks did not; returns how many events were new.

    Nothing when the host named no transcript or it cannot be read: it may be gone, or not yet written.
    """
    try:
        start = max(0, os.path.getsize(call.transcript) - TAIL)
        with TranscriptLines(call.transcript, start, head=True) as lines:
            host = memory.parts.host(call.host)
            events = host.parse_transcript(lines, call.session, memory.parts.clock.new_id)
            here = memory.at(call.cwd)
            return sum(here.append(batch) for batch in _batches(events))
    except OSError:
        return 0


def _batches(events: Iterator[Event]) -> Iterator[list[Event]]:
    batch: list[Event] = []
    for event in events:
        batch.append(event)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


class TranscriptLines:
    """The lines of a file from a position on; `position` is the end of the last whole line that was given out.

    With `head` the first line of the file comes before them: in some hosts it alone tells folder and session.
    """

    def __init__(self, path: str, start: int = 0, head: bool = False) -> None:
        self.path = path
        self.position = start
        self._stream = open(path, "rb")  # noqa: SIM115 - closed by __exit__
        self._head = self._read_line() if head and start else b""
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
        if self._head:
            yield self._head.decode("utf-8", "replace")
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
