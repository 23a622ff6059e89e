"""`holdfast graph`: list the files linked to a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from holdfast.domain.symbol import Neighbour

WORDS = {
    "imports": "imports",
    "imported_by": "imported by",
    "edited_together": "edited together",
    "read_before": "read before",
}


@click.command(epilog=examples("holdfast graph src/app.py", "holdfast graph src/app.py --json"))
@click.argument("file")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="Print at most this many.")
@json_option
@folder_option
@pass_call
def command(call: Call, file: str, limit: int) -> None:
    """List the files linked to FILE, closest first.

    A link is an import in either direction, over at most two hops; an edit in the same git commit; or a read before an
    edit. Each row has the weight (at most 1), the relation and the file.
    """
    from holdfast.freshness.codegraph import linked

    with call.open() as memory, reading_bar() as progress:
        path, neighbours = linked(memory.services, memory.location, file, call.folder or os.getcwd(), progress)
    shown = neighbours[:limit]
    if call.as_json:
        links = [
            {**to_plain(neighbour), "hops": neighbour.hops, "weight": round(neighbour.weight, 4)} for neighbour in shown
        ]
        answer_json({"file": path, "links": links, "more": len(neighbours) > limit})
        return
    for line in table([_cells(neighbour) for neighbour in shown], ("weight", "relation", "file")):
        say(line)
    note(counted(len(shown), "link") + (", and more: --limit" if len(neighbours) > limit else ""))


def _cells(neighbour: Neighbour) -> list[str]:
    return [f"{neighbour.weight:.2f}", _relation(neighbour.relation, neighbour.hops), neighbour.path]


def _relation(relation: str, hops: int) -> str:
    return WORDS.get(relation, relation) + (f", {hops} hops" if hops > 1 else "")
