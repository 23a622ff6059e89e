"""`holdfast setup`: register our hooks and MCP server with a host."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, note, pass_call, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.surfaces.cli._hostfiles import Change

HOSTS = ("claude-code",)


@click.command(
    "setup",
    epilog=examples(
        "holdfast setup claude-code --dry-run", "holdfast setup claude-code", "holdfast setup claude-code --project"
    ),
)
@click.argument("host", type=click.Choice(HOSTS))
@click.option("--user", "scope", flag_value="user", default="user", help="For all your projects (the default).")
@click.option("--project", "scope", flag_value="project", help="For this work tree only, and for you alone.")
@click.option("--dry-run", is_flag=True, help="Print the changes; make none.")
@folder_option
@json_option
@pass_call
def command(call: Call, host: str, scope: str, dry_run: bool) -> None:
    """Register hooks and the MCP server with HOST.

    Your files keep their formatting; a backup of each is kept, and `holdfast uninstall` brings it back. Running it
    again changes nothing, or mends what is missing.
    """
    from holdfast.bootstrap import load_host
    from holdfast.settings import interpreter, load_settings, package_folder
    from holdfast.surfaces.cli._hostfiles import HostFiles

    settings = load_settings()
    folder = work_tree(call.folder or os.getcwd()) if scope == "project" else ""
    adapter = load_host(host, settings)
    plan = adapter.plan_install(scope, folder, settings.user_home, (interpreter(), package_folder()))
    files = HostFiles(settings.home)
    changes = files.plan(":".join((host, scope, folder)), plan.edits)
    if not dry_run:
        files.apply(changes)
        warm_up(package_folder())
    if call.as_json:
        answer_json(report(changes, host=host, scope=scope, notes=list(plan.notes), dry_run=dry_run))
    else:
        tell(changes, dry_run)
        for line in plan.notes:
            note(line)


def work_tree(folder: str) -> str:
    """The nearest folder above with a `.git`, or the folder itself: where the host looks for project settings."""
    folder = os.path.realpath(folder)
    above = folder
    while not os.path.exists(os.path.join(above, ".git")):
        if os.path.dirname(above) == above:
            return folder
        above = os.path.dirname(above)
    return above


def warm_up(package: str) -> None:
    """Compile the package, so that not even the first hook pays for it; a folder we may not write stays as it is."""
    import compileall

    compileall.compile_dir(package, quiet=2)


def report(changes: Sequence[Change], **told: Any) -> dict[str, Any]:
    """The changes as `--json` prints them."""
    return told | {"files": [{"file": c.file, "change": what_happens(c)} for c in changes]}


def tell(changes: Sequence[Change], dry_run: bool) -> None:
    """Print a line for every file; for a dry run what would change in it."""
    for change in changes:
        say(f"{what_happens(change):9} {change.file}")
        if dry_run and change.needed:
            say(_difference(change))
    if dry_run:
        note("nothing was changed")


def what_happens(change: Change) -> str:
    """One word: created, changed, removed, unchanged."""
    if not change.needed:
        return "unchanged"
    if change.wanted is None:
        return "removed"
    return "created" if change.held is None else "changed"


def _difference(change: Change) -> str:
    import difflib

    held, wanted = ((side or b"").decode("utf-8", "replace").splitlines() for side in (change.held, change.wanted))
    return "\n".join(difflib.unified_diff(held, wanted, change.file, change.file, lineterm="", n=1))
