"""A treemap: rectangles whose areas are proportional to sizes, one level inside another.

Source of the layout: Bruls, Huizing & van Wijk, Squarified Treemaps, Proceedings of the Joint Eurographics and IEEE
TCVG Symposium on Visualization 2000, pages 33 to 42. Sizes are placed from the largest in rows along the shorter side
of the space that is left, as long as the next one makes the row's worst ratio of sides, max(w²·r / s², s² / (w²·r)),
no worse: w is that side, s the sum of the row's areas, r each area in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from markupsafe import Markup, escape

from holdfast.pages.svg.element import BOLD, clean, clipped, element, group, text_width
from holdfast.pages.svg.figure import Canvas, Caption, figure

WIDTH, HEIGHT = 960.0, 620.0
HEADER = 20.0
"""Height of the line with a folder's name above what is in it."""
NESTED_WIDTH, NESTED_HEIGHT = 70.0, 56.0
"""Size from which a folder shows what is in it."""
NAME_SIZE, WORDS_SIZE = 13.0, 12.0
PAD = 5.0
"""Space between a rectangle's edge and its words."""
FIRST_LINE, LINE = 15.0, 15.0
"""Distance of the first line of words from the upper edge, and of each line from the one before."""
FRAME = 1.5
"""How far the rectangle of a tile with a sign, which has a frame, stands back from its edge."""
LEAST_CHARACTERS = 5
"""Characters of a clipped name that still say something."""
MARK_WIDTH = 14.0
"""Space for the sign in the upper right corner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rectangle:
    """A rectangle, by its upper left corner and its size."""

    x: float
    y: float
    width: float
    height: float

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One rectangle of a treemap: its name, its words, where it leads, and what is in it."""

    name: str
    size: float
    kind: str
    """Classes by which the style sheet fills it."""
    link: str = ""
    words: tuple[str, ...] = ()
    """What is written below the name where there is room, a line each; the tooltip has all of it."""
    hatching: str = ""
    """Lines over its fill: `some`, `most`, or empty for none."""
    sign: str = ""
    """One character in the corner, for those who do not see its colour."""
    inner: tuple[Tile, ...] = ()


def squarify(sizes: Sequence[float], space: Rectangle) -> list[Rectangle]:
    """Return a rectangle for each size, in the order of the sizes; together they fill the space.

    Areas are proportional to the sizes. A size of 0 or less gets an empty rectangle.
    """
    total = sum(size for size in sizes if size > 0)
    rectangles = [Rectangle(x=space.x, y=space.y, width=0, height=0)] * len(sizes)
    if total <= 0 or space.area <= 0:
        return rectangles
    order = sorted((index for index, size in enumerate(sizes) if size > 0), key=lambda index: (-sizes[index], index))
    areas = [sizes[index] / total * space.area for index in order]
    begin = 0
    while begin < len(order):
        side = min(space.width, space.height)
        end = _row_end(areas, begin, side)
        row, space = _lay(areas[begin:end], space)
        for index, rectangle in zip(order[begin:end], row, strict=True):
            rectangles[index] = rectangle
        begin = end
    return rectangles


def _row_end(areas: Sequence[float], begin: int, side: float) -> int:
    """Return where the row that starts at `begin` ends: before the first area that makes its worst ratio worse."""
    worst = float("inf")
    for end, total in enumerate(accumulate(areas[begin:]), begin + 1):
        largest, smallest = areas[begin], areas[end - 1]
        ratio = max(side**2 * largest / total**2, total**2 / (side**2 * smallest)) if side else 0.0
        if ratio > worst:
            return end - 1
        worst = ratio
    return len(areas)


def _lay(areas: Sequence[float], space: Rectangle) -> tuple[list[Rectangle], Rectangle]:
    """Return the row's rectangles along the shorter side of the space, and what is left of the space."""
    total = sum(areas)
    row: list[Rectangle] = []
    if space.width >= space.height:  # the row is a column at the left
        thickness = min(total / space.height, space.width)
        y = space.y
        for area in areas:
            height = space.height * area / total
            row.append(Rectangle(x=space.x, y=y, width=thickness, height=height))
            y += height
        rest = Rectangle(x=space.x + thickness, y=space.y, width=space.width - thickness, height=space.height)
        return row, rest
    thickness = min(total / space.width, space.height)
    x = space.x
    for area in areas:
        width = space.width * area / total
        row.append(Rectangle(x=x, y=space.y, width=width, height=thickness))
        x += width
    rest = Rectangle(x=space.x, y=space.y + thickness, width=space.width, height=space.height - thickness)
    return row, rest


