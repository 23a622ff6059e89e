"""What every command prints: lines, notes, JSON, tables and bars; and how it reads texts and times."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

import click

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import State
from holdfast.lean.texts import counted, short_id
from holdfast.lessons.lookup import named_instant
from holdfast.text.hidden import is_hidden, without_hidden

COLOURS = {
    "unanchored": "bright_black", "fresh": "green", "active": "green", "moved": "cyan", "candidate": "yellow",
    "drifted": "yellow", "changed": "yellow", "unverified": "yellow", "quarantined": "red", "orphaned": "red",
    "retired": "bright_black", "superseded": "bright_black", "forgotten": "bright_black",
}  # fmt: skip
STYLES: dict[str, dict[str, Any]] = {"id": {"dim": True}, "title": {"bold": True}}
"""The style of a table's column, by its heading."""
GAP = "  "
LABEL = 10
"""Width of the labels' column."""
LEAST_CELL = 12
"""Columns that a cell keeps on a narrow terminal."""
LEAST_ROOM = 20
"""Columns below which a text is not wrapped."""
_COLOUR = re.compile(r"\[(?:0|1|2|22|3\d|39|9\d)m")
"""The colour codes that `click.style` writes, without the code that conceals text."""


def say(*lines: str) -> None:
    """Print lines of a result on stdout, without hidden characters."""
    for line in lines:
        click.echo(shown(line))


def note(text: str) -> None:
    """Print a message for the person on stderr, without hidden characters; a terminal gets it wrapped between words."""
    text = shown(text)
    if sys.stderr.isatty() and "\n" not in text and "\x1b" not in text:
        # A command or a path has to stay in one piece, so that it can be copied.
        text = "\n".join(wrap(text, get_terminal_size().columns, break_long_words=False, break_on_hyphens=False))
    click.echo(text, err=True)


def note_conflicts(count: int) -> None:
    """Print in how many conflicts the imported lessons take part; print nothing for none."""
    if count:
        note(f"{counted(count, 'conflict')} with imported lessons: holdfast list --conflicts")


def answer_json(value: Any) -> None:
    """Print a value as one JSON document, indented on a terminal. Hidden characters are written as escapes."""
    indent = 2 if sys.stdout.isatty() else None
    click.echo(escaped(json.dumps(value, ensure_ascii=False, indent=indent)))


def shown(text: str) -> str:
    """Return the text without invisible and control characters; only the colours of `click.style` stay."""
    pieces = text.split("\x1b")
    colours = [_COLOUR.match(piece) for piece in pieces[1:]]
    rest = [
        f"\x1b{colour.group()}{without_hidden(piece[colour.end() :])}" if colour else without_hidden(piece)
        for colour, piece in zip(colours, pieces[1:], strict=True)
    ]
    return "".join([without_hidden(pieces[0]), *rest])


def escaped(text: str) -> str:
    """Return JSON of the same value, with its hidden characters written as escapes."""
    if text.isascii():
        return text
    return "".join(_escape(char) if not char.isascii() and is_hidden(char) else char for char in text)


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def short_path(text: str) -> str:
    """Return the text with `~` for the user's home folder on a terminal, and unchanged in a pipe."""
    home = os.path.expanduser("~")
    return text.replace(home + os.sep, "~" + os.sep) if sys.stdout.isatty() and len(home) > 1 else text


def size(count: int) -> str:
    """Return a number of bytes in words: `812 bytes`, `4.2 kB`, `17.0 MB`."""
    if count < 1_000:
        return counted(count, "byte")
    return f"{count / 1e3:.1f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"


def read_text(text: str) -> str:
    """Return the text, or all of stdin for `-`."""
    if text != "-":
        return text
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def read_time(text: str) -> datetime | None:
    """Return the instant that a person typed: ISO 8601, or words such as `yesterday`, `last week`, `3 days ago`.

    A span of time stands for its beginning, an empty text for None. Raises InvalidValueError.
    """
    return named_instant(text, datetime.now(UTC)) if text else None


def chosen_states(options: Sequence[str]) -> tuple[State, ...]:
    """Return the states that `--state` options select: active by default; `all` is every state except forgotten."""
    return () if "all" in options else tuple(options) or ("active",)  # type: ignore[arg-type]


def summary_lines(lesson: Lesson, *facts: str, rank: str = "", where: str = "", shared: str = "") -> list[str]:
    """Return a lesson as lines: on a terminal its id and title, and below them its kind, its location and the facts.

    In a pipe it is one line, separated by tabs: rank if there is one, id, kind, title, where, facts. `where` defaults
    to `place_of` the lesson. `shared` is the id of its shared file, which is printed then, as all machines know it.
    """
    ident = short_id(shared or lesson.id)
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


class Bar:
    """A progress bar, which disappears at the end; it shows nothing if stderr is not a terminal."""

    def __init__(self, progress: Any = None, task: Any = None) -> None:
        self._progress, self._task = progress, task

    def __bool__(self) -> bool:
        return self._progress is not None

    def advance(self, count: int = 1) -> None:
        """Show that so many more are done."""
        if self:
            self._progress.advance(self._task, count)

    def show(self, done: int, total: int | None = None) -> None:
        """Show how many are done; of how many, if that is known by now."""
        if self:
            self._progress.update(self._task, completed=done, **({} if total is None else {"total": total}))

    def say(self, line: str) -> None:
        """Print a line above the bar."""
        self._progress.console.print(line, markup=False, highlight=False)


@contextmanager
def bar(label: str, total: int | None = None, *, in_bytes: bool = False) -> Iterator[Bar]:
    """Yield a bar; a false one if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield Bar()
        return
    from rich.console import Console  # slow to import, and seldom needed
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    count = DownloadColumn() if in_bytes else TextColumn("{task.completed:,.0f}")
    columns = (TextColumn(label), BarColumn(), count, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress, progress.add_task("", total=total))
