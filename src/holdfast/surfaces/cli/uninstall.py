"""`holdfast uninstall`: undo what setup changed."""

from __future__ import annotations

import os

import click

from holdfast.installing.hostfiles import BACKUPS, backups
from holdfast.installing.setup import Removal
from holdfast.settings import load_settings
from holdfast.surfaces.cli._completions import host_names
from holdfast.surfaces.cli.call import Call, answer_json, counted, examples, json_option, note, pass_call
from holdfast.surfaces.cli.setup import report, tell


@click.command(
    "uninstall", epilog=examples("holdfast uninstall --dry-run", "holdfast uninstall", "holdfast uninstall codex")
)
@click.argument("hosts", nargs=-1, metavar="[HOST]...", shell_complete=host_names)
@click.option("--dry-run", is_flag=True, help="Print what would change, one line for each file; change nothing.")
@click.option("--diff", "with_diff", is_flag=True, help="With --dry-run: also print each change as a diff.")
@json_option
@pass_call
def command(call: Call, hosts: tuple[str, ...], dry_run: bool, with_diff: bool) -> None:
    """Undo what setup changed for HOST, or for every host.

    Each file is restored byte for byte. A file that you edited since keeps your edits. Memory is kept; to erase it,
    delete Holdfast's home folder.
    """
    settings = load_settings()
    removal = Removal(settings, hosts)
    changes = removal.changes
    if not dry_run:
        removal.apply()
    if call.as_json:
        answer_json(report(changes, dry_run=dry_run))
        return
    tell(changes, dry_run, with_diff)
    if dry_run:
        note("nothing was changed")
    if not changes:
        note("nothing to undo: no file has an entry of Holdfast")
    names = backups(settings.home)
    if names and not dry_run:
        where = os.path.join(settings.home, BACKUPS)
        note(f"kept for files that are still set up: {counted(len(names), 'backup')} in {where}")
    note(f"memory is kept in {settings.home}")
