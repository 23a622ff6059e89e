"""Lessons, tables and labelled values as lines of text, in the form that every command prints."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

import click

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import State
from holdfast.lean.texts import short_id

COLOURS = {
    "unanchored": "bright_black", "fresh": "green", "active": "green", "moved": "cyan", "candidate": "yellow",
    "drifted": "yellow", "changed": "yellow", "unverified": "yellow", "quarantined": "red", "orphaned": "red",
    "retired": "bright_black", "superseded": "bright_black", "forgotten": "bright_black",
}  # fmt: skip
STYLES: dict[str, dict[str, Any]] = {"id": {"dim": True}, "title": {"bold": True}}
"""The style of a table's column, by its heading."""
GAP = "  "
LEAST_CELL = 12
"""Columns that a cell keeps on a narrow terminal."""
LEAST_ROOM = 20
"""Columns below which a text is not wrapped."""


def chosen_states(options: Sequence[str]) -> tuple[State, ...]:
    """Return the states that `--state` options select: active by default; `all` is every state except forgotten."""
    return () if "all" in options else tuple(options) or ("active",)  # type: ignore[arg-type]


def summary_lines(lesson: Lesson, *facts: str, rank: str = "", where: str = "") -> list[str]:
    """Return a lesson as lines: on a terminal its id and title, and below them its kind, its location and the facts.

    In a pipe it is one line, separated by tabs: rank if there is one, id, kind, title, where, facts. `where` defaults
    to `place_of` the lesson.
    """
    ident = short_id(lesson.id)
    below = [lesson.kind, where or place_of(lesson), *facts]
    if not sys.stdout.isatty():
        return table([[*([rank] if rank else []), ident, lesson.kind, lesson.title, *below[1:]]])
    lead = rank + GAP if rank else ""
    indent = len(lead + ident + GAP)
    first, *rest = [click.style(line, bold=True) for line in wrapped(lesson.title, indent)]
    shown = [coloured(fact) if fact in COLOURS else click.style(fact, dim=True) for fact in below if fact != "-"]
    return [
        f"{lead}{click.style(ident, dim=True)}{GAP}{first}",
        *(" " * indent + line for line in (*rest, GAP.join(shown))),
    ]


def place_of(lesson: Lesson) -> str:
    """Return where a lesson belongs: its first file and how many more, else a glob, a symbol, or `everywhere`."""
    named = lesson.paths or lesson.globs or lesson.symbols
    if named:
        return named[0] + (f" +{len(named) - 1}" if len(named) > 1 else "")
    return "everywhere" if lesson.scope.level == "user" else lesson.scope.path_prefix or "-"


def table(rows: Sequence[Sequence[str]], heads: Sequence[str] = ()) -> list[str]:
    """Return rows as lines: on a terminal aligned under their heads, in a pipe separated by tabs.

    On a terminal the widest columns are cut until a row fits on one line. In a pipe there are no heads and nothing is
    cut; a tab or line break within a cell becomes a space.
    """
    if not rows:
        return []
    if not sys.stdout.isatty():
        return ["\t".join(" ".join(cell.split()) for cell in row) for row in rows]
    shown = [heads, *rows] if heads else rows
    widths = [max(len(row[column]) for row in shown) for column in range(len(rows[0]))]
    _fit(widths)
    lines = [_line(row, widths, heads) for row in rows]
    return [click.style(GAP.join(map(_cell, heads, widths)).rstrip(), dim=True), *lines] if heads else lines


def pairs(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return labels and their values as aligned lines; on a terminal a long value is wrapped under itself."""
    listed = [(label, value) for label, value in rows]
    width = max((len(label) for label, _ in listed), default=0) + len(GAP)
    return [line for label, value in listed for line in labelled(label, value, width)]


def labelled(label: str, value: str, width: int) -> list[str]:
    """Return the value as lines beside and below its label, which takes `width` columns."""
    lines = [line for part in value.rstrip().splitlines() or [""] for line in wrapped(part, width)]
    return [f"{label:<{width}}{lines[0]}".rstrip(), *(" " * width + line for line in lines[1:])]


def wrapped(text: str, indent: int = 0) -> list[str]:
    """Return the line, broken between words to fit a terminal beside an indent; in a pipe it is not broken."""
    room = _columns() - indent
    if not sys.stdout.isatty() or len(text) <= room or room < LEAST_ROOM or "\x1b" in text:
        return [text]
    return wrap(text, room, break_long_words=False, break_on_hyphens=False)


def coloured(word: str) -> str:
    """Return the word in the colour of the state or freshness it names, or unchanged if there is no colour for it."""
    return click.style(word, fg=COLOURS[word]) if word in COLOURS else word


def _columns() -> int:
    return get_terminal_size().columns


def _fit(widths: list[int]) -> None:
    """Narrow the widest column again and again, until a row fits the terminal or every column is at its minimum."""
    over = sum(widths) + len(GAP) * (len(widths) - 1) - _columns()
    while over > 0 and max(widths) > LEAST_CELL:
        widths[widths.index(max(widths))] -= 1
        over -= 1


def _line(row: Sequence[str], widths: Sequence[int], heads: Sequence[str]) -> str:
    cells = [_cell(text, width) for text, width in zip(row, widths, strict=True)]
    cells = [coloured(cell.strip()) + cell[len(cell.rstrip()) :] if cell.strip() in COLOURS else cell for cell in cells]
    cells[-1] = cells[-1].rstrip()
    if heads:
        columns = zip(cells, heads, strict=True)
        cells = [click.style(cell, **STYLES[head]) if head in STYLES else cell for cell, head in columns]
    return GAP.join(cells).rstrip()


def _cell(text: str, width: int) -> str:
    return (text if len(text) <= width else text[: width - 1] + "…").ljust(width)
