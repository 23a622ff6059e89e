"""Record of a sync: what is known of shared lessons and their files since the last one, a row each.

It holds ids, places and digests, and no word of a lesson. A channel is a place where a project's lessons are shared:
the repository's own folder (""), or a named one; each has a record of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from holdfast.domain.statefamilies import SYNCED, SYNCED_FILES, SYNCED_LESSONS
from holdfast.domain.vocabulary import LessonId, LinkKind, ProjectId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import as_dict
from holdfast.lean.texts import dumps, loads
from holdfast.ports.store import Extent, Store
from holdfast.publishing.lessonfile import Stamp, parse_stamp

VERSION = 3
"""Version of what is remembered of a run and of the form of files; of another one nothing is read, and all is
compared anew."""
ROOTS = 20
"""Work trees whose files are remembered; of another one all files are read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is known of one shared lesson since the last sync."""

    id: LessonId
    """The id in its file."""
    lesson: LessonId = ""  # type: ignore[assignment]
    """Its id in this store; empty if it was not taken in."""
    former: tuple[LessonId, ...] = ()
    """Ids that it had in this store before somebody revised it."""
    twin: LessonId = ""  # type: ignore[assignment]
    """The shared lesson whose lesson in this store states the same rule, so that there is none of this one."""
    path: str = ""
    ours: bool = False
    """Whether it is active here: our edits are written out, edits from files wait for a person."""
    at: str = ""
    """When the last synced version was recorded."""
    stamps: dict[str, str] = field(default_factory=dict)
    provenance: dict[str, str] = field(default_factory=dict)
    links: tuple[tuple[LinkKind, LessonId], ...] = ()
    """Its links, as kind and shared id, to lessons that this store does not have yet."""
    waits: bool = False
    """Whether the file has a change that nobody has accepted yet."""
    has_more: bool = False
    """Whether the file has only links more, to lessons that contradict it: taken with the next change accepted."""

    @property
    def parsed_stamps(self) -> dict[str, Stamp] | None:
        """The stamps of the fields; None if there are none."""
        return {name: parse_stamp(text) for name, text in self.stamps.items()} if self.stamps else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncCounts:
    """What a run counted."""

    shared: int = 0
    waiting: int = 0
    absent: int = 0


def owner_of(project: ProjectId, channel: str = "") -> str:
    """Return the owner of a project's record; without a project that of the user's own lessons."""
    return f"{project}\n{channel}" if channel else project


class SyncRecord:
    """The record of one channel and work tree. Its rows are read only if something changed since the last run."""

    def __init__(self, store: Store, owner: str, root: str) -> None:
        self._store = store
        self._owner = owner
        self._root = root
        self._summary = _read_summary(store.get_state(SYNCED, owner))
        self._texts: dict[str, str] = {}
        self._files: dict[str, str] = {}

    def is_unchanged(self, extent: Extent, marks: Mapping[str, str]) -> bool:
        """Return whether neither the store nor the files nor the record of another work tree has changed."""
        mine = self._summary["roots"].get(self._root, {})
        return (
            self.is_same_store(extent)
            and mine.get("run") == self._summary["run"]
            and mine.get("files") == _digest(marks)
        )

    def is_same_store(self, extent: Extent) -> bool:
        """Return whether no lesson has changed since the last run."""
        return bool(self._summary["extent"] == [extent.versions, extent.lessons])

    def counts(self) -> SyncCounts:
        """Return what the last run in this work tree counted."""
        return SyncCounts(**self._summary["roots"][self._root]["counts"])

    def entries(self) -> dict[LessonId, Entry]:
        """Return what is known of each shared lesson. A lesson of this store belongs to one of them only."""
        self._texts = self._store.get_rows(SYNCED_LESSONS, self._owner)
        return {entry.id: entry for text in self._texts.values() if (entry := _read_entry(text)) is not None}

    def files(self) -> dict[str, tuple[str, LessonId]]:
        """Return, by path, each file's mark at the last run and the id of the lesson in it."""
        self._files = self._store.get_rows(SYNCED_FILES, self._files_owner(self._root))
        if self._root not in self._summary["roots"]:
            return {}
        split = {path: text.rpartition(" ") for path, text in self._files.items()}
        return {path: (mark, LessonId(lesson)) for path, (mark, _, lesson) in split.items()}

    def write(
        self,
        changed: Iterable[Entry],
        files: Mapping[str, tuple[str, LessonId]],
        extent: Extent,
        marks: Mapping[str, str],
        counts: SyncCounts,
    ) -> None:
        """Write the rows that changed, and the summary.

        `files` has the files that the next run need not read unless their mark changes; `marks` has all that exist.
        """
        rows = {path: f"{mark} {lesson}" for path, (mark, lesson) in files.items()}
        changed_files = {path: text for path, text in rows.items() if self._files.get(path) != text}
        gone = dict.fromkeys(self._files.keys() - rows.keys(), "")
        self._store.set_rows(SYNCED_FILES, self._files_owner(self._root), changed_files | gone)
        written = self._store.set_rows(SYNCED_LESSONS, self._owner, {entry.id: _render(entry) for entry in changed})
        run = self._summary["run"] + bool(written)
        roots = {root: known for root, known in self._summary["roots"].items() if root != self._root}
        for root in [*roots][: max(0, len(roots) - ROOTS + 1)]:
            del roots[root]
            self._forget(root)
        roots[self._root] = {"run": run, "files": _digest(marks), "counts": as_dict(counts)}
        summary = {"version": VERSION, "run": run, "extent": [extent.versions, extent.lessons], "roots": roots}
        self._store.set_state(SYNCED, self._owner, dumps(summary))

    def _forget(self, root: str) -> None:
        owner = self._files_owner(root)
        self._store.set_rows(SYNCED_FILES, owner, dict.fromkeys(self._store.get_rows(SYNCED_FILES, owner), ""))

    def _files_owner(self, root: str) -> str:
        return f"{self._owner}\n{root}"


def shared_lessons(store: Store, owner: str) -> dict[LessonId, Entry]:
    """Return the lessons of this store that are shared, each with what is known of it since the last sync."""
    entries = filter(None, map(_read_entry, store.get_rows(SYNCED_LESSONS, owner).values()))
    return {entry.lesson: entry for entry in entries if entry.lesson}


def _read_entry(text: str) -> Entry | None:
    """Return the entry; None if it cannot be read, so that its lesson is compared again."""
    try:
        fields = loads(text)
        former = tuple(fields.pop("former", ()))
        links = tuple((kind, target) for kind, target in fields.pop("links", ()))
        return Entry(**fields, former=former, links=links)
    except (InvalidValueError, TypeError, ValueError, AttributeError):
        return None


def _render(entry: Entry) -> str:
    return dumps({key: value for key, value in as_dict(entry).items() if value})


def _read_summary(text: str) -> dict[str, Any]:
    """Return the summary; if it is unreadable an empty one, so that all is compared again."""
    try:
        fields = loads(text) if text else {}
        if fields.get("version") == VERSION:
            return {"run": int(fields["run"]), "extent": fields["extent"], "roots": dict(fields["roots"])}
    except (InvalidValueError, KeyError, AttributeError, TypeError, ValueError):
        pass
    return {"run": 0, "extent": [], "roots": {}}


def _digest(marks: Mapping[str, str]) -> str:
    return sha256(dumps(sorted(marks.items())).encode("utf-8", "replace")).hexdigest()[:16]
