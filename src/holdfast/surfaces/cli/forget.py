"""`holdfast forget`: put a lesson out of use, or erase it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.domain.ids import short_id
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, pass_call, say

if TYPE_CHECKING:
    from holdfast.bootstrap import Memory
    from holdfast.domain.lesson import Lesson


@click.command(
    epilog=examples("holdfast forget 1f0c9a2b", "holdfast forget 1f0c9a2b 77ab03e1", "holdfast forget 1f0c9a2b --purge")
)
@click.argument("refs", metavar="ID...", nargs=-1, required=True)
@click.option("--purge", is_flag=True, help="Erase every version, and all that derives from it.")
@json_option
@folder_option
@pass_call
def command(call: Call, refs: tuple[str, ...], purge: bool) -> None:
    """Put lessons out of use for good. ID is the end of a lesson's id.

    A tombstone stays, so that the lesson does not come back by an import; its history stays readable. --purge
    erases the history too and says what was erased.
    """
    with call.open() as memory:
        lessons = [memory.get(ref) for ref in refs]  # all must be there before the first one goes
        done = [(short_id(lesson.id), lesson.id, _remove(memory, lesson, purge)) for lesson in lessons]
    word = "purged" if purge else "forgotten"
    if call.as_json:
        answer_json({word: [{"id": full, "short_id": short, "erased": rows} for short, full, rows in done]})
        return
    for short, _, rows in done:
        counts = ", ".join(f"{count} {name}" for name, count in rows.items() if count)
        say(f"{short}  {word}" + (f"  {counts}" if counts else ""))


def _remove(memory: Memory, lesson: Lesson, purge: bool) -> dict[str, int]:
    """Rows erased, by table; a tombstone erases none."""
    if purge:
        return memory.purge(lesson.id)
    memory.forget(lesson.id)
    return {}
