"""`holdfast blame`: list the lessons about a file's lines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from holdfast.lean.texts import short_id
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import table

if TYPE_CHECKING:
    from holdfast.curation.blame import Blamed

HEADS = ("lines", "of", "id", "title", "state")
_LINES = re.compile(r"^(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?$")


@click.command(
    epilog=examples("holdfast blame src/app.py", "holdfast blame src/app.py:40-60", "holdfast blame src/app.py --json")
)
@click.argument("where", metavar="FILE[:LINES]")
@json_option
@folder_option
@pass_call
def command(call: Call, where: str) -> None:
    """List the active lessons about a file, from top to bottom, or about some of its lines: FILE:40 or FILE:40-60.

    Each row has the lines, the definition there, and the lesson's id, title and freshness. Definitions are looked up in
    the current code, so a lesson moves with its code. Lessons about the whole file come last.
    """
    match = _LINES.match(where)
    path = match["path"] if match else where
    lines = (int(match["first"]), int(match["last"] or match["first"])) if match else None
    with call.open() as memory:
        entries = memory.blame(path, lines)
    if call.as_json:
        answer_json({"lessons": [_json(entry) for entry in entries]})
        return
    for line in table([_cells(entry) for entry in entries], HEADS):
        say(line)
    note(f"{counted(len({entry.lesson.id for entry in entries}), 'lesson')} about {where}")


def _json(entry: Blamed) -> dict[str, object]:
    return {
        "start": entry.start or None,
        "end": entry.end or None,
        "symbol": entry.symbol,
        "lesson": lesson_json(entry.lesson, entry.freshness, entry.caveat),
    }


def _cells(entry: Blamed) -> list[str]:
    lines = f"{entry.start}-{entry.end}" if entry.start else "all"
    return [lines, entry.symbol or "the file", short_id(entry.lesson.id), entry.lesson.title, entry.freshness]
