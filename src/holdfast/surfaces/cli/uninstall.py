"""`holdfast uninstall`: take back what setup changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from holdfast.surfaces.cli.call import Call, answer_json, examples, json_option, note, pass_call

if TYPE_CHECKING:
    from holdfast.ports.host import Edit
    from holdfast.settings import Settings


@click.command("uninstall", epilog=examples("holdfast uninstall --dry-run", "holdfast uninstall"))
@click.option("--dry-run", is_flag=True, help="Print the changes; make none.")
@json_option
@pass_call
def command(call: Call, dry_run: bool) -> None:
    """Take back what setup changed, to the byte; a file you edited since keeps your edits.

    What is remembered stays: delete Holdfast's home folder to erase it.
    """
    from holdfast.settings import load_settings
    from holdfast.surfaces.cli._hostfiles import HostFiles
    from holdfast.surfaces.cli.setup import report, tell

    settings = load_settings()
    files = HostFiles(settings.home)
    changes = files.plan_removal(_known(settings))
    if not dry_run:
        files.apply(changes)
    if call.as_json:
        answer_json(report(changes, dry_run=dry_run))
        return
    tell(changes, dry_run)
    if not changes:
        note("nothing to take back: no file has anything of ours")
    note(f"what is remembered stays in {settings.home}")


def _known(settings: Settings) -> list[Edit]:
    """What setup registers for a user: taken back also when the manifest is gone."""
    from holdfast.bootstrap import load_host
    from holdfast.settings import interpreter, package_folder
    from holdfast.surfaces.cli.setup import HOSTS

    command = (interpreter(), package_folder())
    plans = [load_host(host, settings).plan_install("user", "", settings.user_home, command) for host in HOSTS]
    return [edit for plan in plans for edit in plan.edits]
