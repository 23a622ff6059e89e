"""`holdfast backup`: write everything in this Holdfast home into one file."""

from __future__ import annotations

import os

import click

from holdfast.errors import InvalidValueError
from holdfast.surfaces.cli.call import Call, answer_json, counted, examples, json_option, note, pass_call, say, size
from holdfast.upkeep.archive import Manifest, write_backup


@click.command(epilog=examples("holdfast backup ~/holdfast.zip", "holdfast backup --replace /mnt/stick/holdfast.zip"))
@click.argument("file", type=click.Path(dir_okay=False, resolve_path=True))
@click.option("--replace", is_flag=True, help="Overwrite FILE if it exists.")
@json_option
@pass_call
def command(call: Call, file: str, replace: bool) -> None:
    """Write everything in this Holdfast home into FILE: all projects' lessons, history and events, the log, settings.

    The file is checked after it is written. It contains private lessons too, so keep it to yourself.
    """
    if os.path.exists(file) and not replace:
        raise InvalidValueError(f"{file} already exists", hint="name another file, or give --replace")
    with call.open() as memory:  # takes in what waits in the spool
        settings = memory.settings
    manifest = write_backup(settings, file)
    if call.as_json:
        answer_json({"file": file, "bytes": os.path.getsize(file), **manifest_json(manifest)})
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
        "format": manifest.format,
        "holdfast": manifest.holdfast,
        "made": manifest.made,
        "lessons": manifest.extent.lessons,
        "versions": manifest.extent.versions,
        "events": manifest.extent.events,
        "files": [{"name": member.name, "bytes": member.size, "sha256": member.sha256} for member in manifest.members],
    }
