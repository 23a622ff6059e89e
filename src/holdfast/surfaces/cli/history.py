"""`holdfast history`: print the versions of a lesson, or the lessons about a file's lines."""

from __future__ import annotations

import re
from typing import Any

import click

from holdfast.curation.lineage import Blamed, Version
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import short_id
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli._completions import lesson_ids
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
from holdfast.text.window import clip

TEXT_SHOWN = 120
"""Characters of a field that are shown before and after."""


_LINES = re.compile(r"^(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?$")


@click.command(epilog=examples("holdfast history 1f0c9a2b", "holdfast history --file src/app.py:40-60"))
@click.argument("ref", metavar="[ID]", default="", shell_complete=lesson_ids)
@click.option("--file", "where", default="", metavar="FILE[:LINES]", help="List the lessons about these lines instead.")
@json_option
@folder_option
@pass_call
def command(call: Call, ref: str, where: str) -> None:
    """Print every version of a lesson, of the lessons it superseded and of its successors, oldest first.

    Each version shows when it was recorded, by which change and by whom, and what differs from the version before. ID
    is the end of the lesson's id.

    With --file, list the active lessons about a file from top to bottom, or about some of its lines: FILE:40 or
    FILE:40-60. Definitions are looked up in the current code; lessons about the whole file come last.
    """
    if bool(ref) == bool(where):
        raise click.UsageError("name the ID of a lesson, or --file FILE")
    if where:
        _print_about(call, where)
        return
    with call.open() as memory:
        versions = memory.lineage(ref)
    if call.as_json:
        answer_json({"versions": [version_json(version) for version in versions]})
        return
    for version in versions:
        for line in version_lines(version):
            say(line)
    lessons = {version.lesson.id for version in versions}
    note(f"{counted(len(versions), 'version')} of {counted(len(lessons), 'lesson')} (UTC)")


def _print_about(call: Call, where: str) -> None:
    match = _LINES.match(where)
    path = match["path"] if match else where
    lines = (int(match["first"]), int(match["last"] or match["first"])) if match else None
    with call.open() as memory:
        entries = memory.blame(path, lines)
    if call.as_json:
        answer_json({"lessons": [_about_json(entry) for entry in entries]})
        return
    for line in table([_about_cells(entry) for entry in entries], ("lines", "of", "id", "title", "state")):
        say(line)
    note(f"{counted(len({entry.lesson.id for entry in entries}), 'lesson')} about {where}")


def _about_json(entry: Blamed) -> dict[str, Any]:
    lesson = lesson_json(entry.lesson, entry.freshness, entry.caveat)
    return {"start": entry.start or None, "end": entry.end or None, "symbol": entry.symbol, "lesson": lesson}


def _about_cells(entry: Blamed) -> list[str]:
    lines = f"{entry.start}-{entry.end}" if entry.start else "all"
    return [lines, entry.symbol or "the file", short_id(entry.lesson.id), entry.lesson.title, entry.freshness]


def version_json(version: Version) -> dict[str, Any]:
    """Return the version, the change that made it, and what differs from the version before."""
    return {
        "lesson": lesson_json(version.lesson),
        "verb": version.verb,
        "actor": version.actor,
        "why": version.why,
        "differences": [to_plain(difference) for difference in version.differences],
    }


def version_lines(version: Version) -> list[str]:
    """Return a line with time, lesson, change and author, then a line for each field that differs."""
    lesson = version.lesson
    by = version.actor or lesson.provenance.author or lesson.trust
    head = f"{lesson.recorded_at:%Y-%m-%d %H:%M:%S}  {short_id(lesson.id)}  {version.verb or 'recorded'}  by {by}"
    lines = [head + (f"  ({version.why})" if version.why else "")]
    if not version.differences:
        lines.append(f"    {lesson.state}: {_short(lesson.insight)}")
    for field, before, after in ((d.field, d.before, d.after) for d in version.differences):
        lines.append(f"    {field}: {_short(before) or '-'} -> {_short(after) or '-'}")
    return lines


def _short(text: str) -> str:
    return clip(" ".join(text.split()), TEXT_SHOWN)
