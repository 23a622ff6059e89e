"""Loads transcripts into memory, file by file, in small transactions.

A state of the store says what each file was when it was read and learnt from. A file whose size or time
has changed is read again. Events have keys, so what is read twice is stored once.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from holdfast.backfill.transcriptfiles import unfit
from holdfast.backfill.transcripts import BATCH, SeenEvents, TranscriptLines
from holdfast.bootstrap import Memory
from holdfast.domain.event import Event
from holdfast.domain.statefamilies import TRANSCRIPT_READ
from holdfast.domain.vocabulary import LIVING, LessonId, SessionId
from holdfast.errors import HoldfastError, HostConfigError
from holdfast.ports.host import Host
from holdfast.ports.store import Store

Taken = Counter[tuple[str, SessionId]]


COMPANIONS = ("", "-wal")
"""Suffixes of the files that together make up a transcript."""

GONE = "their folder is gone (--project says where they belong)"
UNTOLD = "their folder is unknown (--project says where they belong)"
UNKNOWN = "their project is unknown"
OF_OTHERS = "their folder is outside the repository that brought the transcript (--project says where they belong)"
NO_EVENT = "no event was found in them"


class Tally:
    """The counts of a run so far."""

    def __init__(self) -> None:
        self.files = self.unchanged = self.sessions = self.events = self.known = self.bytes = 0
        self.from_repository = 0
        """Transcripts that came with a repository: their lessons wait for a person."""
        self.skipped: Counter[str] = Counter()
        self.written: dict[LessonId, str] = {}
        """What each lesson that the sessions taught is at the end of the run, see `settle`."""
        self.failed: list[str] = []

    def plain(self) -> dict[str, Any]:
        """Return the counts as `--json` prints them."""
        numbers = {name: value for name, value in vars(self).items() if isinstance(value, int)}
        return numbers | {"skipped": dict(self.skipped), "lessons": dict(self.lessons), "failed": self.failed}

    def add(self, other: Tally) -> None:
        """Add the counts of another run."""
        for name, value in vars(other).items():
            if isinstance(value, int):
                setattr(self, name, getattr(self, name) + value)
        self.skipped.update(other.skipped)
        self.written.update(other.written)
        self.failed += [why for why in other.failed if why not in self.failed]

    @property
    def lessons(self) -> Counter[str]:
        """How many of the lessons are confirmed, and how many unconfirmed, each counted once."""
        return Counter(word for word in self.written.values() if word)

    def settle(self, store: Store) -> None:
        """Look up what the lessons are now: a later session may have confirmed or closed them."""
        for lesson_id in self.written:
            (lesson,) = store.get([lesson_id])
            word = "confirmed" if lesson.state == "active" else "unconfirmed"
            self.written[lesson_id] = word if lesson.state in LIVING else ""


class SessionLocations:
    """Finds the memory that a session belongs to. With `memory` None, nothing is stored, only counted."""

    def __init__(self, memory: Memory | None, project: str = "") -> None:
        self.memory = memory
        self.project = project
        self.folders: set[str] = set()
        """Existing folders in which sessions took place."""
        self._found: dict[str, Memory | str] = {}

    def find(self, folder: str) -> Memory | str:
        """Return the memory of that folder, or the reason why there is none; the reason is "" if nothing is stored."""
        folder = self.project or folder
        if folder not in self._found:
            self._found[folder] = self._find(folder)
        return self._found[folder]

    def _find(self, folder: str) -> Memory | str:
        if not folder or not os.path.isdir(folder):
            return GONE if folder else UNTOLD
        self.folders.add(folder)
        if self.memory is None:
            return ""
        place = self.memory.at(folder)
        try:
            return place if place.location else UNKNOWN
        except HoldfastError:
            return UNKNOWN


class Backfilling:
    """A run over one host's transcripts."""

    def __init__(self, host: Host, locations: SessionLocations, since: datetime | None = None) -> None:
        self.host = host
        self.locations = locations
        self.memory = locations.memory
        self.since = since
        self.tally = Tally()
        self._seen_events = SeenEvents(locations.memory)
        self._events_read = 0
        self._repository: str | None = None

    def read(self, path: str, advance: Callable[[int], None], repository: str | None = None) -> None:
        """Load one file and call `advance` with the bytes done. A file that cannot be read is counted as skipped.

        If `repository` is not None, the file came with a repository and is not the user's own; it is the root of the
        work tree, or "" if there is none.
        """
        self._repository = repository
        self.tally.from_repository += repository is not None
        self._events_read = 0
        try:
            if why := unfit(path):
                self.tally.skipped[f"transcripts: {why}"] += 1
            elif self._is_old(path):
                self.tally.skipped["transcripts: too old"] += 1
            else:
                self._read(path, advance)
        except OSError:
            self.tally.skipped["transcripts: unreadable"] += 1
        except HostConfigError as exc:
            self.tally.skipped[f"transcripts: {_reason(path, exc)}"] += 1

    def _is_old(self, path: str) -> bool:
        return self.since is not None and datetime.fromtimestamp(os.stat(path).st_mtime, UTC) < self.since

    def _read(self, path: str, advance: Callable[[int], None]) -> None:
        """Load a file that changed; its state is `whole:0` while it is read, then `whole:<stamp>`."""
        # The project is part of the stamp: with --project the file is read again, for sessions whose folder was gone.
        size, stamp = _size(path), _stamp(path) + self.locations.project
        kept_stamp = self._load_cursor(path)
        if kept_stamp == f"whole:{stamp}":
            self.tally.unchanged += 1
            advance(size)
            return
        self.tally.files += 1
        taken = Counter[tuple[str, SessionId]]()
        fresh: set[SessionId] = set()
        for new in self._take_in(self._events(path), taken):
            if new and self.since is None and not fresh:
                self._keep_cursor(path, "whole:0")
            fresh |= new
        advance(size)
        self.tally.bytes += size
        if size and not self._events_read:  # it may belong to another host
            self.tally.skipped[f"transcripts: {NO_EVENT}"] += 1
        # After an interrupted run some sessions are stored but were not learnt from.
        finished_before = kept_stamp.startswith("whole:") and kept_stamp != "whole:0"
        self._learn(Counter({k: n for k, n in taken.items() if k[1] in fresh}) if finished_before else taken)
        if taken and self.since is None:
            self._keep_cursor(path, f"whole:{stamp}")

    def _events(self, path: str) -> Iterator[Event]:
        if not self.host.profile.grows_by_lines:
            yield from self.host.read_transcript(path, self._new_id())
            return
        with TranscriptLines(path) as lines:
            session = os.path.basename(path).removesuffix(".jsonl")
            yield from self.host.parse_transcript(lines, session, self._new_id())

    def _take_in(self, events: Iterator[Event], taken: Taken) -> Iterator[set[SessionId]]:
        """Store the events, and count in `taken` how many each (folder, session) had.

        Yields, after each transaction, the sessions with new events.
        """
        left_out: dict[SessionId, str] = {}
        good: dict[SessionId, str] = {}
        for folder, session, batch in self._batches(events):
            # If the folder was deleted since (a package, a build folder), the session's previous folder counts.
            folder = good[session] if session in good and not os.path.isdir(folder) else folder
            why, new = self._keep(folder, batch)
            if why:
                left_out[session] = why
            else:
                good[session] = folder
                taken[folder, session] += len(batch)
            yield {session} if new else set()
        sessions = {session for _, session in taken}
        self.tally.sessions += len(sessions)
        self.tally.skipped.update(f"sessions: {why}" for session, why in left_out.items() if session not in sessions)

    def _batches(self, events: Iterator[Event]) -> Iterator[tuple[str, SessionId, list[Event]]]:
        """Yield runs of events of one folder and session, at most BATCH long."""
        batch: list[Event] = []
        for event in events:
            self._events_read += 1
            if self.since is not None and event.at < self.since:
                continue
            first = batch[0] if batch else event
            if len(batch) >= BATCH or (event.cwd, event.session) != (first.cwd, first.session):
                yield first.cwd, first.session, batch
                batch = []
            batch.append(event)
        if batch:
            yield batch[0].cwd, batch[0].session, batch

    def _keep(self, folder: str, batch: list[Event]) -> tuple[str, int]:
        """Store the events of a folder; return why they were not stored, or "", and how many were new."""
        if self._repository is not None:
            if self._repository and not self.locations.project and not _is_inside(self._repository, folder):
                return OF_OTHERS, 0
            batch = [replace(event, trust="repository") for event in batch]
        place = self.locations.find(folder)
        if isinstance(place, str):
            self.tally.events += 0 if place else len(batch)
            return place, 0
        unheard = self._seen_events.filter_seen(batch)
        new = place.append(unheard)
        self.tally.events += new
        self.tally.known += len(batch) - new
        return "", new

    def _learn(self, taken: Taken) -> None:
        """Learn once from each session in each project, from the folder with most of its events."""
        places = {key: self.locations.find(key[0]) for key, _ in taken.most_common()}
        done: set[tuple[str, SessionId]] = set()
        for (_, session), place in places.items():
            if isinstance(place, str) or (place.location.project.id, session) in done:
                continue
            done.add((place.location.project.id, session))
            learnt = place.learn(session)
            self.tally.written.update(dict.fromkeys(learnt.lessons, ""))
            self.tally.failed += [why for why in learnt.failed if why not in self.tally.failed]

    def _load_cursor(self, path: str) -> str:
        if self.memory is None:
            return ""
        return self.memory.services.store.get_state(TRANSCRIPT_READ, os.path.realpath(path))

    def _keep_cursor(self, path: str, value: str) -> None:
        if self.memory is not None:
            self.memory.services.store.set_state(TRANSCRIPT_READ, os.path.realpath(path), value)

    def _new_id(self) -> Callable[[], str]:
        return self.memory.services.clock.new_id if self.memory else (lambda: "-")


def _is_inside(root: str, folder: str) -> bool:
    root, folder = os.path.realpath(root), os.path.realpath(folder)
    return folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)


def _size(path: str) -> int:
    return sum(os.path.getsize(path + end) for end in COMPANIONS if os.path.exists(path + end))


def _stamp(path: str) -> str:
    """Return the sizes and times of the file and its companions."""
    stats = (os.stat(path + end) for end in COMPANIONS if not end or os.path.exists(path + end))
    return ",".join(f"{stat.st_size}-{stat.st_mtime_ns}" for stat in stats)


def _reason(path: str, exc: HoldfastError) -> str:
    """Return the error's message and hint without the path, because transcripts are counted by this text."""
    why = str(exc).replace(path, "").replace("  ", " ").strip(" :")
    return f"{why} ({exc.hint})" if exc.hint else why
