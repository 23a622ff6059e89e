"""`holdfast recommend`: what a person could do so that a lesson need not be told again."""

from __future__ import annotations

import click

from holdfast.bootstrap import Memory
from holdfast.lean.texts import short_id
from holdfast.rendering.views import report_json
from holdfast.reports.advice import ADVICE
from holdfast.reports.recommendations import Recommendation
from holdfast.surfaces.cli.frame import Call, command, group
from holdfast.surfaces.cli.screen import note, say, wrapped


@group(
    "holdfast recommend", "holdfast recommend dismiss rules_file:1f0c9a2b", folder=True, json=True,
    invoke_without_command=True,
)  # fmt: skip
@click.option("--all", "everything", is_flag=True, help="Also those that were dismissed.")
def recommend(call: Call, everything: bool) -> None:
    """Print a few things to do, each with its evidence, so that lessons need not be told again.

    Rules that were stated in three sessions and that no rules file says; lessons that a lint rule, a test or a comment
    could say; files that make trouble again and again and that no lesson is about.
    """
    with call.open() as memory:
        rows = memory.recommendations(dismissed=everything)
        has_code = memory.location.has_work_tree
    if call.answer({"recommendations": report_json(rows)}):
        return
    for kind, heading in ADVICE.items():
        some = [row for row in rows if row.kind == kind]
        if some:
            say(heading)
        for row in some:
            _print(row)
        if some:
            say("")
    if rows:
        note("to dismiss one for good: holdfast recommend dismiss KEY")
    else:
        note("nothing to recommend" if has_code else "only a clone can tell: there is no code here")


def _print(row: Recommendation) -> None:
    mark = " (dismissed)" if row.is_dismissed else ""
    say(*(f"  {line}" for line in wrapped(row.title, 2)))
    say(*(f"    {line}" for line in wrapped(row.why, 4)))
    if row.lessons:
        say(f"    lessons: {', '.join(ref.short_id for ref in row.lessons)}")
    if row.sessions:
        more = row.session_count - len(row.sessions)
        say(f"    sessions: {', '.join(map(short_id, row.sessions))}" + (f" and {more} more" if more > 0 else ""))
    say(f"    key: {row.key}{mark}")


@command("holdfast recommend dismiss rules_file:1f0c9a2b", of=recommend, memory=True)
@click.argument("key")
def dismiss(call: Call, memory: Memory, key: str) -> None:
    """Do not show the recommendation KEY again."""
    row = memory.dismiss_recommendation(key)
    if not call.answer(report_json(row)):
        say(f"dismissed: {row.title}")
        note(f"to undo: holdfast recommend restore {row.key}")


@command("holdfast recommend restore rules_file:1f0c9a2b", of=recommend, memory=True)
@click.argument("key")
def restore(call: Call, memory: Memory, key: str) -> None:
    """Show the dismissed recommendation KEY again."""
    row = memory.restore_recommendation(key)
    if not call.answer(report_json(row)):
        say(f"restored: {row.title}")
