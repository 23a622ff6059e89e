"""`holdfast undo`: undo the last change."""

from __future__ import annotations

import click

from holdfast.lean.plain import to_plain
from holdfast.lean.texts import short_id
from holdfast.ports.store import get_readable
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
from holdfast.surfaces.cli.rows import summary_lines

SHOWN = 10


@click.command(epilog=examples("holdfast undo", "holdfast log --changes", "holdfast undo --json"))
@click.option("--past-purges", is_flag=True, help="If the last change was a purge, undo the change before it.")
@json_option
@folder_option
@pass_call
def command(call: Call, past_purges: bool) -> None:
    """Undo the last change of this project's memory; repeat the command to go further back.

    A whole import is one change, and so are all lessons learnt from one session. Only a purge cannot be undone.
    """
    with call.open() as memory:
        change = memory.undo(past_purges=past_purges)
        undone = next((entry for entry in memory.changes(10_000) if entry.id == change.undone), change)
        lessons = get_readable(memory.services.store, change.lessons[:SHOWN])
    if call.as_json:
        answer_json({"undone": to_plain(undone), "change": to_plain(change)})
        return
    say(f"undone: {undone.verb} of {undone.at:%Y-%m-%d %H:%M} UTC, {counted(len(change.lessons), 'lesson')}")
    for lesson in lessons:
        for line in summary_lines(lesson, lesson.state):
            say(line)
    if len(change.lessons) > SHOWN:
        note(f"and {len(change.lessons) - SHOWN} more, the last being {short_id(change.lessons[-1])}")
