"""Blame: finds the lessons about a file's lines, by their anchors in the present code."""

from __future__ import annotations

from math import inf

from holdfast.curation.tuning import CHANGES_READ
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import Freshness
from holdfast.errors import InvalidValueError
from holdfast.freshness.check import FreshnessCheck, caveat
from holdfast.freshness.compare import spans_of
from holdfast.lean.records import Frozen
from holdfast.lessons.lookup import in_project
from holdfast.ports.filters import LessonFilter
from holdfast.text.globs import glob_matches

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.domain.lesson import Anchor
    from holdfast.domain.project import Location
    from holdfast.ports.services import Services


class Blamed(Frozen, nested={"lesson": Lesson}):
    """A lesson and the lines of the file that it is about; lines count from 1, both ends are included."""

    lesson: Lesson
    start: int
    """0: the whole file, or a definition that is no longer in it."""
    end: int
    symbol: str
    freshness: Freshness
    caveat: str = ""


def blame(
    services: Services, location: Location, path: str, lines: tuple[int, int] | None = None
) -> tuple[Blamed, ...]:
    """Return the active lessons about the file, from top to bottom, shorter spans first; whole-file lessons last.

    With `lines`, return only lessons about at least one of these lines; a lesson about the whole file is about every
    line. Raises InvalidValueError for a path outside the project and for an impossible range of lines.
    """
    if lines is not None and not 1 <= lines[0] <= lines[1]:
        raise InvalidValueError(f"no such lines: {lines[0]}-{lines[1]}", hint="FILE:12 or FILE:12-30")
    relative = in_project(services, location, path)
    lessons = services.store.find(LessonFilter(project=location.project.id, states=("active",), limit=CHANGES_READ))
    check = FreshnessCheck(services, location, within_s=inf)
    entries = {entry for lesson in lessons for entry in _about(services, location, check, lesson, relative)}
    if lines is not None:
        entries = {entry for entry in entries if not entry.start or (entry.start <= lines[1] and entry.end >= lines[0])}
    return tuple(sorted(entries, key=_order))


def _order(entry: Blamed) -> tuple[bool, int, int, str]:
    return not entry.start, entry.start, entry.end - entry.start, entry.lesson.id


def _about(
    services: Services, location: Location, check: FreshnessCheck, lesson: Lesson, path: str
) -> Iterator[Blamed]:
    """Yield the parts of the file that the lesson is about. Only lessons that name the file are checked closely."""
    if any(glob_matches(glob, path) for glob in lesson.globs):
        yield Blamed(lesson=lesson, start=0, end=0, symbol="", freshness="unanchored")
    if lesson.scope.project not in ("", location.project.id) or not any(
        _names(anchor, path) for anchor in lesson.anchors
    ):
        return
    for anchor, verdict in check.anchor_verdicts(lesson):
        now = verdict.anchor if verdict.freshness not in ("unverified", "orphaned") else anchor
        if now.path != path:
            continue
        for start, end in spans_of(services, location, now):
            yield Blamed(
                lesson=lesson, start=start, end=end, symbol=now.symbol, freshness=verdict.freshness,
                caveat=caveat(anchor, verdict),
            )  # fmt: skip


def _names(anchor: Anchor, path: str) -> bool:
    return path == anchor.path or path in anchor.other_paths
