"""`holdfast forget`: take a lesson out of use, or erase it."""

from __future__ import annotations

from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.installing.copies import NOT_SEARCHED, find_copies
from holdfast.installing.rulesync import rewrite_written
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, note, pass_call, say


@click.command(
    epilog=examples("holdfast forget 1f0c9a2b", "holdfast forget 1f0c9a2b 77ab03e1", "holdfast forget 1f0c9a2b --purge")
)
@click.argument("refs", metavar="ID...", nargs=-1, required=True, shell_complete=lesson_ids)
@click.option("--purge", is_flag=True, help="Erase every version, and everything derived from it. This is final.")
@json_option
@folder_option
@pass_call
def command(call: Call, refs: tuple[str, ...], purge: bool) -> None:
    """Take lessons out of use for good. ID is the end of a lesson's id.

    A marker stays, so that an import does not bring the lesson back, and its history can still be read. With --purge
    the history is erased too, together with the text about it in the sessions in which it was learnt. This project's
    rules files are then written again without it, and files that still contain its words are listed.
    """
    with call.open() as memory:
        lessons = [memory.get(ref) for ref in refs]  # raise for an unknown id before the first lesson is removed
        words = [text for lesson in lessons for text in memory.words_of(lesson.id)] if purge else []
        done = [(short_id(lesson.id), lesson.id, _remove(memory, lesson, purge)) for lesson in lessons]
        rewritten = rewrite_written(memory) if purge else []
        settings = memory.settings
    copies = find_copies(settings, words)
    word = "purged" if purge else "forgotten"
    if call.as_json:
        answer: dict[str, Any] = {word: [{"id": full, "short_id": short, "erased": rows} for short, full, rows in done]}
        if purge:
            answer["rewritten"] = rewritten
            answer["copies"] = [copy._asdict() for copy in copies]
        answer_json(answer)
        return
    for short, _, rows in done:
        counts = ", ".join(f"{count} {name}" for name, count in rows.items() if count)
        say(f"{short}  {word}" + (f"  {counts}" if counts else ""))
    for file in rewritten:
        note(f"written again without it: {file}")
    for copy in copies:
        note(f"its words are still in {copy.path}" + (f": {copy.mend}" if copy.mend else ""))
    if purge:
        note(NOT_SEARCHED)


def _remove(memory: Memory, lesson: Lesson, purge: bool) -> dict[str, int]:
    """Forget or purge the lesson; return the number of erased rows by table, {} for a tombstone."""
    if purge:
        return memory.purge(lesson.id)
    memory.forget(lesson.id)
    return {}
