"""Reads hosts' transcript files by position, and adds to a running session what its hooks did not report.

Hooks get only the last reply of a turn, but causes and decisions are often in the replies before it. Prompts, replies
and calls with an id have the same key in both sources. A call without an id is keyed by its minute, which may differ or
be missing in the transcript. Such a call is recognised by what was run or written, and counted as often as hooks
reported it. If no hook reported how a command ended, the transcript's result is stored as an outcome
(`capture/sessionevents`).
"""

from __future__ import annotations

import os
import posixpath
import stat
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

from holdfast.bootstrap import Memory
from holdfast.capture.sessionevents import OUTCOME, is_open, outcome_of
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HostConfigError
from holdfast.home.runfiles import take_errands
from holdfast.ports.host import Host
from holdfast.ports.store import EventFilter
from holdfast.redaction import redact

LINE_LIMIT = 32 * 1024 * 1024
"""Bytes; a longer line is no transcript's and is skipped."""


TAIL = 4 * 1024 * 1024
"""Bytes of a session's transcript that are looked at after a turn: what is older was read after the turns before."""

WHOLE_LIMIT = 8 * 1024 * 1024
"""Bytes of a transcript that is read whole after every turn; a larger one waits for `holdfast backfill`."""

BATCH = 256
"""Events of one transaction."""

HEAD_BYTES = 64 * 1024
"""Bytes of a file that are looked at to tell whose it is."""
HEAD_LINES = 20
"""Lines among those bytes that are looked at one by one."""

KINDS = frozenset({"tool_result", "tool_failure", "file_edit"})
BY_MINUTE = "result:2"
"""Start of a key that is based on a time; keys based on ids do not begin with a year."""


def keep_turn(memory: Memory, call: HookCall) -> int:
    """Store what the transcript of the call's session has beyond its hooks; return the number of new events.

    Stores nothing if the host named no transcript or it cannot be read: it may be gone, or not written yet.
    """
    try:
        here = memory.at(call.cwd)
        seen_events = SeenEvents(memory)
        events = _turn(memory, call)
        return sum(here.append(seen_events.filter_seen(batch)) for batch in _batches(events) if batch)
    except (OSError, HostConfigError):
        return 0


def read_errands(
    memory: Memory, run_path: str, log_failure: Callable[[Exception], None], only: HookCall | None = None
) -> list[HookCall]:
    """Read the transcripts of waiting requests, all or that of one session; return the calls whose were read.

    A request is removed only after its transcript was read. Errors go to `log_failure`, and the next learner tries
    again. Only the holder of the learning lock calls this.
    """
    done = []
    for errand in take_errands(run_path, only):
        try:
            with errand as call:
                keep_turn(memory, call)
            done.append(call)
        except Exception as exc:  # the other sessions can still be read
            log_failure(exc)
    return done


def host_by_content(path: str, hosts: Sequence[Host]) -> str:
    """Return the host of a transcript by the beginning of the file; "" if that shows none.

    The first line that shows a host decides, because a transcript may quote another host's further on.
    """
    for text in _head_texts(path):
        for host in hosts:
            if any(all(mark in text for mark in marks) for marks in host.profile.transcript_marks):
                return host.name
    return ""


def _head_texts(path: str) -> Iterator[str]:
    """Yield a file's first lines and its beginning, without white space; nothing if it is not a regular file."""
    try:
        if not os.path.isfile(path):  # opening a pipe would wait for its writer
            return
        with open(path, "rb") as stream:
            head = stream.read(HEAD_BYTES).decode("utf-8", "replace")
    except OSError:
        return
    for line in head.split("\n")[:HEAD_LINES]:
        yield "".join(line.split())
    if not head.lstrip("\ufeff \n").startswith("{") or "}\n{" not in head:
        yield "".join(head.split())


