"""`holdfast edit`: change when a lesson is told."""

from __future__ import annotations

from typing import Any

import click

from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, pass_call, say
from holdfast.surfaces.cli.written import print_written

NAMES = {"paths": "file", "symbols": "symbol", "literals": "code", "commands": "command", "work": "work"}


@click.command(
    epilog=examples(
        "holdfast edit 1f0c9a2b --when-code 'exec.Command('",
        "holdfast edit 1f0c9a2b --when-command 'gh pr diff' --when-file 'src/gateway/**'",
        "holdfast edit 1f0c9a2b --standing",
        "holdfast edit 1f0c9a2b --retire --revive-when numpy",
    )
)
@click.argument("ref", metavar="ID")
@click.option("--when-file", "paths", multiple=True, help="A file or glob about to be read or edited.")
@click.option("--when-symbol", "symbols", multiple=True, help="A definition about to be read or edited.")
@click.option("--when-code", "literals", multiple=True, help="A piece of text in an edit or a command.")
@click.option("--when-command", "commands", multiple=True, help="The beginning of a command.")
@click.option("--when-work", "work", multiple=True, help="A kind of work: fix, feature, test, commit, review, ...")
@click.option("--standing/--not-standing", default=None, help="It holds for all work: told at a session's start.")
@click.option("--revive-when", default=None, metavar="DEP", help="Once retired, wake it: numpy, 'numpy>=2'; '' never.")
@click.option("--retire", is_flag=True, help="Put it out of use, until what --revive-when names happens.")
@click.option("--never", is_flag=True, help="Take away all that it has, before what else is given.")
@json_option
@folder_option
@pass_call
def command(call: Call, /, ref: str, *, never: bool, revive_when: str | None, retire: bool, **options: Any) -> None:
    """Change when a lesson is told, or when a retired one wakes. ID is the end of its id.

    Each option may be repeated and replaces what the lesson had of its kind. Without an option: print them. What the
    lesson says is changed by holdfast revise. A retired lesson wakes on probation when the version of a dependency in
    a lock file becomes another one: `holdfast verify`, and every session's end, look.
    """
    changes = {name: value for name, value in options.items() if value is not None and value != ()}
    if never:
        changes = {**dict.fromkeys(NAMES, ()), "standing": False, **changes}
    with call.open() as memory:
        lesson = memory.get(ref)
        if changes:
            lesson = memory.edit(lesson.id, **changes)
        if retire or revive_when is not None:
            condition = lesson.revival if revive_when is None else revive_when
            lesson = memory.revive_when(lesson.id, condition, retire=retire)
    if changes or retire or revive_when is not None or call.as_json:
        answer_json(lesson_json(lesson)) if call.as_json else print_written(call, lesson)
    if not call.as_json:
        has_trigger = lesson.when.standing or any(getattr(lesson.when, name) for name in NAMES)
        say("told at" if has_trigger else "told by its words alone; --help lists what can be given")
        for name, word in NAMES.items():
            for trigger in getattr(lesson.when, name):
                say(f"  {word} {trigger}")
        if lesson.when.standing:
            say("  any work (standing)")
        if lesson.revival:
            say(f"wakes when {lesson.revival}")
