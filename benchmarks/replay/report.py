"""A replay's figures as one table for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def render(figures: dict[str, Any]) -> str:
    """The figures in Markdown, in their order: a row each, and a heading for each group."""
    rows = list(_rows(figures, ()))
    lines = ["| | | |", "|---|---|---|"]
    before: tuple[str, ...] = ()
    for path, value in rows:
        group = path[:-1]
        lines.append(f"| {', '.join(group) if group != before else ''} | {path[-1]} | {value} |")
        before = group
    return "\n".join(lines)


def _rows(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if not isinstance(value, dict):
        yield path, str(value)
    elif set(value) == {"count", "of", "share"}:
        yield path, f"{value['count']} of {value['of']} = {value['share']:.3f}"
    elif value and not any(isinstance(inner, dict) for inner in value.values()):
        yield path, ", ".join(f"{name} {inner}" for name, inner in value.items())
    else:
        for name, inner in value.items():
            yield from _rows(inner, (*path, str(name)))
