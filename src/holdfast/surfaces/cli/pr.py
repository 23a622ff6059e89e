"""`holdfast pr`: print what a branch's sessions learnt, for a pull request."""

from __future__ import annotations

import click

from holdfast.publishing.publication import branch_lessons, markdown_line
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, note, pass_call, say


@click.command(epilog=examples("holdfast pr", "holdfast pr origin/main | gh pr comment 12 --body-file -"))
@click.argument("base", default="")
@folder_option
@json_option
@pass_call
def command(call: Call, base: str) -> None:
    """Print as Markdown the confirmed lessons of the current branch since it left BASE, by default the main line.

    Private lessons, your own lessons for all projects and unconfirmed lessons are left out. Nothing is sent.
    """
    with call.open() as memory:
        lessons = branch_lessons(memory.services, memory.location, base)
    if call.as_json:
        answer_json({"lessons": [lesson_json(lesson) for lesson in lessons]})
        return
    for line in sorted(map(markdown_line, lessons)):
        say(line)
    if not lessons:
        note("this branch taught no confirmed lesson")
