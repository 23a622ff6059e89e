"""`holdfast prune`: forget lessons that are no longer of use."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from holdfast.errors import InvalidValueError
from holdfast.lean.texts import short_id
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
from holdfast.surfaces.cli.rows import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.curation.audit import Finding

HEADS = ("id", "kind", "title", "why")


@click.command(epilog=examples("holdfast prune --dry-run", "holdfast prune", "holdfast undo"))
@click.option("--dry-run", is_flag=True, help="Print what would be forgotten; change nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@json_option
@folder_option
@pass_call
def command(call: Call, dry_run: bool, yes: bool) -> None:
    """Forget lessons that were of no use for a long time and that are also in doubt.

    A lesson is in doubt if its code is gone, if another lesson says the same, or if its confidence is low. Pinned
    lessons and lessons that a person stated or accepted are kept; `holdfast audit` lists them. One `holdfast undo`
    brings all of them back.
    """
    with call.open() as memory:
        findings = memory.prunable()
        if not call.as_json:
            _print(findings)
        change = None
        if findings and not dry_run:
            if not yes:
                _agree(len(findings))
            change = memory.prune([finding.lesson.id for finding in findings])
    if call.as_json:
        answer_json({
            "dry_run": dry_run,
            "change": change.id if change else "",
            "lessons": [
                {"id": finding.lesson.id, "short_id": short_id(finding.lesson.id), "title": finding.lesson.title,
                 "reasons": finding.names}
                for finding in findings
            ],
        })  # fmt: skip
        return
    if not findings:
        note("nothing to prune")
    else:
        note(f"{counted(len(findings), 'lesson')} " + ("would be forgotten" if dry_run else "forgotten: holdfast undo"))


def _print(findings: Sequence[Finding]) -> None:
    for line in table([_cells(finding) for finding in findings], HEADS):
        say(line)


def _cells(finding: Finding) -> list[str]:
    lesson = finding.lesson
    return [short_id(lesson.id), lesson.kind, lesson.title, "; ".join(words for _, words in finding.reasons)]


def _agree(count: int) -> None:
    if not sys.stdin.isatty():
        raise InvalidValueError("prune asks first, and there is no terminal to ask on", hint="--dry-run, or --yes")
    click.confirm(f"Forget {counted(count, 'lesson')}?", abort=True, err=True)
