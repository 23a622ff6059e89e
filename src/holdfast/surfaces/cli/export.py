"""`holdfast export`: whole lessons as JSON lines."""

from __future__ import annotations

from typing import IO

import click

from holdfast.domain.vocabulary import STATES
from holdfast.surfaces.cli.call import Call, counted, escaped, examples, folder_option, note, pass_call
from holdfast.surfaces.cli.rows import chosen_states


@click.command(
    epilog=examples(
        "holdfast export > lessons.jsonl",
        "holdfast export --state all --output lessons.jsonl",
        "holdfast export --all-projects | ssh other-machine holdfast import - --accept",
    )
)
@click.option("--format", "form", default="jsonl", show_default=True, type=click.Choice(["jsonl"]))
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([*STATES, "all"]),
    help="Only lessons in this state; all but forgotten ones with all.  [default: active]",
)
@click.option("--all-projects", is_flag=True, help="Lessons of every project; each line then names its project.")
@click.option("-o", "--output", type=click.File("wb", lazy=False, atomic=True), default="-", help="A file for it.")
@folder_option
@pass_call
def command(call: Call, form: str, states: tuple[str, ...], all_projects: bool, output: IO[bytes]) -> None:
    """Write lessons of the project and your own as JSON lines, newest first.

    Secrets are redacted again, private lessons are left out. `holdfast import` reads it back: here as it was, by the
    seal in each line; elsewhere with --accept.
    """
    count = 0
    with call.open() as memory:
        for line in memory.export_lessons(states=chosen_states(states), all_projects=all_projects):
            output.write(escaped(line).encode("utf-8", "replace") + b"\n")
            count += 1
    note(counted(count, "lesson"))
