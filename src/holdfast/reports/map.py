"""Map: by file and folder, what memory knows, what of it is stale, and where trouble has no lesson.

Lessons are counted by the store, and trouble was stored when each session was settled. Only the newest lessons of the
area are read, to check them against the code; the report says how many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from heapq import nsmallest
from operator import attrgetter
from posixpath import commonprefix

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import Freshness
from holdfast.freshness.check import FreshnessCheck
from holdfast.lessons.staging import hidden_here
from holdfast.outcomes.trouble import FileTrouble, SessionTrouble, load_trouble
from holdfast.ports.services import Services
from holdfast.ports.store import EVERY, LessonFilter
from holdfast.reports.keptcounts import kept_answer, newest_change
from holdfast.reports.tuning import (
    CHECKED_LESSONS,
    CHECKED_S,
    COUNTED_FILES,
    COUNTED_LESSONS,
    LEAST_TROUBLE,
    MAP_LEVELS,
    NAMED_AREAS,
    PATH_TAILS,
)

STALE: tuple[Freshness, ...] = ("drifted", "changed", "orphaned")
"""Verdicts that say that a lesson may no longer fit the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapArea:
    """A file, or a folder with the sums of its files. A lesson about several files counts at each of them."""

    path: str
    """Relative to the project's root; empty for the whole project."""
    is_folder: bool = False
    files: int = 1
    size: int = 0
    """Bytes of code; 0 for a file that is gone, and where there is no work tree."""
    lessons: int = 0
    """Confirmed lessons."""
    stale: int = 0
    """Those of them whose code has changed since, as far as they were checked."""
    checked: int = 0
    failures: int = 0
    """Failed calls that name the file."""
    reverted: int = 0
    """Edits that were taken back in the session that made them."""
    missed: int = 0
    """Sessions that needed a lesson here and were not told it."""
    gaps: int = 0
    """Files in it with trouble and without a lesson."""
    inner: tuple[MapArea, ...] = ()
    """The next level below a folder, the largest first. A folder with nothing but one folder is left out of the way."""

    @property
    def trouble(self) -> int:
        """Failures and edits that were taken back. A missed lesson exists, so it is no trouble without one."""
        return self.failures + self.reverted


