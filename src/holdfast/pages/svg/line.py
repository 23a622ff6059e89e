"""Lines over time, each labelled at its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from holdfast.pages.svg.axis import LABEL_SIZE, label_axis, round_ticks, spread_out, value_axis
from holdfast.pages.svg.element import clipped, element, number, text_width
from holdfast.pages.svg.figure import Canvas, Caption, figure

WIDTH, HEIGHT = 360.0, 200.0
LEFT, TOP, BOTTOM = 40.0, 12.0, 26.0
NAME_GAP = 15.0
"""Least distance between the labels of two lines."""
NAMES_WIDTH = 132.0
"""Most space for the labels of the lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """One series: its values in order, and the number of its colour, from 1."""

    name: str
    values: tuple[float, ...]
    colour: int


def line_chart(caption: Caption, labels: Sequence[str], lines: Sequence[Series]) -> Markup:
    """Return a picture of the lines over the labels' points in time, from zero, each with name and last value.

    Every line has as many values as there are labels, at least one. Empty labels get no tick.
    """
    names = [f"{line.name} {line.values[-1]:,.0f}" for line in lines]
    widest = max((text_width(name, LABEL_SIZE) for name in names), default=0.0)
    canvas = Canvas(width=WIDTH, height=HEIGHT, left=LEFT, right=min(widest, NAMES_WIDTH) + 14, top=TOP, bottom=BOTTOM)
    scale, marks = value_axis(canvas, round_ticks(max((max(line.values) for line in lines), default=0)))
    step = canvas.inner_width / max(len(labels) - 1, 1)
    xs = [canvas.left + step * index for index in range(len(labels))]
    marks += label_axis(canvas, labels, xs)
    end = canvas.width - canvas.right
    heights = spread_out(
        [scale.at(line.values[-1]) for line in lines], NAME_GAP, canvas.top, canvas.height - canvas.bottom
    )
    for line, name, y in zip(lines, names, heights, strict=True):
        points = [(x, scale.at(value)) for x, value in zip(xs, line.values, strict=True)]
        path = " ".join(f"{'L' if index else 'M'}{number(x)} {number(at)}" for index, (x, at) in enumerate(points))
        marks += [
            element("path", d=path, class_=f"line s{line.colour}"),
            element("circle", cx=points[-1][0], cy=points[-1][1], r=3, class_=f"dot s{line.colour}"),
            element("text", clipped(name, NAMES_WIDTH, LABEL_SIZE), x=end + 9, y=y + 4, class_=f"name s{line.colour}"),
        ]
    return figure(caption, canvas, *marks, kind="lines")
