"""`holdfast sync`: keep the repository's lesson files and memory in step."""

from __future__ import annotations

import click

from holdfast.surfaces.cli._sharing import answer, run_quietly, run_sync
from holdfast.surfaces.cli.call import Call, examples, folder_option, json_option, pass_call


@click.command(epilog=examples("holdfast sync", "holdfast sync --dry-run", "holdfast sync --accept"))
@click.option("--accept", is_flag=True, help="You vouch for the files: new lessons count, and so do changes.")
@click.option("--dry-run", is_flag=True, help="Print what would change; change nothing.")
@click.option("--git-hook", "from_git", is_flag=True, hidden=True, help="As git calls it: say nothing, never fail.")
@folder_option
@json_option
@pass_call
def command(call: Call, accept: bool, dry_run: bool, from_git: bool) -> int:
    """Take in what changed in .holdfast/lessons, and write there what changed in memory.

    Changes of both sides are merged field by field; nothing comes back that was forgotten. A new lesson from a file
    waits in the inbox (`holdfast review`), or is on probation where you committed it. A change to a lesson that
    counts here waits for --accept. A file that cannot be read is named with its line and left alone; exit 1 then.
    """
    if from_git:
        return run_quietly(call)
    report = run_sync(call, accept=accept, dry=dry_run)
    return answer(call, report, dry_run)
