"""`holdfast diff`: the code a lesson is about, then and now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.lean.plain import to_plain
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, note, pass_call, say

if TYPE_CHECKING:
    from holdfast.freshness.compare import Comparison

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(epilog=examples("holdfast diff 1f0c9a2b", "holdfast diff 1f0c9a2b --json"))
@click.argument("ref", metavar="ID", shell_complete=lesson_ids)
@json_option
@folder_option
@pass_call
def command(call: Call, ref: str) -> None:
    """Print what became of the code a lesson is about since it was recorded. ID is the end of its id.

    The code of then is asked of git; of a definition only its own lines are compared.
    """
    with call.open() as memory:
        lesson, compared = memory.compare(ref)
        lines = [one.unified() for one in compared]
    if call.as_json:
        pairs = zip(compared, lines, strict=True)
        answer_json({"id": lesson.id, "short_id": short_id(lesson.id), "anchors": [_json(*pair) for pair in pairs]})
        return
    for one, difference in zip(compared, lines, strict=True):
        for line in difference:
            say(_coloured(line))
        _tell(one, difference)
    if not compared:
        note(f"lesson {short_id(lesson.id)} is about no code of this project")


def _tell(one: Comparison, difference: list[str]) -> None:
    if one.note:
        note(one.note)
    words = f": {one.verdict.words}" if one.verdict.words else ""
    same = "" if difference or one.then is None else ", no line differs"
    note(f"{one.anchor.symbol or one.anchor.path} is {one.verdict.freshness}{words}{same}")


def _coloured(line: str) -> str:
    return click.style(line, fg=COLOURS[line[0]]) if line[:1] in COLOURS else line


def _json(one: Comparison, difference: list[str]) -> dict[str, Any]:
    return {
        "anchor": to_plain(one.anchor),
        "freshness": one.verdict.freshness,
        "words": one.verdict.words,
        "now_at": to_plain(one.verdict.anchor),
        "then": one.then,
        "now": one.now,
        "diff": difference,
        "note": one.note,
    }