_COUNTED = ("files", "size", "lessons", "stale", "checked", "failures", "reverted", "missed", "gaps")
_COUNTS = attrgetter(*_COUNTED)
"""Returns what is summed up of an area."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeMap:
    """An area of a project and what is directly in it."""

    whole: MapArea
    """The area itself; `inner` is what is in it, some levels deep."""
    has_code: bool
    """There is a work tree: sizes are those of the code, and lessons were checked."""
    lessons: int = 0
    """Confirmed lessons of the area, each counted once."""
    counted: int = 0
    """Those of them that are on the map, the newest."""
    stale_lessons: int = 0
    """Stale lessons among those that were checked."""
    known_files: int = 0
    """Files that a lesson is about."""
    gaps: tuple[MapArea, ...] = ()
    """Files with trouble and without a lesson, the worst first."""
    stale: tuple[MapArea, ...] = ()
    """Files with stale lessons, the worst first."""
    best_known: tuple[MapArea, ...] = ()
    """Files with the most lessons."""
    gone: int = 0
    """Files that lessons are about and that are not in the work tree."""
    read: int = 0
    """Lessons that were to be checked: those about files, among the newest."""
    checked: int = 0
    """Those of them that there was time to check."""
    sessions: int = 0
    """Sessions that had trouble."""
    since: datetime | None = None
    """When the first of them began."""


def map_of(
    services: Services, location: Location, area: str = "", only: Callable[[Lesson], bool] | None = None
) -> CodeMap:
    """Return the map of a folder, or of the whole project.

    With `only`, for readers who may be anybody, nothing counts but the lessons that it takes; no session's trouble.
    """
    area = area.strip("/")
    active = LessonFilter(project=location.project.id, states=("active",), area=area, limit=EVERY)
    checks, sizes = _checks(services, location, active, only), _sizes(services, location)
    sessions = [] if only else load_trouble(services.store, location.project.id)

    def build() -> CodeMap:
        lessons, total = _count(services, active) if only is None else _count_some(services, active, only)
        return _built(area, sizes, sessions, checks, lessons, total)

    if only is not None:
        return build()
    mark = newest_change(services), sizes, sessions, checks
    return kept_answer(services, location, ("map", area), mark, build)


def _built(
    area: str, sizes: Mapping[str, int], sessions: Sequence[SessionTrouble], checks: _Checks,
    lessons: Mapping[str, int], total: int,
) -> CodeMap:  # fmt: skip
    """Put the map together: lessons of each file and all of the area, beside the code, its trouble and the checks."""
    troubles = _by_file(sessions, {*sizes, *lessons})
    inside = f"{area}/" if area else ""
    paths = sorted(path for path in {*sizes, *lessons, *troubles} if path.startswith(inside))
    nothing = FileTrouble()
    files = [
        _file(
            path, sizes.get(path, 0), lessons.get(path, 0), troubles.get(path, nothing), checks.files.get(path, (0, 0))
        )
        for path in paths
    ]
    by_trouble = sorted((file for file in files if file.gaps), key=lambda file: (-file.trouble, -file.size, file.path))
    by_stale = sorted((file for file in files if file.stale), key=lambda file: (-file.stale, -file.lessons, file.path))
    by_lessons = nsmallest(NAMED_AREAS, files, key=lambda file: (-file.lessons, file.path))
    return CodeMap(
        whole=_folder(area, files, MAP_LEVELS),
        has_code=bool(sizes),
        lessons=total,
        counted=min(total, COUNTED_LESSONS),
        stale_lessons=checks.stale,
        known_files=sum(file.lessons > 0 for file in files),
        gaps=tuple(by_trouble[:NAMED_AREAS]),
        stale=tuple(by_stale[:NAMED_AREAS]),
        best_known=tuple(file for file in by_lessons if file.lessons),
        gone=sum(bool(sizes) and file.lessons > 0 and file.path not in sizes for file in files),
        read=checks.read,
        checked=checks.checked,
        sessions=len(sessions),
        since=min((session.began_at for session in sessions), default=None),
    )


def _count(services: Services, where: LessonFilter) -> tuple[dict[str, int], int]:
    """Return how many lessons each file has, and how many there are."""
    files = services.store.count_by(replace(where, limit=COUNTED_LESSONS), "file", COUNTED_FILES)
    return files, sum(services.store.count_by(where, "state", 1).values())


def _count_some(services: Services, where: LessonFilter, only: Callable[[Lesson], bool]) -> tuple[dict[str, int], int]:
    """Return the same of those lessons that `only` takes."""
    lessons = [lesson for lesson in services.store.find(replace(where, limit=COUNTED_LESSONS)) if only(lesson)]
    inside = f"{where.area}/" if where.area else ""
    counts = Counter(path for lesson in lessons for path in lesson.paths if path.startswith(inside))
    return dict(counts), len(lessons)


def _sizes(services: Services, location: Location) -> Mapping[str, int]:
    index = services.codeindex() if location.has_work_tree else None
    return index.sizes(location) if index else {}


def _by_file(sessions: Sequence[SessionTrouble], files: Collection[str]) -> dict[str, FileTrouble]:
    """Return the trouble of all sessions by the project's files; names that are no file of it are left out."""
    if not sessions:
        return {}
    counts = Counter(path.rpartition("/")[2] for path in files)
    paths = {name: path for path in files if counts[name := path.rpartition("/")[2]] == 1}
    troubles: dict[str, FileTrouble] = {}
    for session in sessions:
        for name, trouble in session.files.items():
            if name not in paths:
                paths[name] = _known(name, files)
            if paths[name]:
                troubles.setdefault(paths[name], FileTrouble()).add(trouble)
    return troubles


