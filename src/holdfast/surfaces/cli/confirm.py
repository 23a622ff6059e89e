"""`holdfast confirm`: state that a lesson still holds."""

from __future__ import annotations

import click

from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli.call import Call, examples, folder_option, json_option, note, pass_call
from holdfast.surfaces.cli.written import print_written


@click.command(epilog=examples("holdfast diff 1f0c9a2b", "holdfast confirm 1f0c9a2b"))
@click.argument("ref", metavar="ID", shell_complete=lesson_ids)
@json_option
@folder_option
@pass_call
def command(call: Call, ref: str) -> None:
    """State that a lesson still holds for the current code. ID is the end of its id.

    The lesson is anchored again to the current code, also where that has moved. `holdfast diff` shows what changed.
    """
    with call.open() as memory:
        before = memory.get(ref)
        lesson = memory.confirm(before.id)
    print_written(call, lesson)
    anchored = {(anchor.path, anchor.symbol) for anchor in lesson.anchors}
    for anchor in before.anchors:
        if (anchor.path, anchor.symbol) not in anchored:
            note(f"note: {anchor.symbol or anchor.path} is no longer in {anchor.path}")
