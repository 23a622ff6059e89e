"""`holdfast staged`: list the lessons that are shown on one branch only, and make them visible everywhere."""

from __future__ import annotations

import click

from holdfast.lessons.staging import Staged
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

HEADS = ("id", "branch", "seen", "kind", "title")


@click.group(
    invoke_without_command=True,
    epilog=examples(
        "holdfast staged",
        "holdfast staged rescue 1f0c9a2b",
        "holdfast staged rescue --branch feature/queue",
        "holdfast staged --json",
    ),
)
@folder_option
@json_option
@click.pass_context
def command(ctx: click.Context) -> None:
    """List the lessons that are staged on a branch: learnt there, about code that the main line does not have.

    A staged lesson is shown on its branch and on branches that start from it. Once the branch is merged, squashed or
    rebased, it is shown everywhere. If the branch is deleted before that, the lesson is no longer shown, but it stays
    in this list.
    """
    call = ctx.ensure_object(Call)
    if ctx.invoked_subcommand:
        return
    with call.open() as memory:
        memory.settle_branches()
        rows = memory.staged()
    if call.as_json:
        staged = [{"branch": row.lesson.scope.branch, "seen_here": row.is_seen, "fate": row.fate,
                 "lesson": lesson_json(row.lesson)} for row in rows]  # fmt: skip
        answer_json({"staged": staged})
        return
    for line in table([_cells(row) for row in rows], HEADS):
        say(line)
    note(counted(len(rows), "staged lesson"))
    gone = sum(row.fate == "gone" for row in rows)
    if gone:
        note(f"{counted(gone, 'lesson')} of deleted branches: holdfast staged rescue ID")


@command.command("rescue", epilog=examples("holdfast staged rescue 1f0c9a2b", "holdfast staged rescue --branch wip"))
@click.argument("refs", metavar="[ID]...", nargs=-1, shell_complete=lesson_ids)
@click.option("--branch", default="", help="Rescue every lesson that is staged on this branch.")
@folder_option
@json_option
@pass_call
def rescue(call: Call, refs: tuple[str, ...], branch: str) -> int:
    """Show staged lessons on every branch. ID is the end of a lesson's id."""
    if bool(refs) == bool(branch):
        raise click.UsageError("give the ids of lessons, or --branch")
    with call.open() as memory:
        rescued = memory.rescue(refs, branch=branch)
    if call.as_json:
        answer_json({"rescued": [lesson_json(lesson) for lesson in rescued]})
    else:
        for lesson in rescued:
            say(f"rescued {lesson.id[-8:]}  {lesson.title}")
        note(f"{counted(len(rescued), 'lesson')} now shown on every branch")
    return 0 if rescued else 1


def _cells(row: Staged) -> list[str]:
    lesson = row.lesson
    branch = lesson.scope.branch + (" (gone)" if row.fate == "gone" else "")
    return [lesson.id[-8:], branch, "here" if row.is_seen else "-", lesson.kind, lesson.title]
