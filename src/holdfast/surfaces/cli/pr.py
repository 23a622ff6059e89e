"""`holdfast pr`: summarise what a branch's sessions learnt, for a pull request."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.errors import InvalidValueError
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

if TYPE_CHECKING:
    from holdfast.publishing.branchsummary import Summary


@click.command(
    epilog=examples(
        "holdfast pr",
        "holdfast pr origin/main",
        "holdfast pr --files-only origin/main | gh pr comment 12 --body-file -",
        "holdfast pr --json",
    )
)
@click.argument("base", default="")
@click.option("--files-only", is_flag=True, help="Read lesson files from git alone, as in CI; open no memory.")
@folder_option
@json_option
@pass_call
def command(call: Call, base: str, files_only: bool) -> int:
    """Summarise as Markdown what was learnt on the current branch since it left BASE, by default the main line.

    The summary lists new, revised and retired lessons, and lessons that a later session refuted. For each it prints who
    said it and the code it is about. Shared lessons are read from their committed files, the others from this machine's
    memory. Private lessons, your own lessons for all projects, and unconfirmed lessons are left out. The summary is
    only printed; nothing is sent.
    """
    from holdfast.publishing.branchsummary import render_markdown

    summary = _summary(call, base, files_only)
    if call.as_json:
        answer_json({
            "base": summary.base, "head": summary.head, "waiting": summary.waiting,
            "lessons": [dict(row.__dict__) | {"anchors": list(row.anchors)} for row in summary.rows],
            "problems": [dict(problem.__dict__) for problem in summary.problems],
        })  # fmt: skip
    elif summary.base == summary.head and not (summary.rows or summary.problems):
        note("nothing to summarise: no commit lies between this branch and its base")
    else:
        say(render_markdown(summary).rstrip())
    if summary.waiting:
        note(f"{counted(summary.waiting, 'lesson')} of this branch wait for you: holdfast review")
    return 1 if summary.problems else 0


def _summary(call: Call, base: str, files_only: bool) -> Summary:
    """Return the summary, from the lesson files alone or from the files and memory. Raises InvalidValueError."""
    if not files_only:
        with call.open() as memory:
            return memory.branch_summary(base)
    from holdfast.bootstrap import open_checkout
    from holdfast.publishing.branchsummary import summarise

    checkout = open_checkout(call.folder or os.getcwd())
    if checkout is None:
        raise InvalidValueError("this folder is not in a git repository", hint="run the command in a repository")
    return summarise(*checkout, base)
