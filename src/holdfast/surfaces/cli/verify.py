"""`holdfast verify`: check lessons against the current code."""

from __future__ import annotations

import sys
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.curation.revival import Woken
from holdfast.freshness.verify import Checked, VerifyReport
from holdfast.lean.plain import to_plain
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

EXIT_STALE = 1
"""Exit code of --check when a lesson is not true of the code any more."""
WIDTH = 60
"""Characters of a title: what became of the code matters more here."""


@click.command(epilog=examples("holdfast verify", "holdfast verify --all --json", "holdfast verify --check"))
@click.option(
    "--all", "everything", is_flag=True, help="Also check lessons that wait for review; list fresh lessons too."
)
@click.option("--check", is_flag=True, help="Exit with 1 if a lesson's code drifted, changed or is gone, for CI.")
@json_option
@folder_option
@pass_call
def command(call: Call, everything: bool, check: bool) -> int:
    """Check every lesson against the current code, and follow code that has moved.

    Verify lists the lessons that are not fresh, worst first: id, state, title, and what happened to the code. If code
    has moved, its lesson is anchored to the new location; `holdfast undo` takes that back. A retired lesson whose
    revival condition is met waits for a person.
    """
    with call.open() as memory:
        report = _verify(memory, everything)
        woken = memory.wake_retired()
    shown = [checked for checked in report.checked if everything or checked.freshness not in ("fresh", "unanchored")]
    if call.as_json:
        answer_json(_json(report, woken))
    else:
        for line in table([_cells(checked) for checked in shown], ("id", "state", "title", "what became of the code")):
            say(line)
        _tell(report)
        for entry in woken:
            note(f"{short_id(entry.lesson.id)} waits for a person again: {entry.reason}")
    return EXIT_STALE if check and report.is_stale else 0


def _verify(memory: Memory, everything: bool) -> VerifyReport:
    """Verify the lessons; on a terminal, show a bar while code is indexed."""
    if not sys.stderr.isatty():
        return memory.verify(waiting=everything)
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("reading code"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("index", total=None)
        return memory.verify(
            waiting=everything, progress=lambda done, total: bar.update(task, completed=done, total=total)
        )


def _cells(checked: Checked) -> list[str]:
    title = checked.lesson.title
    title = title if len(title) <= WIDTH else title[: WIDTH - 1] + "…"
    caveat = checked.caveat + (" (followed)" if checked.followed else "")
    return [short_id(checked.lesson.id), checked.freshness, title, caveat]


def _tell(report: VerifyReport) -> None:
    counts = [f"{number} {state}" for state, number in report.counts.items() if number]
    note(counted(len(report.checked), "lesson") + " about code" + (": " + ", ".join(counts) if counts else ""))
    if not report.indexed:
        note("note: the code index is not complete; code that moved to another file may have been missed")


def _json(report: VerifyReport, woken: list[Woken]) -> dict[str, Any]:
    return {
        "counts": report.counts,
        "lessons": [_lesson_json(checked) for checked in report.checked],
        "change": to_plain(report.change) if report.change else None,
        "indexed": report.indexed,
        "woken": [{"id": entry.lesson.id, "title": entry.lesson.title, "reason": entry.reason} for entry in woken],
    }


def _lesson_json(checked: Checked) -> dict[str, Any]:
    return {
        "id": checked.lesson.id,
        "short_id": short_id(checked.lesson.id),
        "title": checked.lesson.title,
        "state": checked.lesson.state,
        "freshness": checked.freshness,
        "caveat": checked.caveat,
        "followed": checked.followed,
        "anchors": [
            {
                "path": anchor.path,
                "symbol": anchor.symbol,
                "freshness": verdict.freshness,
                "words": verdict.words,
                "path_now": verdict.anchor.path,
                "symbol_now": verdict.anchor.symbol,
            }
            for anchor, verdict in checked.anchor_verdicts
        ],
    }
