"""Shares and differences with the interval in which the truth probably lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from holdfast.pages.svg.axis import LABEL_SIZE, Scale
from holdfast.pages.svg.element import clipped, element, text_width
from holdfast.pages.svg.figure import Canvas, Caption, figure

WIDTH = 360.0
ROW = 44.0
"""Height of a row: its words, and below them its interval."""
LEFT, RIGHT, TOP, BOTTOM = 28.0, 28.0, 4.0, 24.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A named value with its interval; `words` are said at the right end of the row, `is_weak` draws it paler."""

    name: str
    words: str
    value: float
    low: float
    high: float
    colour: int = 1
    is_weak: bool = False


def interval_chart(caption: Caption, rows: Sequence[Interval], *, low: float = 0.0, high: float = 1.0) -> Markup:
    """Return a picture of one interval for each row, over shares from `low` to `high`, in per cent.

    The line at zero is stronger than the others.
    """
    canvas = Canvas(width=WIDTH, height=TOP + ROW * len(rows) + BOTTOM, left=LEFT, right=RIGHT, top=TOP, bottom=BOTTOM)
    scale = Scale(low=low, high=high, start=LEFT, end=WIDTH - RIGHT)
    floor = canvas.height - BOTTOM
    marks: list[Markup] = []
    ticks = _ticks(low, high)
    for index, row in enumerate(rows):
        marks += _rules(scale, ticks, TOP + ROW * index)
        marks += _row(row, scale, TOP + ROW * index)
    for tick in ticks:
        words = f"{tick * 100:+.3g} %" if low < 0 and tick else f"{tick * 100:.3g} %"
        marks.append(element("text", words, x=scale.at(tick), y=floor + 16, class_="tick", text_anchor="middle"))
    return figure(caption, canvas, *marks, kind="intervals")


def share_limit(highest: float) -> float:
    """Return where an axis of shares ends that has to reach the highest of them: at 10, 20, 30, 50 or 100 %."""
    return next((limit for limit in (0.1, 0.2, 0.3, 0.5) if highest <= limit), 1.0)


def _ticks(low: float, high: float) -> list[float]:
    parts = 4 if low < 0 else {0.3: 3, 0.5: 5, 1.0: 4}.get(high, 2)
    return [low + (high - low) * part / parts for part in range(parts + 1)]


def _rules(scale: Scale, ticks: Sequence[float], top: float) -> list[Markup]:
    """Return the lines of the ticks behind one row's interval, below its words."""
    return [
        element(
            "line", x1=scale.at(tick), x2=scale.at(tick), y1=top + 20, y2=top + 40, class_="rule" if tick else "zero"
        )
        for tick in ticks
    ]


def _row(row: Interval, scale: Scale, top: float) -> list[Markup]:
    y = top + 30
    begin, middle, end = scale.at(row.low), scale.at(row.value), scale.at(row.high)
    weak = " weak" if row.is_weak else ""
    room = WIDTH - 8 - text_width(row.words, LABEL_SIZE)
    return [
        element("text", clipped(row.name, room - 8, LABEL_SIZE), x=4, y=top + 14, class_="label"),
        element("text", row.words, x=WIDTH - 4, y=top + 14, class_="value", text_anchor="end"),
        element("line", x1=begin, x2=end, y1=y, y2=y, class_=f"whisker s{row.colour}{weak}"),
        element("line", x1=begin, x2=begin, y1=y - 5, y2=y + 5, class_=f"whisker s{row.colour}{weak}"),
        element("line", x1=end, x2=end, y1=y - 5, y2=y + 5, class_=f"whisker s{row.colour}{weak}"),
        element("circle", cx=middle, cy=y, r=5, class_=f"dot s{row.colour}{weak}"),
    ]
