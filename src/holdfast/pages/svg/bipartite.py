"""A graph in two columns: names at the left, names at the right, and a curve for each link between them.

Both columns are put in the order that crosses fewest links: each name moves to the mean position (barycentre) of those
that it is linked with, the columns in turn, and the best order that was seen is taken.
Source: Sugiyama, Tagawa & Toda, Methods for Visual Understanding of Hierarchical System Structures, IEEE Transactions
on Systems, Man, and Cybernetics 11(2), 1981, pages 109 to 125.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from holdfast.pages.svg.element import clipped, element, number, text_width
from holdfast.pages.svg.figure import Canvas, Caption, figure

WIDTH = 960.0
LEFT_EDGE, RIGHT_EDGE = 430.0, 600.0
"""Where the links begin and end."""
LEFT_ROW, RIGHT_ROW = 38.0, 28.0
"""Least heights of a row of either column."""
SIZE = 13.0
GAP = 10.0
"""Space between a name and its dot."""
LINES = 2
"""Lines that a name at the left may take."""
ROUNDS = 12
"""How often both columns are ordered anew at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One name of a column: where it leads, and the classes of its dot."""

    name: str
    link: str = ""
    kind: str = ""
    is_code: bool = False
    heading: str = ""
    """A smaller line above the name, such as the file of a symbol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A link from a name at the left to one at the right, by their numbers, and its classes."""

    left: int
    right: int
    kind: str = ""


Pair = tuple[int, int]


def crossings(left: Sequence[int], right: Sequence[int], pairs: Sequence[Pair]) -> int:
    """Return how many pairs of links cross, with the columns in that order."""
    at_left = {node: place for place, node in enumerate(left)}
    at_right = {node: place for place, node in enumerate(right)}
    placed = sorted((at_left[begin], at_right[end]) for begin, end in pairs)
    return sum(
        first[0] < second[0] and first[1] > second[1]
        for index, first in enumerate(placed)
        for second in placed[index + 1 :]
    )


def arrange(left_count: int, right_count: int, pairs: Sequence[Pair]) -> tuple[list[int], list[int]]:
    """Return the order of both columns with the fewest crossings that barycentres lead to, from the order of input."""
    left, right = list(range(left_count)), list(range(right_count))
    best = (crossings(left, right, pairs), left, right)
    for _ in range(ROUNDS):
        before = (left, right)
        right = _ordered(right, left, [(end, begin) for begin, end in pairs])
        left = _ordered(left, right, pairs)
        count = crossings(left, right, pairs)
        if count < best[0]:
            best = (count, left, right)
        if (left, right) == before or count == 0:
            break
    return best[1], best[2]


def _ordered(column: Sequence[int], other: Sequence[int], pairs: Sequence[Pair]) -> list[int]:
    """Return the column by the mean place of what each node is linked with; a node without links stays where it is."""
    place = {node: index for index, node in enumerate(other)}
    linked: dict[int, list[int]] = {}
    for node, target in pairs:
        linked.setdefault(node, []).append(place[target])
    own = {node: index * max(len(other) - 1, 1) / max(len(column) - 1, 1) for index, node in enumerate(column)}
    means = {node: sum(linked[node]) / len(linked[node]) if node in linked else own[node] for node in column}
    return sorted(column, key=lambda node: means[node])  # stable: equal means keep their order


def bipartite(
    caption: Caption, left: Sequence[Node], right: Sequence[Node], edges: Sequence[Edge], titles: tuple[str, str]
) -> Markup:
    """Return a picture of both columns under their titles, with a curve for each link."""
    pairs = [(edge.left, edge.right) for edge in edges]
    left_order, right_order = arrange(len(left), len(right), pairs)
    top = 34.0
    inner = max(LEFT_ROW * len(left), RIGHT_ROW * len(right), LEFT_ROW)
    canvas = Canvas(width=WIDTH, height=top + inner + 8, top=top, bottom=8)
    left_at = {node: top + inner * (index + 0.5) / len(left) for index, node in enumerate(left_order)}
    right_at = {node: top + inner * (index + 0.5) / len(right) for index, node in enumerate(right_order)}
    marks = [
        element("text", titles[0], x=LEFT_EDGE - GAP, y=16, class_="column-title", text_anchor="end"),
        element("text", titles[1], x=RIGHT_EDGE + GAP, y=16, class_="column-title"),
    ]
    marks += [_curve(edge, left_at[edge.left], right_at[edge.right]) for edge in edges]
    marks += [_left_node(left[node], left_at[node]) for node in left_order]
    marks += [_right_node(right[node], right_at[node]) for node in right_order]
    return figure(caption, canvas, *marks, kind="graph", has_links=True)


def _curve(edge: Edge, begin: float, end: float) -> Markup:
    middle = number((LEFT_EDGE + RIGHT_EDGE) / 2)
    path = (
        f"M{number(LEFT_EDGE)} {number(begin)} C{middle} {number(begin)} {middle} {number(end)} "
        f"{number(RIGHT_EDGE)} {number(end)}"
    )
    return element("path", d=path, class_=f"edge {edge.kind}".strip())


def _left_node(node: Node, y: float) -> Markup:
    lines = wrapped(node.name, LEFT_EDGE - 2 * GAP, SIZE, LINES)
    first = y + 4 - (len(lines) - 1) * (SIZE + 3) / 2
    texts = [
        element("text", line, x=LEFT_EDGE - GAP, y=first + index * (SIZE + 3), class_="name", text_anchor="end")
        for index, line in enumerate(lines)
    ]
    return _linked(node, [*texts, element("circle", cx=LEFT_EDGE, cy=y, r=5, class_=f"dot {node.kind}".strip())])


def _right_node(node: Node, y: float) -> Markup:
    room = WIDTH - RIGHT_EDGE - 2 * GAP
    name = clipped(node.name, room, SIZE, is_code=node.is_code)
    kind = "name code" if node.is_code else "name"
    texts = []
    if node.heading:
        heading = clipped(node.heading, room, SIZE - 2, is_code=True, keep_end=True)
        texts.append(element("text", heading, x=RIGHT_EDGE + GAP, y=y - 4, class_="heading code"))
    texts.append(element("text", name, x=RIGHT_EDGE + GAP, y=y + (10 if node.heading else 4), class_=kind))
    dot = element("rect", x=RIGHT_EDGE - 5, y=y - 5, width=10, height=10, class_=f"dot {node.kind}".strip())
    return _linked(node, [*texts, dot])


def _linked(node: Node, parts: list[Markup]) -> Markup:
    """Return the parts as a link, or as a group without one; the tooltip has the whole name."""
    tooltip = element("title", " ".join(filter(None, (node.heading, node.name))))
    return element("a", tooltip, *parts, href=node.link) if node.link else element("g", tooltip, *parts)


def wrapped(text: str, width: float, size: float, most: int) -> list[str]:
    """Return the text in at most `most` lines of that width, broken between words; the last one may be clipped."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < most - 1:
        count = 1
        while count < len(words) and text_width(" ".join(words[: count + 1]), size) <= width:
            count += 1
        lines.append(clipped(" ".join(words[:count]), width, size))
        words = words[count:]
    return [*lines, clipped(" ".join(words), width, size)] if words else lines
