"""The map: a treemap of files and folders beside a table, and the graph of one area."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from markupsafe import Markup

from holdfast.errors import NotFoundError
from holdfast.pages.page import Page, PageRow
from holdfast.pages.svg.bipartite import Edge, Node, bipartite
from holdfast.pages.svg.figure import Caption
from holdfast.pages.svg.treemap import Tile, treemap
from holdfast.pages.view import View
from holdfast.pages.words import plural
from holdfast.reports.areagraph import AreaGraph, graph_of
from holdfast.reports.map import STALE, CodeMap, MapArea, map_of

FOLDER_TILES, ALL_TILES = 24, 80
"""Most rectangles of the picture: in each folder, and altogether."""
LEAST_TILE = 0.004
"""Least share of the picture that a folder has to have for what is in it to be shown."""
TABLE_ROWS = 25
"""Rows of the table, unless all are asked for."""
LEVELS = (1, 3, 10)
"""Lessons from which a rectangle is filled more strongly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapQuery:
    """What the map shows."""

    area: str = ""
    """A folder; empty: the whole project."""
    all: bool = False
    """Every row of the table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AreaStep:
    """A folder on the way to the area that is shown."""

    name: str
    area: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MapData:
    """What the map says."""

    map: CodeMap
    way: tuple[AreaStep, ...]
    """The folders from the project's root down to the area."""
    rows: tuple[MapArea, ...]
    """What is in the area, for the table: trouble without a lesson first, then stale lessons, then most lessons."""
    hidden: int
    """Files and folders of the area that the table leaves out: first those with nothing to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphQuery:
    """Which area's graph is shown."""

    area: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphData:
    """What the graph says."""

    graph: AreaGraph
    way: tuple[AreaStep, ...]


def make_map(view: View, query: MapQuery) -> Page:
    """Return the map of a folder, or of the whole project. Raises NotFoundError for an area without a file."""
    code_map = map_of(view.memory.services, view.memory.location, query.area)
    whole = code_map.whole
    if whole.path and not whole.files:
        raise NotFoundError(f"there is no folder {whole.path} on the map", hint="start at the whole project's map")
    rows = [replace(row, inner=()) for row in sorted(whole.inner, key=_urgency)]
    shown = rows if query.all else [row for row in rows if row.lessons or row.trouble or row.missed][:TABLE_ROWS]
    data = MapData(
        map=replace(code_map, whole=replace(whole, inner=())),
        way=_way(whole.path),
        rows=tuple(shown),
        hidden=len(rows) - len(shown),
    )
    return Page(template="map", data=data, pictures=lambda: {"treemap": draw_map(view, code_map)})


def make_graph(view: View, query: GraphQuery) -> Page:
    """Return the graph of a folder or a file."""
    graph = graph_of(view.memory.services, view.memory.location, query.area, view.sees)
    data = GraphData(graph=graph, way=_way(graph.area))
    return Page(template="map-graph", data=data, pictures=lambda: {"graph": draw_graph(view, graph)})


PAGES = (
    PageRow(path="/p/{project}/map", name="map", title="Map", make=make_map, query=MapQuery),
    PageRow(
        path="/p/{project}/map/graph", name="map-graph", title="Lessons and code", make=make_graph, query=GraphQuery,
        under="map",
    ),
)  # fmt: skip


def _urgency(area: MapArea) -> tuple[int, int, int, int, str]:
    return -area.gaps, -area.stale, -area.lessons, -area.trouble, area.path


def _way(area: str) -> tuple[AreaStep, ...]:
    parts = area.split("/") if area else []
    return tuple(AreaStep(name=part, area="/".join(parts[: index + 1])) for index, part in enumerate(parts))


# The treemap


def draw_map(view: View, code_map: CodeMap) -> Markup:
    """Return the picture of the area; empty where nothing has a size."""
    whole = code_map.whole
    has_code = code_map.has_code and whole.size > 0
    tiles = _tiles(view, whole, has_code)
    if not any(tile.size for tile in tiles):
        return Markup("")
    size = "the size of its code" if has_code else "its number of lessons and failures"
    caption = Caption(
        ident="map",
        title=f"Map of {whole.path}" if whole.path else "Map of the project",
        description=(
            f"A treemap: each rectangle is a file or a folder, as large as {size}. "
            f"{plural(code_map.lessons, 'lesson')}, {code_map.stale_lessons} of them stale; "
            f"{plural(whole.gaps, 'file')} with trouble and without a lesson. The table has the same facts."
        ),
    )
    return treemap(caption, tiles)


