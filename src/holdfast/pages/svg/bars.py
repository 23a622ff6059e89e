"""Bars from zero: columns over time, and rows with their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from holdfast.pages.svg.axis import LABEL_SIZE, Scale, amount, label_axis, round_ticks, value_axis
from holdfast.pages.svg.element import clipped, element, text_width
from holdfast.pages.svg.figure import Canvas, Caption, figure

WIDTH, HEIGHT = 360.0, 170.0
LEFT, RIGHT, TOP, BOTTOM = 40.0, 8.0, 18.0, 26.0
ROW = 24.0
"""Height of a row."""
NAME_SHARE = 0.4
"""Most of a picture's width that the names of rows may take."""
BETWEEN = 0.25
"""Share of a column's room that stays empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A named value, and the words behind its bar; without words, the value itself."""

    name: str
    value: float
    words: str = ""


def column_chart(caption: Caption, labels: Sequence[str], values: Sequence[float], *, colour: int = 1) -> Markup:
    """Return a picture of one column for each label, from zero, with the largest and the last value written on it."""
    canvas = Canvas(width=WIDTH, height=HEIGHT, left=LEFT, right=RIGHT, top=TOP, bottom=BOTTOM)
    scale, marks = value_axis(canvas, round_ticks(max(values, default=0)))
    step = canvas.inner_width / max(len(values), 1)
    middles = [canvas.left + step * (index + 0.5) for index in range(len(values))]
    marks += label_axis(canvas, labels, middles)
    for middle, value in zip(middles, values, strict=True):
        top, width = scale.at(value), step * (1 - BETWEEN)
        if value > 0:
            marks.append(
                element(
                    "rect",
                    x=middle - width / 2,
                    y=top,
                    width=width,
                    height=scale.start - top,
                    class_=f"column s{colour}",
                )
            )
    marks += _written(canvas, scale, middles, values)
    return figure(caption, canvas, *marks, kind="columns")


def _written(canvas: Canvas, scale: Scale, middles: Sequence[float], values: Sequence[float]) -> list[Markup]:
    """Return the labels of the largest and of the last value; only the largest where both would overlap."""
    marks: list[Markup] = []
    taken: list[tuple[float, float]] = []
    largest = max(range(len(values)), key=lambda index: values[index], default=0)
    for index in dict.fromkeys((largest, len(values) - 1)):
        if not values or values[index] <= 0:
            continue
        words = amount(values[index])
        half = text_width(words, LABEL_SIZE) / 2
        x = min(max(middles[index], half), canvas.width - half)
        if all(x + half + 4 < begin or x - half - 4 > end for begin, end in taken):
            taken.append((x - half, x + half))
            y = scale.at(values[index]) - 5
            marks.append(element("text", words, x=x, y=y, class_="value", text_anchor="middle"))
    return marks


def row_chart(caption: Caption, rows: Sequence[Row], *, colour: int = 1) -> Markup:
    """Return a picture of one horizontal bar for each row, from a zero line, with its name and its words."""
    widest = max((text_width(row.name, LABEL_SIZE) for row in rows), default=0.0)
    left = min(widest, WIDTH * NAME_SHARE) + 10
    words = [row.words or f"{row.value:,.0f}" for row in rows]
    right = min(max((text_width(text, LABEL_SIZE) for text in words), default=0.0), WIDTH * NAME_SHARE) + 8
    canvas = Canvas(width=WIDTH, height=ROW * len(rows) + 8, left=left, right=right, top=4, bottom=4)
    most = max((row.value for row in rows), default=0)
    scale = Scale(low=0, high=most or 1, start=left, end=WIDTH - right)
    marks = [element("line", x1=left, x2=left, y1=0, y2=canvas.height, class_="zero")]
    for index, (row, text) in enumerate(zip(rows, words, strict=True)):
        top = canvas.top + ROW * index
        end = scale.at(row.value)
        name = clipped(row.name, left - 10, LABEL_SIZE)
        marks += [
            element("text", name, x=left - 6, y=top + ROW / 2 + 4, class_="label", text_anchor="end"),
            element("rect", x=left, y=top + 4, width=end - left, height=ROW - 8, class_=f"column s{colour}"),
            element("text", clipped(text, right - 6, LABEL_SIZE), x=end + 6, y=top + ROW / 2 + 4, class_="value"),
        ]
    return figure(caption, canvas, *marks, kind="rows")
