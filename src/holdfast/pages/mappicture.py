"""The picture of the map: which files and folders become rectangles, and what each of them says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from holdfast.lean.texts import counted
from holdfast.pages.svg.figure import Caption
from holdfast.pages.svg.treemap import Tile, treemap
from holdfast.pages.view import View
from holdfast.reports.map import CodeMap, MapArea, sum_of

FOLDER_TILES, ALL_TILES = 20, 64
"""Most rectangles of the picture: in each folder, and altogether."""
LEAST_TILE = 0.004
"""Least share of the picture that a folder has to have for what is in it to be shown."""
LEAST_SHOWN = 0.4
"""Least share of a folder's size that has to be in what is shown of it for the folder to be opened."""
LEVELS = (1, 3, 10)
"""Lessons from which a file's rectangle is filled more strongly."""
FOLDER_LEVELS = (0, 1, 3)
"""Lessons for each of its files, from which a folder's rectangle is; for the first level one lesson is enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPlan:
    """What a map shows: the areas of the whole, and of every folder that shows what is in it, by its path."""

    whole: MapArea
    has_code: bool
    """Sizes are those of the code, not counts."""
    opened: Mapping[str, tuple[MapArea, ...]]
    undrawn: int = 0
    """Files that are left out of the picture: there are so many that what is shown would be too small to see."""

    @property
    def leaves(self) -> list[MapArea]:
        """The files, and the folders that do not show what is in them."""
        areas = [area for inside in self.opened.values() for area in inside]
        return [area for area in areas if area.path not in self.opened]

    def rest(self, folder: MapArea) -> list[MapArea]:
        """Return what is not shown of a folder as one area without a path; nothing where all of it is shown."""
        if self.undrawn and folder is self.whole:
            return []
        shown = {area.path for area in self.opened[folder.path]}
        rest = [area for area in folder.inner if area.path not in shown]
        return [sum_of("", rest)] if rest else []

    def size(self, area: MapArea) -> float:
        """Return what an area's rectangle is proportional to."""
        return area.size if self.has_code else area.lessons + area.trouble


def make_plan(code_map: CodeMap) -> MapPlan:
    """Decide what is shown: the largest folders show what is in them, as long as there is room."""
    whole = code_map.whole
    opened: dict[str, tuple[MapArea, ...]] = {}
    plan = MapPlan(whole=whole, has_code=code_map.has_code and whole.size > 0, opened=opened)
    opened[whole.path] = _chosen(whole, plan, FOLDER_TILES)
    if sum(map(plan.size, opened[whole.path])) < LEAST_SHOWN * sum(map(plan.size, whole.inner)):
        opened[whole.path] = _chosen(whole, plan, ALL_TILES)
        plan = replace(plan, undrawn=whole.files - sum(area.files for area in opened[whole.path]))
    count = len(opened[whole.path])
    total = sum(map(plan.size, whole.inner)) or 1
    waiting = list(opened[whole.path])
    while waiting:
        area = max(waiting, key=plan.size)
        waiting.remove(area)
        inside = _chosen(area, plan, FOLDER_TILES)
        if _is_worth_opening(area, inside, plan, total) and count + len(inside) <= ALL_TILES:
            opened[area.path] = inside
            count += len(inside)
            waiting += inside
    return plan


def _is_worth_opening(area: MapArea, inside: Sequence[MapArea], plan: MapPlan, total: float) -> bool:
    """Return whether what would be shown of the folder is most of it, and large enough to be read."""
    size = plan.size(area)
    return bool(inside) and size / total >= LEAST_TILE and sum(map(plan.size, inside)) >= LEAST_SHOWN * size


def _chosen(area: MapArea, plan: MapPlan, most: int) -> tuple[MapArea, ...]:
    """Return what is shown of a folder: what there is most to say about, then the largest."""
    order = sorted(area.inner, key=lambda each: (-_weight(each), -plan.size(each)))
    return tuple(order if len(order) <= most else order[: most - 1])


