"""`holdfast edit`: change when a lesson is shown, or its title."""

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
        "holdfast edit 1f0c9a2b --title 'Run tests with `make test`'",
        "holdfast edit 1f0c9a2b --retire --revive-when numpy",
    )
)
@click.argument("ref", metavar="ID")
@click.option("--title", default=None, help="Its verdict in at most 12 words; '' makes one of its own words.")
@click.option("--when-file", "paths", multiple=True, help="Show it before this file or glob is read or edited.")
@click.option("--when-symbol", "symbols", multiple=True, help="Show it before this definition is read or edited.")
@click.option("--when-code", "literals", multiple=True, help="Show it for an edit or a command with this text.")
@click.option("--when-command", "commands", multiple=True, help="Show it before a command that begins so.")
@click.option(
    "--when-work", "work", multiple=True, help="Show it before commands of this kind: test, lint, commit, pr, review."
)
@click.option("--standing/--not-standing", default=None, help="Show it at a session's start, for all work.")
@click.option(
    "--revive-when",
    default=None,
    metavar="DEP",
    help="When retired, revive it for DEP: numpy (another version), 'numpy>=2'; '' never.",
)
@click.option("--retire", is_flag=True, help="Take it out of use until its revival condition is met.")
@click.option("--never", is_flag=True, help="First remove all its conditions.")
@json_option
@folder_option
@pass_call
def command(call: Call, /, ref: str, *, never: bool, revive_when: str | None, retire: bool, **options: Any) -> None:
    """Change when a lesson is shown, its title, or when a retired lesson is revived. ID is the end of its id.

    An option replaces all conditions of its kind; the --when-... options may be repeated. Without an option, the
    conditions are printed. A title says the lesson's verdict, not its topic, with the lesson's own names, numbers and
    negations. To change what the lesson says, use `holdfast revise`. A retired lesson waits
    for a person again when the version of the dependency in a lock file changes. `holdfast verify` and the end of each
    session check this.
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
        say("shown at" if has_trigger else "shown by its words alone; --help lists the conditions")
        for name, word in NAMES.items():
            for trigger in getattr(lesson.when, name):
                say(f"  {word} {trigger}")
        if lesson.when.standing:
            say("  any work (standing)")
        if lesson.revival:
            say(f"revived when {lesson.revival}")