def treemap(caption: Caption, tiles: Sequence[Tile]) -> Markup:
    """Return a picture of the tiles; those that are large enough show what is in them."""
    canvas = Canvas(width=WIDTH, height=HEIGHT)
    space = Rectangle(x=0, y=0, width=WIDTH, height=HEIGHT)
    marks: list[Markup] = []
    for tile, rectangle in zip(tiles, squarify([tile.size for tile in tiles], space), strict=True):
        if rectangle.area > 0:
            marks += _drawn(tile, rectangle, is_outer=True)
    return figure(caption, canvas, _hatching(caption), *marks, kind="treemap", has_links=True)


def _hatching(caption: Caption) -> Markup:
    """Return the patterns that the style sheet lays over what is stale: sparse, and dense where most of it is."""
    patterns = [
        element(
            "pattern", element("line", x1=0, y1=0, x2=0, y2=distance, class_="hatch"), id=f"{caption.ident}-{name}",
            width=distance, height=distance, patternUnits="userSpaceOnUse", patternTransform="rotate(45)",
        )
        for name, distance in (("some", 14), ("most", 7))
    ]  # fmt: skip
    return element("defs", *patterns)


def _drawn(tile: Tile, rectangle: Rectangle, *, is_outer: bool) -> list[Markup]:
    """Return the tile's own rectangle with its words, and what is in it."""
    is_nested = bool(tile.inner) and rectangle.width >= NESTED_WIDTH and rectangle.height >= NESTED_HEIGHT
    level = "outer" if is_outer else "inner"
    # A frame would lie half under the neighbours that are drawn later.
    inset = FRAME if tile.sign and not is_nested else 0
    box = _box(rectangle, f"tile {level} {'folder' if is_nested else tile.kind}", inset)
    hatch = [_box(rectangle, f"hatched {tile.hatching}")] if tile.hatching and not is_nested else []
    letters = _lettering(tile, rectangle, is_heading=is_nested)
    parts = [*_tooltip(tile, letters), box, *hatch, *letters]
    marks = [element("a", *parts, href=tile.link) if tile.link else group(parts)]
    if is_nested:
        inside = Rectangle(
            x=rectangle.x + 2, y=rectangle.y + HEADER, width=rectangle.width - 4, height=rectangle.height - HEADER - 2
        )
        for child, place in zip(tile.inner, squarify([child.size for child in tile.inner], inside), strict=True):
            if place.area > 0:
                marks += _drawn(child, place, is_outer=False)
    return marks


def _box(rectangle: Rectangle, kind: str, inset: float = 0) -> Markup:
    inset = min(inset, rectangle.width / 2, rectangle.height / 2)
    return element(
        "rect", x=rectangle.x + inset, y=rectangle.y + inset, width=rectangle.width - 2 * inset,
        height=rectangle.height - 2 * inset, class_=kind,
    )  # fmt: skip


def _tooltip(tile: Tile, letters: list[Markup]) -> list[Markup]:
    """Return the title of a tile that does not have room for all of its words."""
    lines = [tile.name, *tile.words]
    written = "".join(letters)
    is_whole = all(f">{escape(clean(line))}<" in written for line in lines)
    return [] if is_whole else [element("title", "\n".join(lines))]


def _lettering(tile: Tile, rectangle: Rectangle, *, is_heading: bool) -> list[Markup]:
    """Return the sign, the name and as many lines of words as the rectangle has room for."""
    marks: list[Markup] = []
    room = rectangle.width - 2 * PAD
    if rectangle.height < FIRST_LINE + 3 or room < NAME_SIZE:
        return marks
    x, y = rectangle.x + PAD, rectangle.y + FIRST_LINE
    if tile.sign and not is_heading and room >= MARK_WIDTH:
        end = rectangle.x + rectangle.width - PAD
        marks.append(element("text", tile.sign, x=end, y=y, class_="sign", text_anchor="end"))
        room -= MARK_WIDTH
    name = clipped(tile.name, room, NAME_SIZE * BOLD)
    if len(name) < min(len(tile.name), LEAST_CHARACTERS):
        name = ""
    if is_heading and tile.words:
        width = text_width(name, NAME_SIZE * BOLD) + 10
        rest = clipped(" · ".join(tile.words), room - width, WORDS_SIZE)
        marks.append(element("text", rest, x=x + width, y=y, class_="words"))
    if name:
        marks.append(element("text", name, x=x, y=y, class_="name"))
    lines = 0 if is_heading else int((rectangle.height - FIRST_LINE - 4) // LINE)
    for line, words in enumerate(tile.words[: max(lines, 0)], 1):
        text = clipped(words, rectangle.width - 2 * PAD, WORDS_SIZE)
        if len(text) >= min(len(words), LEAST_CHARACTERS):
            marks.append(element("text", text, x=x, y=y + line * LINE, class_="words"))
    return marks
