"""`holdfast backup`: everything of this home in one file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from holdfast.errors import InvalidValueError
from holdfast.surfaces.cli.call import Call, answer_json, counted, examples, json_option, note, pass_call, say, size

if TYPE_CHECKING:
    from holdfast.upkeep.archive import Manifest


@click.command(epilog=examples("holdfast backup ~/holdfast.zip", "holdfast backup --replace /mnt/stick/holdfast.zip"))
@click.argument("file", type=click.Path(dir_okay=False, resolve_path=True))
@click.option("--replace", is_flag=True, help="Write over a FILE that is there.")
@json_option
@pass_call
def command(call: Call, file: str, replace: bool) -> None:
    """Write everything of this home into FILE: lessons of every project and their history, events, the log, settings.

    The file is checked after it was written. It holds private lessons too: keep it to yourself.
    """
    from holdfast.upkeep.archive import write_backup

    if os.path.exists(file) and not replace:
        raise InvalidValueError(f"{file} is there already", hint="name another file, or say --replace")
    with call.open() as memory:  # puts in what waits in the spool
        settings = memory.settings
    manifest = write_backup(settings, file)
    if call.as_json:
        answer_json({"file": file, "bytes": os.path.getsize(file), **manifest_json(manifest)})
        return
    say(f"{file}  {size(os.path.getsize(file))}")
    note(f"{contents(manifest)}; checked")


def contents(manifest: Manifest) -> str:
    """What a backup holds, in words."""
    extent = manifest.extent
    counts = f"{counted(extent.lessons, 'lesson')}, {counted(extent.events, 'event')}"
    return f"{counts}, written {manifest.made[:16].replace('T', ' ')} UTC by Holdfast {manifest.holdfast}"


def manifest_json(manifest: Manifest) -> dict[str, object]:
    """What a backup holds, for programs."""
    return {
        "format": manifest.format,
        "holdfast": manifest.holdfast,
        "made": manifest.made,
        "lessons": manifest.extent.lessons,
        "versions": manifest.extent.versions,
        "events": manifest.extent.events,
        "files": [{"name": member.name, "bytes": member.size, "sha256": member.sha256} for member in manifest.members],
    }
