"""`holdfast remember`: save a lesson."""

from __future__ import annotations

from typing import Any

import click

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.lessons.anchoring import anchored_words
from holdfast.surfaces.cli.call import Call, examples, folder_option, json_option, note, pass_call, read_text
from holdfast.surfaces.cli.written import print_written


@click.command(
    epilog=examples(
        "holdfast remember 'Seed the clock before login tests' --file tests/conftest.py",
        "holdfast remember 'Retries are capped at 3' --kind constraint --why 'the gateway bans us'",
        "holdfast remember 'Answer in British English' --kind preference --scope user",
        "git log -1 --format=%b | holdfast remember - --kind decision --topic storage",
    )
)
@click.argument("text")
@click.option("--kind", default="convention", show_default=True, type=click.Choice(LESSON_KINDS), help="Its kind.")
@click.option("--title", default="", help="Its verdict in at most 12 words.  [default: made of TEXT]")
@click.option("--why", default="", help="The reason.")
@click.option("--how", default="", help="What to do instead.")
@click.option("--snippet", "snippets", multiple=True, help="Code or a command that proves it; may be repeated.")
@click.option("--file", "files", multiple=True, help="A file, FILE:LINE, FILE::NAME or a glob; may be repeated.")
@click.option("--symbol", "symbols", multiple=True, help="A function or class, e.g. Store.put; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="A word to find it by; may be repeated.")
@click.option("--topic", "topic_key", default="", help="A stable key; saving with the same key revises the lesson.")
@click.option(
    "--scope",
    default="project",
    show_default=True,
    type=click.Choice(["project", "user", "team"]),
    help="Who may see it.",
)
@click.option("--pin", "pinned", is_flag=True, help="Always show it among the first at a session's start.")
@click.option("--private", is_flag=True, help="Never export it.")
@click.option(
    "--revive-when",
    default="",
    metavar="DEP",
    help="When retired, revive it for DEP: numpy (another version), or 'numpy>=2'.",
)
@json_option
@folder_option
@pass_call
def command(call: Call, /, text: str, **stated: Any) -> None:
    """Save a lesson. TEXT is the rule in a sentence or two; - reads it from stdin.

    Saving the same rule again does not add a second lesson.
    """
    with call.open() as memory:
        lesson = memory.remember(read_text(text), **stated)
        rivals = memory.rivals(lesson)
        missing = [path for path in lesson.paths if not memory.services.workspace.exists(memory.location, path)]
    print_written(call, lesson, rivals)
    words = anchored_words([anchor for anchor in lesson.anchors if anchor.path not in missing])
    if words:
        note(f"anchored to {words}")
    if lesson.scope.branch:
        note(f"shown only on {lesson.scope.branch} until it is merged, since only it has this code: holdfast staged")
    for path in missing:
        note(f"note: {path} does not exist now")
    for anchor in lesson.anchors:
        if anchor.symbol and not anchor.body_hash and anchor.path not in missing:
            where = f" in {anchor.path}" if anchor.path else ""
            note(f"note: no definition {anchor.symbol}, or more than one, was found{where}")
