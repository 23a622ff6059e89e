"""`holdfast checkpoint`: the working state of a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.domain.errors import LessonNotFoundError
from holdfast.domain.plain import to_plain
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, note, pass_call, say

if TYPE_CHECKING:
    from holdfast.domain.records import Checkpoint


@click.group(
    "checkpoint",
    epilog=examples(
        "holdfast checkpoint save --goal 'make login work' --done 'clock seeded' --next 'fix logout'",
        "holdfast checkpoint show",
        "holdfast checkpoint done",
    ),
)
def command() -> None:
    """Save, show or close the working state of a task.

    It is written before a compaction by itself, and restored after it and at the next session's start.
    """


@command.command("save", epilog=examples("holdfast checkpoint save --goal 'make login work' --next 'fix logout'"))
@click.option("--goal", required=True, help="What the task is to reach.")
@click.option("--task", default="", help="The task's name; else the branch.")
@click.option("--done", multiple=True, help="Something done; may be repeated.")
@click.option("--next", "next_", multiple=True, help="A next step; may be repeated.")
@click.option("--open", "open_questions", multiple=True, help="An open question; may be repeated.")
@click.option("--file", "files", multiple=True, help="A file in play; may be repeated.")
@json_option
@folder_option
@pass_call
def save(call: Call, /, goal: str, next_: tuple[str, ...], **state: Any) -> None:
    """Save the working state of a task; the newest one of a task is restored."""
    with call.open() as memory:
        _print(call, memory.save_checkpoint(goal, next=next_, **state))


@command.command("show", epilog=examples("holdfast checkpoint show", "holdfast checkpoint show --task login --json"))
@click.option("--task", default="", help="The task's name; else the latest of this branch.")
@json_option
@folder_option
@pass_call
def show(call: Call, task: str) -> None:
    """Print the current checkpoint."""
    with call.open() as memory:
        _print(call, _found(memory.checkpoint(task)))


@command.command("done", epilog=examples("holdfast checkpoint done", "holdfast checkpoint done --task login"))
@click.option("--task", default="", help="The task's name; else the latest of this branch.")
@json_option
@folder_option
@pass_call
def done(call: Call, task: str) -> None:
    """Close a task: its checkpoint is not restored any more."""
    with call.open() as memory:
        closed = _found(memory.close_checkpoint(task))
    _print(call, closed)
    note("closed")


def _found(checkpoint: Checkpoint | None) -> Checkpoint:
    if checkpoint is None:
        raise LessonNotFoundError("no open checkpoint here", hint="holdfast checkpoint save --goal '…'")
    return checkpoint


def _print(call: Call, checkpoint: Checkpoint) -> None:
    if call.as_json:
        answer_json({name: to_plain(value) for name, value in checkpoint.__dict__.items()})
        return
    say(f"task  {checkpoint.task}")
    say(f"goal  {checkpoint.goal}")
    for label in ("done", "next", "open_questions", "files"):
        for item in getattr(checkpoint, label):
            say(f"{label.removesuffix('_questions').removesuffix('s')}  {item}")
    note(f"saved {checkpoint.at:%Y-%m-%d %H:%M} UTC" + (f" on {checkpoint.branch}" if checkpoint.branch else ""))
