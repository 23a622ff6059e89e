"""`holdfast diff`: print the code that a lesson is about, as it was and as it is."""

from __future__ import annotations

from typing import Any

import click

from holdfast.freshness.compare import Comparison
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, note, pass_call, say

COLOURS = {"+": "green", "-": "red", "@": "cyan"}


@click.command(epilog=examples("holdfast diff 1f0c9a2b", "holdfast diff 1f0c9a2b --json"))
@click.argument("ref", metavar="ID", shell_complete=lesson_ids)
@json_option
@folder_option
@pass_call
def command(call: Call, ref: str) -> None:
    """Print how the code of a lesson has changed since the lesson was recorded. ID is the end of its id.

    The old code comes from git. If the lesson is about a definition, only the lines of that definition are compared.
    """
    with call.open() as memory:
        lesson, compared = memory.compare(ref)
        lines = [comparison.unified() for comparison in compared]
    if call.as_json:
        pairs = zip(compared, lines, strict=True)
        answer_json({"id": lesson.id, "short_id": short_id(lesson.id), "anchors": [_json(*pair) for pair in pairs]})
        return
    for comparison, difference in zip(compared, lines, strict=True):
        for line in difference:
            say(_coloured(line))
        _tell(comparison, difference)
    if not compared:
        note(f"lesson {short_id(lesson.id)} is not about code of this project")


def _tell(comparison: Comparison, difference: list[str]) -> None:
    if comparison.note:
        note(comparison.note)
    words = f": {comparison.verdict.words}" if comparison.verdict.words else ""
    same = "" if difference or comparison.then is None else ", no line differs"
    note(f"{comparison.anchor.symbol or comparison.anchor.path} is {comparison.verdict.freshness}{words}{same}")


def _coloured(line: str) -> str:
    return click.style(line, fg=COLOURS[line[0]]) if line[:1] in COLOURS else line


def _json(comparison: Comparison, difference: list[str]) -> dict[str, Any]:
    return {
        "anchor": to_plain(comparison.anchor),
        "freshness": comparison.verdict.freshness,
        "words": comparison.verdict.words,
        "now_at": to_plain(comparison.verdict.anchor),
        "then": comparison.then,
        "now": comparison.now,
        "diff": difference,
        "note": comparison.note,
    }
