"""`holdfast uninstall`: take back what setup changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.errors import InvalidValueError
from holdfast.surfaces.cli._completions import host_names
from holdfast.surfaces.cli.call import Call, answer_json, counted, examples, json_option, note, pass_call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ports.host import Edit
    from holdfast.settings import Settings


@click.command(
    "uninstall", epilog=examples("holdfast uninstall --dry-run", "holdfast uninstall", "holdfast uninstall codex")
)
@click.argument("hosts", nargs=-1, metavar="[HOST]...", shell_complete=host_names)
@click.option("--dry-run", is_flag=True, help="Print what would change, a line a file; change nothing.")
@click.option("--diff", "with_diff", is_flag=True, help="With --dry-run: also print each change as a diff.")
@json_option
@pass_call
def command(call: Call, hosts: tuple[str, ...], dry_run: bool, with_diff: bool) -> None:
    """Take back what setup changed for HOST, or for every host, to the byte; a file you edited since keeps your edits.

    What is remembered stays: delete Holdfast's home folder to erase it.
    """
    from holdfast.installing import launcher as _launcher
    from holdfast.installing.hostfiles import BACKUPS, HostFiles, backups, set_up
    from holdfast.settings import load_settings
    from holdfast.surfaces.cli.setup import report, tell

    settings = load_settings()
    files = HostFiles(settings.home)
    changes = files.plan_removal(list(_known(settings, hosts)), hosts)
    launcher = _launcher.plan_removal(files, settings)
    changes = [change for change in changes if change.file != launcher.file]
    if launcher.held is not None and not set_up(files.manifest) - set(hosts or set_up(files.manifest)):
        changes.append(launcher)  # last: until then hosts may start it
    if not dry_run:
        files.apply(changes)
    if call.as_json:
        answer_json(report(changes, dry_run=dry_run))
        return
    tell(changes, dry_run, with_diff)
    if dry_run:
        note("nothing was changed")
    if not changes:
        note("nothing to take back: no file has anything of ours")
    names = backups(settings.home)
    if names and not dry_run:
        where = os.path.join(settings.home, BACKUPS)
        note(f"kept for files that are still set up: {counted(len(names), 'backup')} in {where}, for you alone to read")
    note(f"what is remembered stays in {settings.home}")


def _known(settings: Settings, names: tuple[str, ...]) -> Iterator[Edit]:
    """What setup registers for a user: taken back also when the manifest is gone."""
    from holdfast.bootstrap import all_hosts, load_host
    from holdfast.settings import program_paths

    command = program_paths(settings.home)
    chosen = [load_host(name, settings) for name in names if name != "git"]
    for host in chosen if names else all_hosts(settings):
        try:
            yield from host.plan_install("user", "", settings.user_home, command).edits
        except InvalidValueError:
            continue  # a host that is only set up for a project