def _weight(area: MapArea) -> int:
    """Return how much there is to say about an area: trouble without a lesson and what is stale count more."""
    return 10 * area.gaps + 3 * area.stale + area.lessons + area.trouble + area.missed


def draw_map(view: View, code_map: CodeMap, plan: MapPlan) -> Markup:
    """Return the picture of the area; empty where nothing has a size."""
    whole = plan.whole
    tiles = [_tile(view, area, whole, plan) for area in [*plan.opened[whole.path], *plan.rest(whole)]]
    if not any(tile.size for tile in tiles):
        return Markup("")
    size = "the size of its code" if plan.has_code else "its number of lessons and failures"
    caption = Caption(
        ident="map",
        title=f"Map of {whole.path}" if whole.path else "Map of the project",
        description=(
            f"A treemap: each rectangle is a file or a folder, as large as {size}. "
            f"{counted(code_map.lessons, 'lesson')}, {code_map.stale_lessons} of them stale; "
            f"{counted(whole.gaps, 'file')} with trouble and without a lesson. The table has the same facts."
        ),
    )
    return treemap(caption, tiles)


def _tile(view: View, area: MapArea, parent: MapArea, plan: MapPlan) -> Tile:
    if not area.path:
        link = near(view, view.link("map", area=parent.path, all=True))
        return Tile(
            name=counted(area.files, "more file"), size=plan.size(area), kind=_kind(area), hatching=_hatching(area),
            link=link, words=tuple(area_words(area)), sign="!" if area.gaps else "",
        )  # fmt: skip
    name = area.path.removeprefix(f"{parent.path}/" if parent.path else "")
    inside = [*plan.opened[area.path], *plan.rest(area)] if area.path in plan.opened else []
    return Tile(
        name=f"{name}/" if area.is_folder else name,
        size=plan.size(area),
        kind=_kind(area),
        hatching=_hatching(area),
        link=area_link(view, area),
        words=tuple(area_words(area)),
        sign="!" if area.gaps else "",
        inner=tuple(_tile(view, each, area, plan) for each in inside),
    )


def _kind(area: MapArea) -> str:
    """Return the class of an area's fill: trouble without any lesson, or how many lessons there are."""
    if area.gaps and not area.lessons:
        return "gap"
    if area.is_folder:
        level = sum(area.lessons >= least * area.files for least in FOLDER_LEVELS) if area.lessons else 0
    else:
        level = sum(area.lessons >= least for least in LEVELS)
    return f"k{level}"


def _hatching(area: MapArea) -> str:
    if not area.stale:
        return ""
    return "most" if 2 * area.stale >= area.checked else "some"


def area_words(area: MapArea) -> list[str]:
    """Return what there is to say about a file or a folder, a line each; nothing where there is nothing."""
    lines = [counted(area.lessons, "lesson")] if area.lessons else []
    lines += [f"{area.stale} stale"] if area.stale else []
    lines += [counted(area.failures, "failure")] if area.failures else []
    lines += [f"{area.reverted} reverted"] if area.reverted else []
    lines += [f"{area.missed} missed"] if area.missed else []
    return lines


def area_link(view: View, area: MapArea) -> str:
    """Return where an area of the map leads: a folder to its own map, a file to what is known about it."""
    return near(view, view.link("map", area=area.path) if area.is_folder else file_link(view, area.path, area.lessons))


def near(view: View, address: str) -> str:
    """Return an address of the project as seen from its map, which is shorter."""
    return address.removeprefix(view.link("home"))


def file_link(view: View, path: str, lessons: int) -> str:
    """Return the address of the search of a file; where there is no search, of its graph, if it has lessons."""
    if not view.is_static and view.addresses.row("search") is not None:
        return view.link("search", path=path)
    return view.link("map-graph", area=path) if lessons else ""
