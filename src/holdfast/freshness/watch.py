"""Watch: reports lessons whose state changes, soon after their files change.

The caller looks, pauses for `pause_s` and looks again. A look compares stamps of the anchored files and of the
checkout, some microseconds each, however large the tree is. Files that stay unchanged for one short pause are checked
by the rules of freshness, and the states that got worse are stored for the next hook. Nothing depends on the watcher,
because every read checks again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import Freshness, LessonId
from holdfast.errors import HoldfastError
from holdfast.freshness.check import FreshnessCheck, worst
from holdfast.freshness.notice import FOUND, SWITCHED, WATCHED, keep_states
from holdfast.freshness.tuning import (
    EVERY_LESSON,
    LOOK_S,
    LOOKS_SHARE,
    SETTLE_S,
    WAITS,
)
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter, get_readable
from holdfast.ports.workspace import Stamps


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChange:
    """A lesson whose state differs from that of the previous look, with the reason in words."""

    lesson: Lesson
    before: Freshness
    freshness: Freshness
    words: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """What is remembered of a lesson between looks; its text is not."""

    recorded_at: datetime
    freshness: Freshness
    paths: frozenset[str]
    """Files to which it is anchored, and present files of its anchors."""


class Watch:
    """One work tree's lessons and their states as of the latest look."""

    def __init__(self, services: Services, folder: str) -> None:
        """Check the lessons for the first time. Raises as `Workspace.locate` does, and StoreError."""
        self._services = services
        self._folder = folder
        self.location = services.workspace.locate(folder)
        """The work tree and what is checked out."""
        self.pause_s = LOOK_S
        """Seconds to let pass before the next look."""
        self._held: dict[LessonId, _Held] = {}
        self._newest = ""
        """The newest change of memory that was taken into account."""
        self._stamps: dict[str, tuple[int, ...]] = {}
        """The stamp of each file at the time when its lessons were checked."""
        self._checkout = services.workspace.stamps(self.location, ()).checkout
        self._restless: Stamps | None = None
        self._waits = 0
        self._renew()

    @property
    def lessons(self) -> int:
        """Number of watched lessons: active ones that are about a file."""
        return len(self._held)

    @property
    def files(self) -> int:
        """Number of watched files."""
        return len(self._stamps)

    def look(self) -> list[StateChange]:
        """Return what changed since the previous look. After a StoreError the next look finds the same."""
        changes = self._renew()
        begun = self._services.clock.elapsed_s()
        stamps = self._services.workspace.stamps(self.location, tuple(self._stamps))
        self.pause_s = max(LOOK_S, LOOKS_SHARE * (self._services.clock.elapsed_s() - begun))
        gone = not stamps.checkout  # the work tree is gone, perhaps for a moment, so no state is known
        if gone or self._is_known(stamps):
            self._restless = None
        elif self._is_restless(stamps):
            self.pause_s = SETTLE_S
        else:
            changes += self._judge_changed(stamps)
        return changes

    def _is_known(self, stamps: Stamps) -> bool:
        return stamps.checkout == self._checkout and stamps.files == tuple(self._stamps.values())

    def _is_restless(self, stamps: Stamps) -> bool:
        """Return whether files still change, or git is running, and there is time to wait for the end."""
        still = stamps == self._restless and not stamps.busy
        self._waits = self._waits + 1 if self._restless else 0
        self._restless = stamps
        return not still and self._waits < WAITS

    def _judge_changed(self, stamps: Stamps) -> list[StateChange]:
        """Check the lessons about files that changed; all lessons after another checkout."""
        changed = {path for path, now in zip(self._stamps, stamps.files, strict=True) if self._stamps[path] != now}
        location = self._locate() if stamps.checkout != self._checkout else self.location
        switched = (location.branch, location.commit) != (self.location.branch, self.location.commit)
        self.location = location
        touched = [
            lesson
            for lesson, known in self._held.items()
            if switched or known.freshness == "orphaned" or not changed.isdisjoint(known.paths)
        ]
        now = dict(zip(self._stamps, stamps.files, strict=True))
        changes = self._judge(touched, SWITCHED if switched else WATCHED)
        self._stamps.update((path, now[path]) for path in now.keys() & self._stamps.keys())
        self._checkout, self._restless = stamps.checkout, None
        return changes

    def _locate(self) -> Location:
        """Return the present location; the previous one when it cannot be resolved."""
        try:
            return self._services.workspace.locate(self._folder)
        except HoldfastError:
            return self.location

    def _renew(self) -> list[StateChange]:
        """Add new and revised lessons, and remove those no longer in use."""
        newest = self._services.store.find_records(Change, LogFilter(limit=1))
        newest_id = next((change.id for change in newest), "nothing yet")
        if newest_id == self._newest:
            return []
        where = LessonFilter(project=self.location.project.id, states=("active",), limit=EVERY_LESSON)
        active = {lesson.id: lesson for lesson in self._services.store.find(where) if lesson.paths}
        gone = self._held.keys() - active.keys()
        keep_states(self._services, self.location, dict.fromkeys(gone, "fresh"))
        for lesson_id in gone:
            del self._held[lesson_id]
        new = [
            known
            for known in active.values()
            if known.id not in self._held or self._held[known.id].recorded_at != known.recorded_at
        ]
        self._look_at({path for lesson in new for path in lesson.paths})
        changes = self._judge([lesson.id for lesson in new], FOUND)
        self._newest = newest_id
        return changes

    def _judge(self, ids: Sequence[LessonId], by: str) -> list[StateChange]:
        """Check those lessons, store their states, and return those whose state differs from the previous one."""
        check = FreshnessCheck(self._services, self.location, within_s=inf)
        judged: dict[LessonId, _Held] = {}
        changes: list[StateChange] = []
        for lesson in get_readable(self._services.store, ids):
            anchor_verdicts = check.anchor_verdicts(lesson)
            freshness, words = worst(anchor_verdicts)
            paths = frozenset([*lesson.paths, *(verdict.anchor.path for _, verdict in anchor_verdicts)])
            judged[lesson.id] = _Held(recorded_at=lesson.recorded_at, freshness=freshness, paths=paths)
            before = self._held.get(lesson.id)
            if before and before.freshness != freshness:
                at = self._services.clock.now()
                changes.append(
                    StateChange(lesson=lesson, before=before.freshness, freshness=freshness, words=words, at=at)
                )
        keep_states(self._services, self.location, {lesson: entry.freshness for lesson, entry in judged.items()}, by)
        self._held.update(judged)
        wanted = {path for entry in self._held.values() for path in entry.paths}
        self._look_at(wanted)
        for path in self._stamps.keys() - wanted:
            del self._stamps[path]
        return changes

    def _look_at(self, paths: set[str]) -> None:
        """Start to watch those files; files watched already keep the stamp of their last check."""
        new = sorted(paths - self._stamps.keys())
        if new:
            self._stamps.update(zip(new, self._services.workspace.stamps(self.location, new).files, strict=True))
