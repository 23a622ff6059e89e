"""`holdfast export`: write whole lessons as JSON lines, or as Markdown for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import IO

import click

from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import STATES, State
from holdfast.publishing.publication import render_markdown
from holdfast.surfaces.cli.call import Call, counted, escaped, examples, folder_option, note, pass_call
from holdfast.surfaces.cli.rows import chosen_states

MOST_READABLE = 100_000
"""Lessons in one Markdown text."""


@click.command(
    epilog=examples(
        "holdfast export > lessons.jsonl",
        "holdfast export --state all --output lessons.jsonl",
        "holdfast export --format markdown > lessons.md",
        "holdfast export --all-projects | ssh other-machine holdfast import - --accept",
    )
)
@click.option(
    "--format",
    "form",
    default="jsonl",
    show_default=True,
    type=click.Choice(["jsonl", "markdown"]),
    help="The format.",
)
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([*STATES, "all"]),
    help="Only lessons in this state; `all` is every state except forgotten.  [default: active]",
)
@click.option("--all-projects", is_flag=True, help="Export lessons of every project; each line names its project.")
@click.option("-o", "--output", type=click.File("wb", lazy=False, atomic=True), default="-", help="Write to this file.")
@folder_option
@pass_call
def command(call: Call, form: str, states: tuple[str, ...], all_projects: bool, output: IO[bytes]) -> None:
    """Write this project's lessons and your own as JSON lines, newest first, or as Markdown for people.

    Secrets are redacted again, and private lessons are left out. `holdfast import` reads the JSON lines. In this
    Holdfast home it restores them unchanged, because each line has a seal. In another home, use --accept. To save
    everything, including history and log, use `holdfast backup`.
    """
    count = 0
    with call.open() as memory:
        chosen = chosen_states(states)
        if form == "markdown":
            lines, count = _markdown(memory, chosen, all_projects)
        else:
            lines = memory.export_lessons(states=chosen, all_projects=all_projects)
        for line in lines:
            output.write((line if form == "markdown" else escaped(line)).encode("utf-8", "replace") + b"\n")
            count += form == "jsonl"
    note(counted(count, "lesson"))


def _markdown(memory: Memory, states: Sequence[State], all_projects: bool) -> tuple[Iterator[str], int]:
    lessons = memory.lessons(states=states, all_projects=all_projects, limit=MOST_READABLE)
    heading = "Lessons" if all_projects else f"Lessons of {memory.location.project.name}"
    return render_markdown(lessons, heading), sum(not lesson.private for lesson in lessons)
