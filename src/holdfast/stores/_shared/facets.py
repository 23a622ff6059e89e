"""Counts of lessons by the values of a facet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from holdfast.domain.lesson import Lesson
from holdfast.ports.store import Facet
from holdfast.text.searchkeys import facet_values


def count_values(lessons: Iterable[Lesson], facet: Facet, most: int) -> dict[str, int]:
    """Count the lessons by the facet; return the `most` frequent values."""
    return most_frequent(Counter(value for lesson in lessons for value in facet_values(lesson, facet)), most)


def by_facet(
    rows: Iterable[tuple[Facet, str | None, int]], facets: Iterable[Facet], most: int
) -> dict[Facet, dict[str, int]]:
    """Return the `most` frequent values of each facet from rows of facet, value and count, without empty values."""
    counts: dict[Facet, dict[str, int]] = {facet: {} for facet in facets}
    for facet, value, count in rows:
        if value:
            counts[facet][value] = count
    return {facet: most_frequent(values, most) for facet, values in counts.items()}


def most_frequent(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """Return the `most` values with the highest counts, the highest first, ties by value."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return dict(ordered[: max(0, most)])