def _turn(memory: Memory, call: HookCall) -> Iterator[Event]:
    """Yield the events of the session's transcript: of its last lines, or of all if it is small and read whole."""
    host, new_id = memory.services.host(call.host), memory.services.clock.new_id
    status = os.stat(call.transcript)
    if not stat.S_ISREG(status.st_mode):
        return  # opening a pipe would wait for its writer
    size = status.st_size
    if host.profile.grows_by_lines:
        with TranscriptLines(call.transcript, max(0, size - TAIL), head=True) as lines:
            yield from host.parse_transcript(lines, call.session, new_id)
    elif size <= WHOLE_LIMIT:
        yield from (event for event in host.read_transcript(call.transcript, new_id) if event.session == call.session)


def _batches(events: Iterator[Event]) -> Iterator[list[Event]]:
    batch: list[Event] = []
    for event in events:
        batch.append(event)
        if len(batch) == BATCH:
            yield batch
            batch = []
    yield batch


class SeenEvents:
    """The known calls of the session that is being read, by what they did."""

    def __init__(self, memory: Memory | None) -> None:
        self._memory = memory
        self._session: SessionId | None = None
        self._told: Counter[tuple[str, ...]] = Counter()
        self._open: dict[str, Event] = {}
        """Commands without a known result, by key."""
        self._open_deeds: defaultdict[tuple[str, ...], list[Event]] = defaultdict(list)

    def filter_seen(self, batch: Sequence[Event]) -> list[Event]:
        """Return the events of one session that may be new."""
        if self._memory is None or not any(event.kind in KINDS for event in batch):
            return list(batch)
        if batch[0].session != self._session:
            self._session = batch[0].session
            known = self._kept(batch[0].session)
            self._told = Counter(_deed(event) for event in known if not event.key.endswith(OUTCOME))
            self._open = {event.key: event for event in known if is_open(event)}
            self._open_deeds = defaultdict(list)
            for event in self._open.values():
                self._open_deeds[_deed(event)].append(event)
        return [new for event in batch if (new := self._news(event)) is not None]

    def _news(self, event: Event) -> Event | None:
        """Return the event, or the outcome that it adds to a stored event; None if it is known."""
        if event.key in self._open:
            return outcome_of(self._open[event.key], event) or event
        if _is_by_minute(event) and self._told[_deed(event)] > 0:
            self._told[_deed(event)] -= 1
            waiting = self._open_deeds[_deed(event)]
            return outcome_of(waiting.pop(0), event) if waiting else None
        return event

    def _kept(self, session: SessionId) -> list[Event]:
        assert self._memory is not None
        numbered = self._memory.services.store.find_events(EventFilter(session=session))
        return [event for _, event in numbered if event.kind in KINDS]


class TranscriptLines:
    """The lines of a file from a position on.

    With `head` the first line of the file comes first, because some hosts name folder and session only there.
    """

    def __init__(self, path: str, start: int = 0, head: bool = False) -> None:
        self.path = path
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
            yield line.decode("utf-8", "replace")

    def _read_line(self) -> bytes:
        line = self._stream.readline(LINE_LIMIT)
        if len(line) < LINE_LIMIT or line.endswith(b"\n"):
            return line
        while line and not line.endswith(b"\n"):
            line = self._stream.readline(LINE_LIMIT)
        return b"\n"


def _is_by_minute(event: Event) -> bool:
    return event.kind in KINDS and event.key.startswith(BY_MINUTE)


def _deed(event: Event) -> tuple[str, ...]:
    """Return a key for what a call did: an edit's two texts, a command, or the file and pattern of a read."""
    if event.kind == "file_edit":
        return ("edit", redact(event.old).strip(), redact(event.new).strip())
    if event.command:
        return ("command", redact(event.command).strip())
    files = event.files[:1]
    pattern = event.text.partition("\n")[0] if files else event.text
    return ("look", event.tool, posixpath.basename(files[0].replace("\\", "/")) if files else "", redact(pattern))
