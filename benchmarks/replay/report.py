"""A replay's figures as text for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def render(figures: dict[str, Any]) -> str:
    """One line a figure, in the order of the figures."""
    return "\n".join(_lines(figures, ""))


def _lines(value: Any, name: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{name}: {value}"
    elif set(value) == {"count", "of", "share"}:
        yield f"{name}: {value['count']} of {value['of']} = {value['share']:.3f}"
    else:
        for key, inner in value.items():
            yield from _lines(inner, f"{name}, {key}" if name else key)
