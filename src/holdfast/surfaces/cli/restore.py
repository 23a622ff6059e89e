"""`holdfast restore`: replace this Holdfast home's memory by a backup."""

from __future__ import annotations

import sys

import click

from holdfast.errors import InvalidValueError
from holdfast.settings import load_settings
from holdfast.surfaces.cli.backup import contents, manifest_json
from holdfast.surfaces.cli.call import Call, answer_json, counted, examples, json_option, note, pass_call, say
from holdfast.upkeep.archive import Restored, restore_backup


@click.command(
    epilog=examples(
        "holdfast restore ~/holdfast.zip --dry-run",
        "holdfast restore ~/holdfast.zip",
        "holdfast restore ~/holdfast.zip --settings --yes",
    )
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, resolve_path=True))
@click.option("--settings", "with_config", is_flag=True, help="Also restore config.toml.")
@click.option("--dry-run", is_flag=True, help="Check the file and print what would be done; change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Replace the current memory without asking.")
@json_option
@pass_call
def command(call: Call, file: str, with_config: bool, dry_run: bool, yes: bool) -> None:
    """Replace this Holdfast home's memory by FILE, which `holdfast backup` wrote.

    The whole file is checked before anything is changed. The replaced memory is first saved in a backup of its own. A
    database of an older version is updated; a database of a newer version is refused.
    """
    settings = load_settings()
    plan = restore_backup(settings, file, with_config=with_config, dry=True)
    if not dry_run:
        if not yes and not _is_empty(plan):
            _agree(plan)
        plan = restore_backup(settings, file, with_config=with_config)
    if call.as_json:
        answer_json({
            "dry_run": dry_run,
            "backup": manifest_json(plan.manifest),
            "replaced_lessons": None if plan.before is None else plan.before.lessons,
            "kept_in": plan.saved,
            "placed": plan.placed,
            "left": plan.left,
        })  # fmt: skip
        return
    say(f"{'would restore' if dry_run else 'restored'} {contents(plan.manifest)}")
    _note_files(plan)
    if dry_run:
        note("the file is sound; nothing was changed")


def _is_empty(plan: Restored) -> bool:
    return plan.before is not None and not (plan.before.versions or plan.before.events)


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