def _tiles(view: View, whole: MapArea, has_code: bool) -> list[Tile]:
    """Return the tiles of what is in the area: the largest folders show what is in them, as long as there is room."""
    opened = {whole.path: _chosen(whole, has_code)}
    count = len(opened[whole.path])
    total = sum(_size(area, has_code) for area in whole.inner) or 1
    waiting = list(opened[whole.path])
    while waiting:
        area = max(waiting, key=lambda each: _size(each, has_code))
        waiting.remove(area)
        inside = _chosen(area, has_code)
        if inside and _size(area, has_code) / total >= LEAST_TILE and count + len(inside) <= ALL_TILES:
            opened[area.path] = inside
            count += len(inside)
            waiting += inside
    return [_tile(view, area, whole.path, has_code, opened) for area in [*opened[whole.path], *_rest(whole, opened)]]


def _chosen(area: MapArea, has_code: bool) -> list[MapArea]:
    """Return what is shown in a folder: what there is something to say about, then the largest."""
    order = sorted(area.inner, key=lambda each: (not area_words(each), -_size(each, has_code)))
    if len(order) <= FOLDER_TILES:
        return order
    return order[: FOLDER_TILES - 1]


def _rest(folder: MapArea, opened: Mapping[str, list[MapArea]]) -> list[MapArea]:
    """Return what is not shown in a folder as one area without a path; nothing where all is shown."""
    shown = {area.path for area in opened[folder.path]}
    rest = [area for area in folder.inner if area.path not in shown]
    sums = {name: sum(getattr(area, name) for area in rest) for name in ("files", "size", "lessons", "failures")}
    return [MapArea(path="", is_folder=True, **sums)] if rest else []


def _size(area: MapArea, has_code: bool) -> float:
    return area.size if has_code else area.lessons + area.trouble


def _tile(view: View, area: MapArea, parent: str, has_code: bool, opened: Mapping[str, list[MapArea]]) -> Tile:
    name = area.path.removeprefix(f"{parent}/" if parent else "")
    if not area.path:
        link = view.link("map", area=parent, all=True)
        return Tile(name=f"{plural(area.files, 'more file')}", size=_size(area, has_code), kind="k0", link=link)
    inside = [*opened[area.path], *_rest(area, opened)] if area.path in opened else []
    return Tile(
        name=f"{name}/" if area.is_folder else name,
        size=_size(area, has_code),
        kind="gap" if area.gaps and not area.lessons else f"k{sum(area.lessons >= least for least in LEVELS)}",
        hatching=_hatching(area),
        link=view.link("map", area=area.path) if area.is_folder else search_link(view, area.path),
        words=tuple(area_words(area)),
        sign="!" if area.gaps else "",
        inner=tuple(_tile(view, each, area.path, has_code, opened) for each in inside),
    )


def _hatching(area: MapArea) -> str:
    if not area.stale:
        return ""
    return "most" if 2 * area.stale >= area.checked else "some"


def area_words(area: MapArea) -> list[str]:
    """Return what there is to say about a file or a folder, a line each; nothing where there is nothing."""
    lines = [plural(area.lessons, "lesson")] if area.lessons else []
    lines += [f"{area.stale} stale"] if area.stale else []
    lines += [plural(area.failures, "failure")] if area.failures else []
    lines += [f"{area.reverted} taken back"] if area.reverted else []
    lines += [f"{area.missed} missed"] if area.missed else []
    return lines


def search_link(view: View, path: str) -> str:
    """Return the address of the search of a file, or the graph where this site has no search."""
    if view.addresses.row("search") is None:
        return view.link("map-graph", area=path)
    return view.link("search", file=path)


# The graph


def draw_graph(view: View, graph: AreaGraph) -> Markup:
    """Return the picture of the lessons and the code; empty without any link."""
    lessons = [lesson for lesson in graph.lessons if lesson.links]
    if not lessons:
        return Markup("")
    left = [
        Node(
            name=lesson.title, link=view.link("lesson", lesson=lesson.id) if view.addresses.row("lesson") else "",
            kind="stale" if lesson.freshness in STALE else "fresh" if lesson.freshness == "fresh" else "",
        )
        for lesson in lessons
    ]  # fmt: skip
    inside = f"{graph.area}/" if graph.area else ""
    right = [
        Node(
            name=place.symbol or place.path.removeprefix(inside).rpartition("/")[2],
            link=search_link(view, place.path),
            is_code=True,
            heading=place.path.removeprefix(inside) if place.symbol else _folder(place.path.removeprefix(inside)),
        )
        for place in graph.places
    ]
    edges = [
        Edge(left=number, right=link.place, kind="stale" if link.freshness in STALE else "")
        for number, lesson in enumerate(lessons)
        for link in lesson.links
    ]
    caption = Caption(
        ident="graph",
        title=f"Lessons and code of {graph.area}" if graph.area else "Lessons and code of the project",
        description=(
            f"{plural(len(lessons), 'lesson')} at the left, {plural(len(right), 'file or symbol', 'files and symbols')}"
            " at the right, and a line from each lesson to the code that it is about. The table has the same links."
        ),
    )
    return bipartite(caption, left, right, edges, ("Lessons", "Code"))


def _folder(path: str) -> str:
    folder = path.rpartition("/")[0]
    return f"{folder}/" if folder else ""
