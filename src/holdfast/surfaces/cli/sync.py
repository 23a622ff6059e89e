"""`holdfast sync`: synchronise the repository's lesson files with memory."""

from __future__ import annotations

import click

from holdfast.surfaces.cli._sharing import answer, run_quietly, run_sync
from holdfast.surfaces.cli.call import Call, examples, folder_option, json_option, pass_call


@click.command(epilog=examples("holdfast sync", "holdfast sync --dry-run", "holdfast sync --accept"))
@click.option("--accept", is_flag=True, help="Vouch for the files: new lessons become active and changes take effect.")
@click.option("--dry-run", is_flag=True, help="Print what would change; change nothing.")
@click.option("--git-hook", "from_git", is_flag=True, hidden=True, help="Used by git hooks: print nothing, never fail.")
@folder_option
@json_option
@pass_call
def command(call: Call, accept: bool, dry_run: bool, from_git: bool) -> int:
    """Import changes from .holdfast/lessons into memory, and write changes from memory there.

    Changes on both sides are merged field by field. A forgotten lesson does not come back. A new lesson from a file
    waits in the inbox (`holdfast review`). A change to an active
    lesson waits for --accept. A file that cannot be read is reported with its line and skipped; the exit code is then
    1.
    """
    if from_git:
        return run_quietly(call)
    report = run_sync(call, accept=accept, dry=dry_run)
    return answer(call, report, dry_run)
