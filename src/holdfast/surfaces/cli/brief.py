"""`holdfast brief`: what an agent is told here."""

from __future__ import annotations

import click

from holdfast.domain.briefing import Briefing
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.rendering.views import briefing_json
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    read_text,
    say,
    shown,
)


@click.command(
    epilog=examples(
        "holdfast brief",
        "holdfast brief --why",
        "holdfast brief --prompt 'add retries to the uploader'",
        "holdfast brief --file src/app.py --command 'npm install'",
    )
)
@click.option("--prompt", default="", help="Also print what this first prompt brings; - reads it from stdin.")
@click.option("--file", default="", help="Also print what comes before this file is read or edited.")
@click.option("--command", "line", default="", help="Also print what comes before this command is run.")
@click.option("--for", "host", default="", help="Print what this host accepts, e.g. codex.")
@click.option("--why", is_flag=True, help="Print why each line stands there, and what was left out.")
@json_option
@folder_option
@pass_call
def command(call: Call, /, prompt: str, file: str, line: str, host: str, why: bool) -> None:
    """Print exactly what an agent is told in a new session here, at its start and afterwards.

    The brief of the start has the state of the task, the commands of the project, the rules in full words, and the
    titles of other lessons by area. Nothing is logged.
    """
    with call.open() as memory:
        briefings = memory.brief(prompt=read_text(prompt), file=file, command=line, host=host)
    if call.as_json:
        answer_json({"moments": [briefing_json(briefing) for briefing in briefings]})
        return
    for briefing in briefings:
        _print_briefing(briefing, why)


def _print_briefing(briefing: Briefing, why: bool) -> None:
    label = MOMENT_PROFILES[briefing.moment].label
    lines = len(briefing.entries) + len(briefing.items)
    note(f"{label}: {counted(lines, 'line')}, {briefing.tokens} tokens")
    if briefing.degraded:
        note(briefing.degraded)
    if not briefing.text:
        note("Nothing is told.")
        return
    say(shown(briefing.text))
    if not why:
        return
    for entry in briefing.entries:
        say(f"{entry.rank:>3}  {entry.score:.2f}  {entry.reason}  {shown(entry.text)}")
    for item in briefing.items:
        say(f"{item.rank:>3}  {item.score:.2f}  {item.why.words}  {shown(item.lesson.title)}")
    if briefing.left_out:
        say(f"left out, best first ({briefing.more} in all):")
        for entry in briefing.left_out:
            say(f"     {entry.score:.2f}  {entry.reason}  {shown(entry.text)}")