def _known(name: str, files: Collection[str]) -> str:
    """Return the project's file that a path means: itself, or without leading folders; empty if there is none.

    Its last part alone means nothing: every project has a `setup.py`. A bare name means a file where only one has it.
    """
    parts = name.replace("\\", "/").split("/")
    tails = ("/".join(parts[begin:]) for begin in range(max(min(len(parts) - 1, PATH_TAILS), 1)))
    return next((tail for tail in tails if tail in files), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Checks:
    """How many lessons were read, checked and stale; and by file, how many of its lessons were checked and stale."""

    files: dict[str, tuple[int, int]] = field(default_factory=dict)
    read: int = 0
    checked: int = 0
    stale: int = 0


def _checks(
    services: Services, location: Location, where: LessonFilter, only: Callable[[Lesson], bool] | None
) -> _Checks:
    """Compare the newest lessons with the code, as long as there is time."""
    if not location.has_work_tree:
        return _Checks()
    hidden = hidden_here(services, location)
    newest = services.store.find(replace(where, limit=CHECKED_LESSONS))
    seen = [lesson for lesson in newest if lesson.id not in hidden and (only is None or only(lesson))]
    lessons = [lesson for lesson in seen if lesson.paths]
    check = FreshnessCheck(services, location, within_s=CHECKED_S)
    files: dict[str, tuple[int, int]] = {}
    checked = stale = 0
    for lesson in lessons:
        states: dict[str, bool] = {}
        for anchor, verdict in check.anchor_verdicts(lesson):
            if verdict.freshness != "unverified":
                states[anchor.path] = states.get(anchor.path, False) or verdict.freshness in STALE
        checked += bool(states)
        stale += any(states.values())
        for path, is_stale in states.items():
            before = files.get(path, (0, 0))
            files[path] = before[0] + 1, before[1] + is_stale
    return _Checks(files=files, read=len(lessons), checked=checked, stale=stale)


def _file(path: str, size: int, lessons: int, trouble: FileTrouble, check: tuple[int, int]) -> MapArea:
    is_gap = lessons == 0 and trouble.failures + trouble.reverted >= LEAST_TROUBLE
    return MapArea(
        path=path, size=size, lessons=lessons, checked=check[0], stale=check[1], failures=trouble.failures,
        reverted=trouble.reverted, missed=trouble.missed, gaps=int(is_gap),
    )  # fmt: skip


def sum_of(path: str, areas: Sequence[MapArea], inner: tuple[MapArea, ...] = ()) -> MapArea:
    """Return a folder with the sums of these files and folders."""
    sums = map(sum, zip(*map(_COUNTS, areas), strict=True)) if areas else (0,)
    return MapArea(path=path, is_folder=True, inner=inner, **dict(zip(_COUNTED, sums, strict=False)))


def _folder(path: str, files: list[MapArea], levels: int) -> MapArea:
    """Return the folder with the sums of its files, and what is in it as deep as that."""
    return sum_of(path, files, tuple(_inside(path, files, levels - 1)) if levels else ())


def _inside(path: str, files: list[MapArea], levels: int) -> list[MapArea]:
    """Return the files directly in the folder and the folders in it, the largest first."""
    begin = len(path) + 1 if path else 0
    folders: dict[str, list[MapArea]] = {}
    areas: list[MapArea] = []
    for file in files:
        name, slash, _ = file.path[begin:].partition("/")
        if slash:
            folders.setdefault(file.path[:begin] + name, []).append(file)
        else:
            areas.append(file)
    areas += [_folder(_shared_folder(folder, inside), inside, levels) for folder, inside in folders.items()]
    return sorted(areas, key=lambda each: (-each.size, -each.lessons, each.path))


def _shared_folder(folder: str, files: Sequence[MapArea]) -> str:
    """Return the deepest folder that all of the folder's files are in; they are in the order of their paths."""
    shared = commonprefix((files[0].path, files[-1].path))  # of the first and the last: those between share it, too
    inside = shared.rpartition("/")[0]
    return inside if len(inside) > len(folder) else folder
