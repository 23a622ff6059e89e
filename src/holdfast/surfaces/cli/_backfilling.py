"""Transcripts into memory: one file after another, in small transactions, from where the last run stopped.

A mark in the store (`backfill:<path>`) says how far a file was read and whether its sessions were learnt from. Events
have keys, so reading a stretch twice keeps nothing twice; a little is read again on purpose, for the calls whose
results come later.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from holdfast.domain.errors import HoldfastError
from holdfast.transcripts import TranscriptLines

if TYPE_CHECKING:
    from holdfast.domain.event import Event
    from holdfast.domain.vocabulary import SessionId
    from holdfast.ports.host import Host
    from holdfast.service.learn import LearnReport
    from holdfast.service.memory import Memory

BATCH = 256
"""Events of one transaction."""

OVERLAP = 1024 * 1024
"""Bytes before the mark that are read again when a file has grown."""


GONE = "folder is gone (--project tells where they belong)"
UNKNOWN = "project unknown"


class Tally:
    """What a run did so far."""

    def __init__(self) -> None:
        self.files = self.unchanged = self.sessions = self.events = self.known = self.bytes = 0
        self.skipped: Counter[str] = Counter()
        self.lessons: Counter[str] = Counter()
        self.failed: list[str] = []

    def plain(self) -> dict[str, Any]:
        """The numbers as `--json` prints them."""
        told = {name: held for name, held in vars(self).items() if isinstance(held, int)}
        return told | {"skipped": dict(self.skipped), "lessons": dict(self.lessons), "failed": self.failed}


class Backfilling:
    """A run over transcripts. `memory` None: nothing is kept, only counted."""

    def __init__(self, host: Host, memory: Memory | None, project: str = "", since: datetime | None = None) -> None:
        self.host = host
        self.memory = memory
        self.project = project
        self.since = since
        self.tally = Tally()
        self._places: dict[str, Memory | str] = {}

    def read(self, path: str, advance: Callable[[int], None]) -> None:
        """Take in one file; `advance` is told the bytes as they are done. A file that cannot be read is counted."""
        size = _size(path)
        try:
            if self._is_old(path):
                self.tally.skipped["transcripts: too old"] += 1
            else:
                self._read(path, size, advance)
        except OSError:
            self.tally.skipped["transcripts: unreadable"] += 1

    def _is_old(self, path: str) -> bool:
        return self.since is not None and datetime.fromtimestamp(os.stat(path).st_mtime, UTC) < self.since

    def _read(self, path: str, size: int, advance: Callable[[int], None]) -> None:
        with TranscriptLines(path) as probe:
            inode = probe.identity()
        mark = _Mark.load(self._mark(path), inode, size)
        if mark.learnt_size == size > 0:
            self.tally.unchanged += 1
            advance(size)
            return
        self.tally.files += 1
        with TranscriptLines(path, max(0, mark.position - OVERLAP)) as lines:
            taken = self._take_in(path, lines, inode, advance)
            done = lines.position
        self.tally.bytes += size
        if self.memory and taken:
            self._learn(taken)
        if taken and self.since is None:
            self._mark(path, f"{inode}:{done}:{size}")

    def _take_in(
        self, path: str, lines: TranscriptLines, inode: str, advance: Callable[[int], None]
    ) -> Counter[tuple[str, SessionId]]:
        """Keep the file's events; returns how many each (folder, session) had."""
        session = os.path.basename(path).removesuffix(".jsonl")
        taken: Counter[tuple[str, SessionId]] = Counter()
        start = lines.position
        left_out: dict[SessionId, str] = {}
        good = ""
        for folder, batch in self._batches(self.host.parse_transcript(lines, session, self._new_id())):
            # A folder deleted since (a package, a build folder) counts as where the session was before.
            folder = good if good and not os.path.isdir(folder) else folder
            why = self._keep(folder, batch)
            if why:
                left_out.update((event.session, why) for event in batch)
            else:
                good = folder
                taken.update((folder, event.session) for event in batch)
            if self.since is None and taken:
                self._mark(path, f"{inode}:{lines.position}:0")
            advance(lines.position - start)
            start = lines.position
        advance(lines.position - start)
        kept = {session for _, session in taken}
        self.tally.sessions += len(kept)
        self.tally.skipped.update(f"sessions: {why}" for session, why in left_out.items() if session not in kept)
        return taken

    def _batches(self, events: Iterator[Event]) -> Iterator[tuple[str, list[Event]]]:
        """Runs of events of one folder, at most BATCH long."""
        folder = ""
        batch: list[Event] = []
        for event in events:
            if self.since is not None and event.at < self.since:
                continue
            if batch and (event.cwd != folder or len(batch) >= BATCH):
                yield folder, batch
                batch = []
            folder = event.cwd
            batch.append(event)
        if batch:
            yield folder, batch

    def _keep(self, folder: str, batch: list[Event]) -> str:
        """Keep the events of a folder; returns why not, or an empty text."""
        if self.memory is None:
            if not self.project and not os.path.isdir(folder):
                return GONE
            self.tally.events += len(batch)
            return ""
        place = self._place(folder)
        if isinstance(place, str):
            return place
        new = place.append(batch)
        self.tally.events += new
        self.tally.known += len(batch) - new
        return ""

    def _place(self, folder: str) -> Memory | str:
        """The memory asked from that folder, or why there is none."""
        folder = self.project or folder
        if folder not in self._places:
            self._places[folder] = self._find_place(folder)
        return self._places[folder]

    def _find_place(self, folder: str) -> Memory | str:
        assert self.memory is not None
        if not os.path.isdir(folder):
            return GONE
        place = self.memory.at(folder)
        try:
            return place if place.place else UNKNOWN
        except HoldfastError:
            return UNKNOWN

    def _learn(self, taken: Counter[tuple[str, SessionId]]) -> None:
        """Learn once from what each session did in each project, from the folder where most of it happened."""
        places = {(folder, session): self._place(folder) for (folder, session), _ in taken.most_common()}
        done: set[tuple[str, SessionId]] = set()
        for (_, session), place in places.items():
            if isinstance(place, str) or (place.place.project.id, session) in done:
                continue
            done.add((place.place.project.id, session))
            self._count_lessons(place.learn(session))

    def _count_lessons(self, learnt: LearnReport) -> None:
        self.tally.lessons.update(active=len(learnt.active), waiting=len(learnt.waiting))
        self.tally.failed += [why for why in learnt.failed if why not in self.tally.failed]

    def _mark(self, path: str, value: str | None = None) -> str:
        if self.memory is None:
            return ""
        return self.memory.parts.store.mark(f"backfill:{os.path.realpath(path)}", value)

    def _new_id(self) -> Callable[[], str]:
        return self.memory.parts.clock.new_id if self.memory else (lambda: "-")


class _Mark:
    """How far a file was read, and the size it had when its sessions were learnt from (0: not yet)."""

    def __init__(self, position: int = 0, learnt_size: int = 0) -> None:
        self.position = position
        self.learnt_size = learnt_size

    @classmethod
    def load(cls, text: str, inode: str, size: int) -> _Mark:
        """The mark of that file; at its beginning when the file is another, or shorter, than the marked one."""
        parts = text.split(":")
        if len(parts) != 3 or parts[0] != inode or not (parts[1] + parts[2]).isdecimal() or int(parts[1]) > size:
            return cls()
        return cls(int(parts[1]), int(parts[2]))


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except OSError:
        return 0
