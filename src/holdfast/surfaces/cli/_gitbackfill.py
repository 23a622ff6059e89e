"""`holdfast backfill --git`: learns from a repository's commits, with a bar on a terminal, and prints the result."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from holdfast.learning.gitbackfill import GitBackfill, GitReport
from holdfast.service.memory import Memory
from holdfast.surfaces.cli.call import counted, note, say

SHOWN = 5
"""Titles that are printed, the likeliest first."""


def learn_from_git(memory: Memory, how: GitBackfill) -> tuple[GitReport, float]:
    """Learn from the repository's commits; return the report and the seconds it took.

    Raises InvalidValueError if there are no commits.
    """
    began = time.monotonic()
    report = _with_bar(memory, how) if sys.stderr.isatty() else memory.backfill_git(how)
    return report, round(time.monotonic() - began, 3)


def git_facts(report: GitReport, seconds: float, dry_run: bool) -> dict[str, Any]:
    """Return the report as `--json` prints it."""
    return {
        "seconds": seconds,
        "dry_run": dry_run,
        "commits": report.commits,
        "complete": report.complete,
        "interrupted": report.stopped,
        "own": report.own,
        "found": report.found,
        "lessons": [
            {"id": step.lesson, "commit": step.label.removeprefix("commit "), "title": step.title, "state": step.state}
            for step in report.added
        ],
        "left_out": {
            "known": report.known + len(report.steps) - len(report.added),
            "about_files_that_are_gone": report.gone,
            "suspicious": report.suspicious,
            "over_the_limit": report.over,
        },
    }


def tell_git(report: GitReport, dry_run: bool) -> None:
    """Print the report: the number of lessons and the best titles on stdout, the rest on stderr."""
    lessons = counted(len(report.added), "lesson")
    say(f"{counted(report.commits, 'commit')} read: {'would store' if dry_run else 'stored'} {lessons}")
    titles = list({step.title: f"{step.title}  ({step.label[:14]})" for step in report.added}.values())
    for title in titles[:SHOWN]:
        say(f"  {title}")
    if len(titles) > SHOWN:
        say(f"  ... and {len(titles) - SHOWN} more")
    if report.added and not dry_run:
        note("they are unconfirmed: agents are not told of them, recall marks them, holdfast review lists them")
        note("to undo this run: holdfast undo; to undo all such runs: holdfast backfill --git --undo")
    left_out = (
        (report.gone, "about files that no longer exist"),
        (report.suspicious, "that address an agent or hide something"),
        (report.over, "over the limit for one project"),
    )
    for count, why in left_out:
        if count:
            note(f"skipped: {counted(count, 'lesson')} {why}")
    if report.stopped:
        note("stopped; run it again to go on from here")
    elif not report.complete:
        note("older commits were not read; run it again to go on from there")


def _with_bar(memory: Memory, how: GitBackfill) -> GitReport:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("commits"), BarColumn(), TextColumn("{task.completed:,.0f}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=how.most_commits)
        advance: Callable[[int], None] = lambda count: bar.update(task, completed=count)  # noqa: E731
        return memory.backfill_git(how, advance)
