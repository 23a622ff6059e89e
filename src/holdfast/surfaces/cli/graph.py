"""`holdfast graph`: what is linked to a file."""

from __future__ import annotations

import os

import click

from holdfast.lean.plain import to_plain
from holdfast.surfaces.cli._indexing import reading_bar
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

WORDS = {
    "imports": "imports",
    "imported_by": "imported by",
    "edited_together": "edited together",
    "read_before": "read before",
}


@click.command(epilog=examples("holdfast graph src/app.py", "holdfast graph src/app.py --json"))
@click.argument("file")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="Most links to print.")
@json_option
@folder_option
@pass_call
def command(call: Call, file: str, limit: int) -> None:
    """List the files linked to FILE, closest first.

    Links are imports, both ways and over two hops; edits in the same commits of git's history; and reads before an
    edit. Each line is weight (up to 1), relation, and file.
    """
    from holdfast.freshness.codegraph import linked

    with call.open() as memory, reading_bar() as progress:
        path, found = linked(memory.parts, memory.place, file, call.folder or os.getcwd(), progress)
    shown = found[:limit]
    if call.as_json:
        links = [{**to_plain(one), "hops": one.hops, "weight": round(one.weight, 4)} for one in shown]
        answer_json({"file": path, "links": links, "more": len(found) > limit})
        return
    for line in table(
        [[f"{one.weight:.2f}", _relation(one.relation, one.hops), one.path] for one in shown],
        ("weight", "relation", "file"),
    ):
        say(line)
    note(counted(len(shown), "link") + (", and more: --limit" if len(found) > limit else ""))


def _relation(relation: str, hops: int) -> str:
    return WORDS.get(relation, relation) + (f", {hops} hops" if hops > 1 else "")
