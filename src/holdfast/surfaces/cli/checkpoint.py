"""`holdfast checkpoint`: save, show or close the working state of a task."""

from __future__ import annotations

from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.domain.records import Checkpoint
from holdfast.errors import LessonNotFoundError
from holdfast.lean.plain import as_dict, to_plain
from holdfast.lean.texts import counted
from holdfast.surfaces.cli.frame import Call, command, group, limit_option
from holdfast.surfaces.cli.screen import note, say, table

EVERY = 10_000
"""Most checkpoints of a project that are read."""


@group(
    "holdfast checkpoint save --goal 'make login work' --done 'clock seeded' --next 'fix logout'",
    "holdfast checkpoint show", "holdfast checkpoint list", "holdfast checkpoint done",
)  # fmt: skip
def checkpoint(call: Call) -> None:
    """Save, show or close the working state of a task.

    Holdfast also saves a checkpoint by itself, from what happened: before a compaction and when a session has ended.
    It restores the checkpoint after the compaction, and once at the next session's start on the branch. What you or the
    agent saved is kept. A task that is finished is not restored.
    """


@command("holdfast checkpoint save --goal 'make login work' --next 'fix logout'", of=checkpoint, memory=True)
@click.option("--goal", required=True, help="The goal of the task.")
@click.option("--task", default="", help="The task's name.  [default: the branch]")
@click.option("--done", multiple=True, help="A step that is done; may be repeated.")
@click.option("--next", "next_", multiple=True, help="A next step; may be repeated.")
@click.option("--open", "open_questions", multiple=True, help="An open question; may be repeated.")
@click.option("--file", "files", multiple=True, help="A file of the task; may be repeated.")
def save(call: Call, memory: Memory, /, goal: str, next_: tuple[str, ...], **state: Any) -> None:
    """Save the working state of a task. Only the newest checkpoint of a task is restored."""
    _print(call, memory.save_checkpoint(goal, next=next_, **state))


@command(
    "holdfast checkpoint show", "holdfast checkpoint show --task login --json", of=checkpoint, memory=True, reads=True
)
@click.option("--task", default="", help="The task's name.  [default: the latest of this branch]")
def show(call: Call, memory: Memory, task: str) -> None:
    """Print the current checkpoint."""
    _print(call, _found(memory.checkpoint(task)))


@command(
    "holdfast checkpoint list",
    "holdfast checkpoint list --task login --json",
    of=checkpoint,
    name="list",
    memory=True,
    reads=True,
)
@click.option("--task", default="", help="Only checkpoints of this task.")
@limit_option(20)
def list_saved(call: Call, memory: Memory, task: str, limit: int) -> None:
    """List the checkpoints of this project, newest first: time, task, branch, goal and state."""
    checkpoints = [checkpoint for checkpoint in memory.checkpoints(EVERY) if not task or checkpoint.task == task]
    newest: dict[str, str] = {}
    for checkpoint in checkpoints:
        newest.setdefault(checkpoint.task, checkpoint.id)
    shown = checkpoints[:limit]
    if call.answer({"checkpoints": [to_plain(checkpoint) for checkpoint in shown], "more": len(checkpoints) > limit}):
        return
    rows = []
    for saved in shown:
        state = "closed" if saved.closed else "open" if saved.id == newest[saved.task] else "earlier"
        rows.append([f"{saved.at:%Y-%m-%d %H:%M}", saved.task, saved.branch or "-", saved.goal, state])
    say(*table(rows, ("saved (UTC)", "task", "branch", "goal", "state")))
    note(counted(len(shown), "checkpoint") + (", and more: --limit" if len(checkpoints) > limit else ""))


@command("holdfast checkpoint done", "holdfast checkpoint done --task login", of=checkpoint, memory=True)
@click.option("--task", default="", help="The task's name.  [default: the latest of this branch]")
def done(call: Call, memory: Memory, task: str) -> None:
    """Close a task; its checkpoint is no longer restored."""
    closed = _found(memory.close_checkpoint(task))
    _print(call, closed)
    note("closed")


def _found(checkpoint: Checkpoint | None) -> Checkpoint:
    if checkpoint is None:
        raise LessonNotFoundError("no open checkpoint here", hint="holdfast checkpoint save --goal '…'")
    return checkpoint


def _print(call: Call, checkpoint: Checkpoint) -> None:
    if call.answer({name: to_plain(value) for name, value in as_dict(checkpoint).items()}):
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
