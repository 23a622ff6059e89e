"""Axes: round ticks from zero, and labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from markupsafe import Markup

from holdfast.pages.svg.element import element, number, text_width
from holdfast.pages.svg.figure import Canvas

LABEL_SIZE = 12.0
"""Size of the labels of axes, in units of a picture."""
GAP = 10.0
"""Least space between two labels of one axis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """Maps values from `low` to `high` to positions from `start` to `end`."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the position of a value; values outside are moved to the nearest end."""
        span = self.high - self.low
        share = (min(max(value, self.low), self.high) - self.low) / span if span else 0.0
        return self.start + share * (self.end - self.start)


def round_ticks(most: float, intervals: int = 3) -> list[float]:
    """Return ticks from 0 to at least `most` in steps of 1, 2 or 5 times a power of ten, at least 1.

    There are at most `intervals` steps. Without a positive value the ticks are 0 and 1.
    """
    if most <= 0:
        return [0.0, 1.0]
    rough = max(most / intervals, 1.0)
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor * intervals >= most)
    return [step * count for count in range(ceil(most / step) + 1)]


def amount(value: float) -> str:
    """Return a count for a label: 950, 1.2k, 35k, 2M."""
    for limit, ending in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            scaled = value / limit
            return f"{scaled:.0f}{ending}" if abs(scaled) >= 10 else f"{number(scaled)}{ending}"
    return number(value)


def value_axis(canvas: Canvas, ticks: Sequence[float]) -> tuple[Scale, list[Markup]]:
    """Return the vertical scale and its lines with labels at the left; the line of zero has a class of its own."""
    scale = Scale(low=ticks[0], high=ticks[-1], start=canvas.height - canvas.bottom, end=canvas.top)
    marks: list[Markup] = []
    for tick in ticks:
        y = scale.at(tick)
        kind = "zero" if tick == 0 else "rule"
        marks += [
            element("line", x1=canvas.left, x2=canvas.width - canvas.right, y1=y, y2=y, class_=kind),
            element("text", amount(tick), x=canvas.left - 6, y=y + 4, class_="tick", text_anchor="end"),
        ]
    return scale, marks


def label_axis(canvas: Canvas, labels: Sequence[str], positions: Sequence[float]) -> list[Markup]:
    """Return the labels below the field; an empty label, and one that would overlap the one before, is left out."""
    marks: list[Markup] = []
    free = 0.0
    for label, x in zip(labels, positions, strict=True):
        half = text_width(label, LABEL_SIZE) / 2
        begin = min(max(x - half, 0.0), canvas.width - 2 * half)
        if not label or begin < free:
            continue
        free = begin + 2 * half + GAP
        y = canvas.height - canvas.bottom
        marks += [
            element("line", x1=x, x2=x, y1=y, y2=y + 4, class_="zero"),
            element("text", label, x=begin + half, y=y + 17, class_="tick", text_anchor="middle"),
        ]
    return marks


def spread_out(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions from `low` to `high`, near the wanted ones and at least `gap` apart, in the same order.

    Where they do not all fit, they are evenly spaced over the whole range, closer than `gap`.
    """
    count = len(wanted)
    order = sorted(range(count), key=lambda index: (wanted[index], index))
    if count > 1 and gap * (count - 1) > high - low:
        gap = (high - low) / (count - 1)
    places = [0.0] * count
    free = low
    for index in order:
        places[index] = max(wanted[index], free)
        free = places[index] + gap
    limit = high
    for index in reversed(order):
        places[index] = min(places[index], limit)
        limit = places[index] - gap
    return places
