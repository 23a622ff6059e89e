"""`holdfast index`: update the code index to the work tree."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from holdfast.freshness.verify import reindex
from holdfast.lean.plain import field_names, to_plain
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


@click.command(epilog=examples("holdfast index", "holdfast index --skipped"))
@click.option("--skipped", is_flag=True, help="List the files that were skipped, and why (at most 100).")
@json_option
@folder_option
@pass_call
def command(call: Call, skipped: bool) -> None:
    """Update the code index to the current files.

    Only changed files are read. You need not run this command: Holdfast updates the index when it needs it. You can
    stop it with Ctrl-C at any time and run it again to go on.
    """
    began = time.monotonic()
    with call.open() as memory, _reading_bar() as progress:
        report = reindex(memory.services, memory.location, progress)
    seconds = round(time.monotonic() - began, 3)
    if call.as_json:
        counts = {name: to_plain(getattr(report, name)) for name in field_names(type(report))}
        answer_json({**counts, "seconds": seconds})
        return
    parsed = f"{counted(report.parsed, 'file')} parsed, {counted(report.symbols, 'definition')}"
    say(f"{counted(report.files, 'file')} indexed: {parsed}, {report.removed} removed")
    if skipped:
        for path, reason in report.skipped:
            say(f"skipped  {path}  {reason}")
    elif report.skipped:
        count = len(report.skipped)
        note(f"skipped: {counted(count, 'file')}{' or more' if count >= 100 else ''}; --skipped lists them")
    if not report.complete:
        note("not complete; run it again to go on")


@contextmanager
def _reading_bar() -> Iterator[Callable[[int, int], None] | None]:
    """Yield a progress function for the code index, which takes (done, total); None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading code"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("index", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
