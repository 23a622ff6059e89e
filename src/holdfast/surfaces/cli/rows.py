"""Lessons as lines and as JSON: the shapes that every command prints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.domain.ids import short_id
from holdfast.domain.lesson import Lesson
from holdfast.domain.plain import to_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.briefing import Ranked
    from holdfast.domain.vocabulary import State

COLOURS = {
    "fresh": "green", "active": "green", "moved": "cyan", "candidate": "yellow", "drifted": "yellow",
    "changed": "yellow", "unverified": "yellow", "quarantined": "red", "orphaned": "red", "retired": "bright_black",
    "superseded": "bright_black", "forgotten": "bright_black",
}  # fmt: skip
GAP = "  "


def lesson_json(lesson: Lesson, freshness: str = "", caveat: str = "") -> dict[str, Any]:
    """Every field of a lesson, also those at their default, and what follows from them. Keys are only ever added."""
    plain = {name: to_plain(getattr(lesson, name)) for name in Lesson.fields_}
    plain["short_id"] = short_id(lesson.id)
    plain["memory_type"] = lesson.memory_type
    plain["files"] = list(lesson.paths)
    plain["symbols"] = list(lesson.symbols)
    if freshness:
        plain["freshness"] = freshness
        plain["caveat"] = caveat
    return plain


def ranked_json(ranked: Ranked) -> dict[str, Any]:
    """A recalled lesson, its place, and every part of its score: (sum of shares) x (product of factors)."""
    why = ranked.why
    return {
        "rank": ranked.rank,
        "score": ranked.score,
        "freshness": ranked.freshness,
        "caveat": ranked.caveat,
        "unconfirmed": ranked.is_unconfirmed,
        "why": {
            "words": why.words,
            "shares": [dict(share.__dict__) for share in why.shares],
            "multipliers": [{"name": name, "factor": factor} for name, factor in why.multipliers],
        },
        "lesson": lesson_json(ranked.lesson),
    }


def chosen_states(given: Sequence[str]) -> tuple[State, ...]:
    """The states that `--state` options ask for: active by default; `all` is every one but forgotten."""
    return () if "all" in given else tuple(given) or ("active",)  # type: ignore[arg-type]


def lesson_cells(lesson: Lesson, last: str) -> list[str]:
    """id, kind, title, where, and a word about its state or freshness."""
    return [short_id(lesson.id), lesson.kind, lesson.title, place_of(lesson), last]


def place_of(lesson: Lesson) -> str:
    """Where a lesson belongs: its first file and how many more, else a glob, a symbol, or `everywhere`."""
    named = lesson.paths or lesson.globs or lesson.symbols
    if named:
        return named[0] + (f" +{len(named) - 1}" if len(named) > 1 else "")
    return "everywhere" if lesson.scope.level == "user" else lesson.scope.path_prefix or "-"


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned lines; on a terminal the widest column is cut so that a row stays on one line."""
    if not rows:
        return []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    if sys.stdout.isatty():
        _fit(widths)
    return [_line(row, widths) for row in rows]


def coloured(word: str) -> str:
    """The word in the colour of the state or freshness it names; plain where there is no colour."""
    return click.style(word, fg=COLOURS[word]) if word in COLOURS else word


def _fit(widths: list[int]) -> None:
    from shutil import get_terminal_size

    over = sum(widths) + len(GAP) * (len(widths) - 1) - get_terminal_size().columns
    widest = max(range(len(widths)), key=widths.__getitem__)
    if over > 0:
        widths[widest] = max(12, widths[widest] - over)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    cells = [_cell(text, width) for text, width in zip(row, widths, strict=True)]
    cells[-1] = row[-1]
    cells = [coloured(cell.strip()) + cell[len(cell.rstrip()) :] if cell.strip() in COLOURS else cell for cell in cells]
    return GAP.join(cells).rstrip()


def _cell(text: str, width: int) -> str:
    return (text if len(text) <= width else text[: width - 1] + "…").ljust(width)
