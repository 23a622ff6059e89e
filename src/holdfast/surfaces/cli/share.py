"""`holdfast share`: write lessons as files of the repository."""

from __future__ import annotations

import click

from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli._sharing import answer, run_sync
from holdfast.surfaces.cli.call import Call, examples, folder_option, json_option, pass_call


@click.command(epilog=examples("holdfast share 1f0c9a2b", "holdfast share --all --dry-run", "holdfast share --all"))
@click.argument("refs", metavar="[ID]...", nargs=-1, shell_complete=lesson_ids)
@click.option("--all", "everything", is_flag=True, help="Share every active lesson of the project that is not private.")
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
@folder_option
@json_option
@pass_call
def command(call: Call, refs: tuple[str, ...], everything: bool, dry_run: bool) -> int:
    """Write lessons into .holdfast/lessons, one file each, for you to commit. ID is the end of a lesson's id.

    Private lessons, your own lessons for all projects, and lessons that wait are never written. From then on,
    `holdfast sync` synchronises the files with memory.
    """
    if everything == bool(refs):
        raise click.UsageError("give the ids of lessons, or --all")

    report = run_sync(call, share=refs, everything=everything, dry=dry_run)
    return answer(call, report, dry_run)
