"""`backup` and `restore`: everything in this Holdfast home in one file, and back."""

from __future__ import annotations

import os
import sys

import click

from holdfast.errors import InvalidValueError
from holdfast.lean.texts import counted
from holdfast.settings import load_settings
from holdfast.surfaces.cli.frame import Call, command
from holdfast.surfaces.cli.screen import note, say, size
from holdfast.upkeep.archive import Manifest, Restored, restore_backup, write_backup


@command("holdfast backup ~/holdfast.zip", "holdfast backup --replace /mnt/stick/holdfast.zip", folder=False)
@click.argument("file", type=click.Path(dir_okay=False, resolve_path=True))
@click.option("--replace", is_flag=True, help="Overwrite FILE if it exists.")
def backup(call: Call, file: str, replace: bool) -> None:
    """Write everything in this Holdfast home into FILE: all projects' lessons, history and events, the log, settings.

    The file is checked after it is written. It contains private lessons too, so keep it to yourself.
    """
    if os.path.exists(file) and not replace:
        raise InvalidValueError(f"{file} already exists", hint="name another file, or give --replace")
    with call.open() as memory:  # takes in what waits in the spool
        settings = memory.settings
    manifest = write_backup(settings, file)
    if call.answer({"file": file, "bytes": os.path.getsize(file), **manifest_json(manifest)}):
        return
    say(f"{file}  {size(os.path.getsize(file))}")
    note(f"{contents(manifest)}; checked")


def contents(manifest: Manifest) -> str:
    """Return in words what a backup contains."""
    extent = manifest.extent
    counts = f"{counted(extent.lessons, 'lesson')}, {counted(extent.events, 'event')}"
    return f"{counts}, written {manifest.made[:16].replace('T', ' ')} UTC by Holdfast {manifest.holdfast}"


def manifest_json(manifest: Manifest) -> dict[str, object]:
    """Return what a backup contains, for `--json`."""
    return {
        "format": manifest.format, "holdfast": manifest.holdfast, "made": manifest.made,
        "lessons": manifest.extent.lessons, "versions": manifest.extent.versions, "events": manifest.extent.events,
        "files": [{"name": member.name, "bytes": member.size, "sha256": member.sha256} for member in manifest.members],
    }  # fmt: skip


@command(
    "holdfast restore ~/holdfast.zip --dry-run", "holdfast restore ~/holdfast.zip",
    "holdfast restore ~/holdfast.zip --settings --yes", folder=False,
)  # fmt: skip
@click.argument("file", type=click.Path(exists=True, dir_okay=False, resolve_path=True))
@click.option("--settings", "with_config", is_flag=True, help="Also restore config.toml.")
@click.option("--dry-run", is_flag=True, help="Check the file and print what would be done; change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Replace the current memory without asking.")
def restore(call: Call, file: str, with_config: bool, dry_run: bool, yes: bool) -> None:
    """Replace this Holdfast home's memory by FILE, which `holdfast backup` wrote.

    The whole file is checked before anything is changed. The replaced memory is first saved in a backup of its own. A
    database of an older version is updated; a database of a newer version is refused.
    """
    settings = load_settings()
    plan = restore_backup(settings, file, with_config=with_config, dry=True)
    if not dry_run:
        is_empty = plan.before is not None and not (plan.before.versions or plan.before.events)
        if not (yes or is_empty):
            _agree(plan)
        plan = restore_backup(settings, file, with_config=with_config)
    plain = {
        "dry_run": dry_run, "backup": manifest_json(plan.manifest), "kept_in": plan.saved, "placed": plan.placed,
        "left": plan.left, "replaced_lessons": None if plan.before is None else plan.before.lessons,
    }  # fmt: skip
    if call.answer(plain):
        return
    say(f"{'would restore' if dry_run else 'restored'} {contents(plan.manifest)}")
    _note_files(plan)
    if dry_run:
        note("the file is sound; nothing was changed")


def _agree(plan: Restored) -> None:
    """Ask before replacing the current memory. Raises InvalidValueError without a terminal, Abort for a no."""
    content = "a database that cannot be read" if plan.before is None else counted(plan.before.lessons, "lesson")
    if not sys.stdin.isatty():
        hint = "give --yes to replace them"
        raise InvalidValueError(f"this home holds {content}, and there is no terminal to ask on", hint=hint)
    click.confirm(f"This home holds {content}. Replace them by {contents(plan.manifest)}?", abort=True, err=True)


def _note_files(plan: Restored) -> None:
    if plan.saved:
        note(f"the replaced memory is saved in {plan.saved}")
    for name in plan.placed:
        note(f"{name}: from the backup")
    for name in plan.left:
        why = "--settings restores it" if name == "config.toml" else "this home has its own"
        note(f"{name}: not restored; {why}")
