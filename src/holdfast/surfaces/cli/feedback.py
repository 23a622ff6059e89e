"""`holdfast feedback`: say whether a lesson helped."""

from __future__ import annotations

import click

from holdfast.domain.vocabulary import SessionId, Verdict
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, pass_call, say


@click.command(
    epilog=examples("holdfast feedback 1f0c9a2b helped", "holdfast feedback 1f0c9a2b hurt --note 'true until 2.0 only'")
)
@click.argument("ref", metavar="ID", shell_complete=lesson_ids)
@click.argument("verdict", type=click.Choice(["heeded", "helped", "hurt"]))
@click.option("--note", default="", help="What happened, in your words.")
@click.option("--session", default="", help="The session.  [default: the last one that was shown the lesson]")
@json_option
@folder_option
@pass_call
def command(call: Call, ref: str, verdict: Verdict, note: str, session: str) -> None:
    """Say whether a lesson that was shown helped. ID is the end of its id."""
    with call.open() as memory:
        outcome = memory.feedback(ref, verdict, note, SessionId(session))
    if call.as_json:
        answer_json(to_plain(outcome))
    else:
        say(f"{short_id(outcome.lesson)}  {outcome.verdict}")
