"""`holdfast backfill`: learn from transcripts that are on this machine already."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from holdfast.domain.errors import InvalidValueError
from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, note, pass_call, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.surfaces.cli._backfilling import Backfilling, Tally

INTERRUPTED = 130


@click.command(
    "backfill",
    epilog=examples(
        "holdfast backfill --dry-run",
        "holdfast backfill",
        "holdfast backfill --since 2026-10-01",
        "holdfast backfill old-laptop/*.jsonl --project ~/src/shop",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@click.option(
    "--project", type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Take all of them as sessions in this folder.",
)  # fmt: skip
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Leave out what happened before this day (UTC).")
@click.option("--host", default="claude-code", show_default=True, help="Whose transcripts they are.")
@click.option("--dry-run", is_flag=True, help="Count what is there; keep nothing.")
@folder_option
@json_option
@pass_call
def command(
    call: Call, paths: tuple[str, ...], project: str | None, since: datetime | None, host: str, dry_run: bool
) -> int:
    """Learn from the transcripts at PATHS (files or folders), or from all that the host kept on this machine.

    Twice is once: what is known already is not kept again. Stop it with Ctrl-C at any time and run it again to go
    on. Sessions in folders that are gone are left out, unless --project says where they belong.
    """
    from holdfast.bootstrap import load_host
    from holdfast.settings import load_settings
    from holdfast.surfaces.cli._backfilling import Backfilling

    settings = load_settings()
    if not (settings.capture or dry_run):
        raise InvalidValueError("capture is switched off", hint=f"see HOLDFAST_OFF and {settings.config_path}")
    adapter = load_host(host, settings)
    files = list(_files(paths)) if paths else list(adapter.find_transcripts(settings.user_home))
    began = time.monotonic()
    with nullcontext() if dry_run else call.open() as memory:
        run = Backfilling(adapter, memory, project or "", since and since.replace(tzinfo=UTC))
        finished = _read_all(run, files)
    seconds = round(time.monotonic() - began, 3)
    if call.as_json:
        answer_json(run.tally.plain() | {"seconds": seconds, "dry_run": dry_run, "interrupted": not finished})
    else:
        _tell(run.tally, dry_run)
    if not finished:
        note("stopped; run it again to go on from here")
    return 0 if finished else INTERRUPTED


def _read_all(run: Backfilling, files: Sequence[str]) -> bool:
    """Whether all files were read; False when the user interrupted."""
    with _progress(files) as advance:
        try:
            for path in files:
                run.read(path, advance)
        except KeyboardInterrupt:
            return False
    return True


def _files(paths: Sequence[str]) -> Iterator[str]:
    for path in paths:
        if not os.path.isdir(path):
            yield os.path.abspath(path)
            continue
        for folder, folders, names in os.walk(os.path.abspath(path)):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names) if name.endswith(".jsonl"))


@contextmanager
def _progress(files: Sequence[str]) -> Iterator[Callable[[int], None]]:
    """A bar on a terminal; elsewhere a line for every tenth of the bytes."""
    total = sum(os.path.getsize(path) for path in files if os.path.exists(path))
    if not sys.stderr.isatty():
        yield _Lines(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("reading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.advance(task, done)


class _Lines:
    """Progress for a log file: few lines, each whole."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._told = total, 0, 0

    def __call__(self, done: int) -> None:
        self._done += done
        tenth = 10 * self._done // max(1, self._total)
        if tenth > self._told:
            self._told = tenth
            note(f"{10 * tenth} % of {self._total / 1e6:.1f} MB")


def _tell(tally: Tally, dry_run: bool) -> None:
    verb = "would keep" if dry_run else "kept"
    read = f"{tally.files} transcripts, {tally.sessions} sessions, {tally.bytes / 1e6:.1f} MB"
    say(f"{read}: {verb} {tally.events} events")
    if tally.unchanged:
        say(f"{tally.unchanged} transcripts have not changed since the last time")
    if tally.lessons:
        say(f"learnt: {tally.lessons['active']} active, {tally.lessons['waiting']} waiting for `holdfast review`")
    for why, count in sorted(tally.skipped.items()):
        what, _, reason = why.partition(": ")
        note(f"left out: {count} {what}, {reason}")
    for why in tally.failed:
        note(f"a detector failed: {why}")
