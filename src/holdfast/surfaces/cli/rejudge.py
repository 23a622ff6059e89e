"""`holdfast rejudge`: judge again what an older version learnt by words alone."""

from __future__ import annotations

import click

from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import summary_lines

SHOWN = 20
"""Retired lessons that are listed."""


@click.command("rejudge", epilog=examples("holdfast rejudge --dry-run", "holdfast rejudge", "holdfast rejudge --undo"))
@click.option("--dry-run", is_flag=True, help="Say what would be retired; change nothing.")
@click.option("--undo", "take_back", is_flag=True, help="Bring back every lesson as it was before.")
@json_option
@folder_option
@pass_call
def command(call: Call, dry_run: bool, take_back: bool) -> None:
    """Judge again the lessons that an older version found by words alone; those not worth keeping are retired.

    It happens once by itself, after a session. What you stated, accepted, confirmed, revised or pinned stays as it is.
    """
    with call.open() as memory:
        if take_back:
            change = memory.undo_rejudging()
            if call.as_json:
                answer_json({"brought_back": len(change.lessons)})
            else:
                say(f"brought back {counted(len(change.lessons), 'lesson')}")
            return
        report = memory.rejudge(dry=dry_run)
    if call.as_json:
        answer_json({
            "dry_run": dry_run, "judged": report.judged, "retired": [lesson.id for lesson in report.retired],
            "on_probation": [lesson.id for lesson in report.demoted],
        })  # fmt: skip
        return
    would = "would be " if dry_run else ""
    counts = f"{len(report.retired)} {would}retired, {len(report.demoted)} {would}put on probation"
    say(f"{counted(report.judged, 'lesson')} of an older version judged again: {counts}")
    for lesson in report.retired[:SHOWN]:
        for line in summary_lines(lesson, "retired"):
            say(line)
    if len(report.retired) > SHOWN:
        note(f"and {len(report.retired) - SHOWN} more")
    if (report.retired or report.demoted) and not dry_run:
        note("holdfast rejudge --undo brings them back")
