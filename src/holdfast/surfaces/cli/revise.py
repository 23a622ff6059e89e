"""`holdfast revise`: replace a lesson by a better one."""

from __future__ import annotations

from typing import Any

import click

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli.call import Call, examples, folder_option, json_option, note, pass_call, read_text
from holdfast.surfaces.cli.written import print_written


@click.command(
    epilog=examples(
        "holdfast revise 1f0c9a2b --insight 'Retries are capped at 5'",
        "holdfast revise 1f0c9a2b --why 'the gateway bans us' --file src/gateway.py",
        "holdfast revise 1f0c9a2b --pin",
    )
)
@click.argument("ref", metavar="ID", shell_complete=lesson_ids)
@click.option("--insight", help="The rule; - reads it from stdin.")
@click.option("--kind", type=click.Choice(LESSON_KINDS), help="Its kind.")
@click.option("--title", help="Its verdict in at most 12 words; '' makes one.")
@click.option("--why", help="The reason.")
@click.option("--how", help="What to do instead.")
@click.option("--snippet", "snippets", multiple=True, help="Replace all snippets; may be repeated.")
@click.option("--file", "files", multiple=True, help="Replace all files; may be repeated.")
@click.option("--symbol", "symbols", multiple=True, help="Replace all symbols; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Replace all tags; may be repeated.")
@click.option("--topic", "topic_key", help="A stable key.")
@click.option(
    "--pin/--unpin", "pinned", default=None, help="Always show it among the first at a session's start, or not."
)
@click.option("--private/--shared", default=None, help="Never export it, or allow it.")
@json_option
@folder_option
@pass_call
def command(call: Call, /, ref: str, **options: Any) -> None:
    """Replace a lesson by a better one. ID is the end of its id.

    Give only what changes. The old lesson is kept with the state `superseded`.
    """
    changes = {name: value for name, value in options.items() if value is not None and value != ()}
    if not changes:
        raise InvalidValueError("nothing to revise", hint="give at least one option, e.g. --insight '…'")
    if "insight" in changes:
        changes["insight"] = read_text(changes["insight"])
    with call.open() as memory:
        old = memory.get(ref)
        lesson = memory.revise(old.id, **changes)
        rivals = memory.rivals(lesson)
    print_written(call, lesson, rivals)
    note(f"supersedes {short_id(old.id)}")
