"""The map: a treemap of files and folders beside a table, and the graph of one area."""

from __future__ import annotations

from dataclasses import dataclass, replace

from markupsafe import Markup

from holdfast.errors import NotFoundError
from holdfast.lean.texts import counted
from holdfast.pages.mappicture import area_words, draw_map, file_link, make_plan
from holdfast.pages.page import Page, PageRow
from holdfast.pages.svg.bipartite import Edge, Node, bipartite
from holdfast.pages.svg.figure import Caption
from holdfast.pages.view import View
from holdfast.reports.areagraph import AreaGraph, graph_of
from holdfast.reports.map import STALE, CodeMap, MapArea, map_of

TABLE_ROWS = 16
"""Rows of the table, unless all are asked for."""
FOLDERS = 12
"""Folders that can be chosen above the table."""


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
    folders: tuple[str, ...]
    """The folders directly in the area, the largest."""
    rows: tuple[MapArea, ...]
    """The files and folders of the picture with something to say: trouble without a lesson first, then stale lessons,
    then most lessons. If all are asked for, everything that is directly in the area."""
    hidden: int
    """Those that the table leaves out, the least urgent."""
    is_all: bool
    undrawn: int
    """Files that the picture leaves out, because they are too many to be seen."""


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
    code_map = map_of(view.memory.services, view.memory.location, query.area, view.sees if view.is_static else None)
    whole = code_map.whole
    if whole.path and not whole.files:
        raise NotFoundError(f"there is no folder {whole.path} on the map", hint="start at the whole project's map")
    plan = make_plan(code_map)
    areas = whole.inner if query.all else [area for area in plan.leaves if area_words(area)]
    rows = sorted(areas, key=_urgency)
    shown = rows if query.all else rows[:TABLE_ROWS]
    data = MapData(
        map=replace(code_map, whole=replace(whole, inner=())),
        way=_way(whole.path),
        folders=tuple(area.path for area in whole.inner if area.is_folder)[:FOLDERS],
        rows=tuple(replace(row, inner=()) for row in shown),
        hidden=len(rows) - len(shown),
        is_all=query.all,
        undrawn=plan.undrawn,
    )
    return Page(template="map", data=data, pictures=lambda: {"treemap": draw_map(view, code_map, plan)})


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


# The graph


def draw_graph(view: View, graph: AreaGraph) -> Markup:
    """Return the picture of the lessons and the code; empty without any link."""
    lessons = [lesson for lesson in graph.lessons if lesson.links]
    if not lessons:
        return Markup("")
    left = [
        Node(
            name=lesson.title, link=view.link("lesson", lesson=lesson.id) if view.addresses.row("lesson") else "",
            kind="stale" if lesson.freshness in STALE else "fresh" if lesson.freshness in ("fresh", "moved") else "",
        )
        for lesson in lessons
    ]  # fmt: skip
    inside = f"{graph.area}/" if graph.area else ""
    right = [
        Node(
            name=place.symbol or place.path.removeprefix(inside).rpartition("/")[2],
            link=file_link(view, place.path, place.lessons),
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
            f"{counted(len(lessons), 'lesson')} at the left,"
            f" {counted(len(right), 'file or symbol', 'files and symbols')} at the right, and a line"
            " from each lesson to the code that it is about. The table has the same links."
        ),
    )
    return bipartite(caption, left, right, edges, ("Lessons", "Code"))


def _folder(path: str) -> str:
    folder = path.rpartition("/")[0]
    return f"{folder}/" if folder else ""
