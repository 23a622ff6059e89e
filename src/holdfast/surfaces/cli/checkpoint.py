"""`holdfast checkpoint`: save, show or close the working state of a task."""

from __future__ import annotations

from typing import Any

import click

from holdfast.domain.records import Checkpoint
from holdfast.errors import LessonNotFoundError
from holdfast.lean.plain import as_dict, to_plain
from holdfast.surfaces.cli.call import (
    Call,
    Group,
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

EVERY = 10_000
"""Most checkpoints of a project that are read."""


@click.group(
    "checkpoint",
    cls=Group,
    epilog=examples(
        "holdfast checkpoint save --goal 'make login work' --done 'clock seeded' --next 'fix logout'",
        "holdfast checkpoint show",
        "holdfast checkpoint list",
        "holdfast checkpoint done",
    ),
)
def command() -> None:
    """Save, show or close the working state of a task.

    Holdfast also saves a checkpoint by itself, from what happened: before a compaction and when a session has ended.
    It restores the checkpoint after the compaction, and once at the next session's start on the branch. What you or the
    agent saved is kept. A task that is finished is not restored.
    """


@command.command("save", epilog=examples("holdfast checkpoint save --goal 'make login work' --next 'fix logout'"))
@click.option("--goal", required=True, help="The goal of the task.")
@click.option("--task", default="", help="The task's name.  [default: the branch]")
@click.option("--done", multiple=True, help="A step that is done; may be repeated.")
@click.option("--next", "next_", multiple=True, help="A next step; may be repeated.")
@click.option("--open", "open_questions", multiple=True, help="An open question; may be repeated.")
@click.option("--file", "files", multiple=True, help="A file of the task; may be repeated.")
@json_option
@folder_option
@pass_call
def save(call: Call, /, goal: str, next_: tuple[str, ...], **state: Any) -> None:
    """Save the working state of a task. Only the newest checkpoint of a task is restored."""
    with call.open() as memory:
        _print(call, memory.save_checkpoint(goal, next=next_, **state))


@command.command("show", epilog=examples("holdfast checkpoint show", "holdfast checkpoint show --task login --json"))
@click.option("--task", default="", help="The task's name.  [default: the latest of this branch]")
@json_option
@folder_option
@pass_call
def show(call: Call, task: str) -> None:
    """Print the current checkpoint."""
    with call.open() as memory:
        _print(call, _found(memory.checkpoint(task)))


@command.command("list", epilog=examples("holdfast checkpoint list", "holdfast checkpoint list --task login --json"))
@click.option("--task", default="", help="Only checkpoints of this task.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="Print at most this many.")
@json_option
@folder_option
@pass_call
def list_saved(call: Call, task: str, limit: int) -> None:
    """List the checkpoints of this project, newest first: time, task, branch, goal and state."""
    with call.open() as memory:
        checkpoints = [checkpoint for checkpoint in memory.checkpoints(EVERY) if not task or checkpoint.task == task]
    newest: dict[str, str] = {}
    for checkpoint in checkpoints:
        newest.setdefault(checkpoint.task, checkpoint.id)
    shown = checkpoints[:limit]
    if call.as_json:
        answer_json({"checkpoints": [to_plain(checkpoint) for checkpoint in shown], "more": len(checkpoints) > limit})
        return
    rows = [_cells(checkpoint, newest[checkpoint.task]) for checkpoint in shown]
    for line in table(rows, ("saved (UTC)", "task", "branch", "goal", "state")):
        say(line)
    note(counted(len(shown), "checkpoint") + (", and more: --limit" if len(checkpoints) > limit else ""))


def _cells(checkpoint: Checkpoint, newest: str) -> list[str]:
    """Return the row. Its last cell says whether the checkpoint is the task's current one, an earlier one or closed."""
    state = "closed" if checkpoint.closed else "open" if checkpoint.id == newest else "earlier"
    return [f"{checkpoint.at:%Y-%m-%d %H:%M}", checkpoint.task, checkpoint.branch or "-", checkpoint.goal, state]


@command.command("done", epilog=examples("holdfast checkpoint done", "holdfast checkpoint done --task login"))
@click.option("--task", default="", help="The task's name.  [default: the latest of this branch]")
@json_option
@folder_option
@pass_call
def done(call: Call, task: str) -> None:
    """Close a task; its checkpoint is no longer restored."""
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
        answer_json({name: to_plain(value) for name, value in as_dict(checkpoint).items()})
        return
    say(f"task  {checkpoint.task}")
    say(f"goal  {checkpoint.goal}")
    for label in ("asked", "failure"):
        if getattr(checkpoint, label):
            say(f"{label}  {getattr(checkpoint, label)}")
    for label in ("done", "next", "open_questions", "uncommitted", "files"):
        for item in getattr(checkpoint, label):
            say(f"{label.removesuffix('_questions').removesuffix('s')}  {item}")
    note(f"saved {checkpoint.at:%Y-%m-%d %H:%M} UTC" + (f" on {checkpoint.branch}" if checkpoint.branch else ""))
