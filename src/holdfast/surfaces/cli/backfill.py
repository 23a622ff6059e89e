"""`holdfast backfill`: learn from transcripts, commits or earlier sessions that are already on this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import Any

import click

from holdfast.backfill.loading import SessionLocations, Tally
from holdfast.backfill.run import TranscriptRun, load_hosts
from holdfast.bootstrap import Memory
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import counted
from holdfast.learning.gitbackfill import GitBackfill, GitReport
from holdfast.settings import load_settings
from holdfast.surfaces.cli.distil import distil_earlier
from holdfast.surfaces.cli.frame import INTERRUPTED, Call, command, host_names
from holdfast.surfaces.cli.screen import answer_json, bar, note, say, size

SHOWN = 5
"""Titles that are printed, the likeliest first."""


@command(
    "holdfast backfill --dry-run", "holdfast backfill", "holdfast backfill --host codex --since 2026-10-01",
    "holdfast backfill old-laptop/*.jsonl --project ~/src/shop --accept", "holdfast backfill --git",
    "holdfast backfill --git --dry-run --commits 500", "holdfast backfill --git --undo",
    "holdfast backfill --distil --limit 20",
)  # fmt: skip
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Treat every transcript as a session in this folder.",
)
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Skip everything before this day (UTC).")
@click.option("--host", metavar="NAME", shell_complete=host_names, help="Read transcripts of this host only.")
@click.option("--accept", is_flag=True, help="Treat transcripts that came with a repository as your own words.")
@click.option("--dry-run", is_flag=True, help="Count what would be read; store nothing.")
@click.option("--git", "from_git", is_flag=True, help="Learn from this repository's commits instead.")
@click.option("--commits", type=click.IntRange(1, 100_000), help="With --git: read at most this many (default 2,000).")
@click.option(
    "--undo", "take_back", is_flag=True, help="With --git: retire the lessons from commits that nobody accepted."
)
@click.option("--distil", "distils", is_flag=True, help="Let the chosen model distil earlier sessions instead.")
@click.option("--limit", type=click.IntRange(1, 10_000), help="With --distil: send at most this many sessions.")
@click.option("--yes", "-y", is_flag=True, help="With --distil: do not ask.")
def backfill(
    call: Call, paths: tuple[str, ...], project: str | None, since: datetime | None, host: str | None, accept: bool,
    dry_run: bool, from_git: bool, commits: int | None, take_back: bool, distils: bool, limit: int | None, yes: bool
) -> int:  # fmt: skip
    """Learn from the transcripts at PATHS (files or folders), or from all that the hosts keep on this machine.

    A second run does not store anything twice. You can stop it with Ctrl-C at any time and run it again to go on.
    Sessions in folders that no longer exist are skipped, unless --project says where they belong.

    A transcript inside a project may be someone else's if git tracks it or if the folder is not in git: SpecStory and
    Aider keep transcripts there, and a clone brings them along. Such transcripts are skipped. If you name
    one in PATHS, it is read, and its lessons wait in the inbox. With --accept they count as your own words.

    The file's name or --host decides which host's reader is used. If that reader finds nothing, the readers of all
    other hosts are tried. The exit code is 1 if something you named cannot be read.

    With --git, it reads this repository's commits: causes of defects, reasons for decisions, reverts. The best
    lessons wait in the inbox, at most 100 for each project and 20 if none of the commits is yours.

    With --distil, the model that you chose (`holdfast learn --on`, `holdfast distil use`) reads the sessions of this
    project with real work that it has not read yet, newest first. It shows the likely cost and asks before anything
    is sent.
    """
    settings = load_settings()
    _check_options(from_git, distils, {
        "PATHS": paths, "--project": project, "--host": host, "--since": since and not distils,
        "--commits": commits and not from_git, "--undo": take_back and not from_git,
        "--accept": accept and not from_git, "--limit": limit and not distils, "--yes": yes and not distils
    })  # fmt: skip
    if from_git and take_back:
        return _take_back(call)
    if distils:
        return distil_earlier(call, since=since and since.replace(tzinfo=UTC), limit=limit, yes=yes, dry_run=dry_run)
    if not (settings.capture or dry_run):
        raise InvalidValueError("capture is switched off", hint=f"see HOLDFAST_OFF and {settings.config_path}")
    if from_git:
        return _read_git(call, commits, accept, dry_run)
    began = time.monotonic()
    with nullcontext() if dry_run else call.open() as memory:
        hosts, locations = load_hosts(settings, host or ""), SessionLocations(memory, project or "")
        run = TranscriptRun(hosts, locations, since and since.replace(tzinfo=UTC), accept, _progress)
        home = settings.user_home
        finished = run.at(paths, home, _note_guess) if paths else run.everywhere(home, call.folder or os.getcwd())
    seconds = round(time.monotonic() - began, 3)
    if call.as_json:
        host_rows = [{"host": name, **tally.plain()} for name, tally in run.tallies.items()]
        run_fields = {"seconds": seconds, "dry_run": dry_run, "interrupted": not finished, "hosts": host_rows,
                      "unread": [{"path": path, "reason": reason} for path, reason in run.unread]}  # fmt: skip
        answer_json(run.total().plain() | run_fields)
    else:
        _tell(run, dry_run)
    if not finished:
        note("stopped; run it again to go on from here")
        return INTERRUPTED
    return 1 if run.unread else 0


def _check_options(from_git: bool, distils: bool, unfit: Mapping[str, object]) -> None:
    """Raise InvalidValueError for options that the chosen mode does not have."""
    if from_git and distils:
        raise InvalidValueError("--git and --distil cannot be combined", hint="run one after the other")
    mode = "--git" if from_git else "--distil" if distils else ""
    transcripts = ("PATHS", "--project", "--host", "--since", "--accept")
    names = [name for name, value in unfit.items() if value and (mode or name not in transcripts)]
    if names:
        only = f"{names[0]} cannot be used with {mode}" if mode else f"{names[0]} needs --git or --distil"
        raise InvalidValueError(only, hint="holdfast backfill --help")


def _read_git(call: Call, commits: int | None, accept: bool, dry_run: bool) -> int:
    how = GitBackfill(accept=accept, dry=dry_run)
    if commits:
        how = GitBackfill(accept=accept, dry=dry_run, most_commits=commits)
    with call.open() as memory:
        report, seconds = learn_from_git(memory, how)
    if not call.answer(git_facts(report, seconds, dry_run)):
        tell_git(report, dry_run)
    return INTERRUPTED if report.stopped else 0


def _take_back(call: Call) -> int:
    with call.open() as memory:
        retired = memory.take_back_git()
    if not call.answer({"retired": retired}):
        say(
            f"retired {counted(retired, 'lesson')} from commits"
            + ("; holdfast undo brings them back" if retired else "")
        )
    return 0


def _note_guess(path: str, host: str) -> None:
    note(f"read as a transcript of {host}, whose reader alone finds events in it: {path}")


@contextmanager
def _progress(files: Sequence[str]) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal, elsewhere a line for every tenth of the bytes."""
    total = sum(os.path.getsize(path) for path in files if os.path.exists(path))
    with bar("reading", total, in_bytes=True) as progress:
        yield progress.advance if progress else _Lines(total)


class _Lines:
    """Progress for a log file: at most ten lines."""

    def __init__(self, total: int) -> None:
        self._total, self._done, self._told = total, 0, 0

    def __call__(self, done: int) -> None:
        self._done += done
        tenth = min(10, 10 * self._done // max(1, self._total))
        if tenth > self._told:
            self._told = tenth
            note(f"{10 * tenth} % of {size(self._total)}")


def _tell(run: TranscriptRun, dry_run: bool) -> None:
    if len(run.tallies) > 1:
        _tell_hosts(run.tallies)
    tally = run.total()
    verb = "would store" if dry_run else "stored"
    read = f"{counted(tally.files, 'transcript')}, {counted(tally.sessions, 'session')}, {size(tally.bytes)}"
    say(f"{read}: {verb} {tally.events} events")
    if tally.unchanged:
        say(f"{tally.unchanged} transcripts have not changed since the last time")
    if any(tally.lessons.values()):
        confirmed, unconfirmed = tally.lessons["confirmed"], tally.lessons["unconfirmed"]
        say(f"learnt: {confirmed} confirmed, {unconfirmed} unconfirmed" + (": holdfast review" if unconfirmed else ""))
    for why, count in sorted(tally.skipped.items()):
        what, _, reason = why.partition(": ")
        note(f"skipped: {count} {what}, {reason}")
    if tally.from_repository:
        what = counted(tally.from_repository, "transcript")
        note(f"{what} may be someone else's: the lessons wait for holdfast review (--accept: they are yours)")
    for path, reason in run.unread:
        note(f"not read: {path}: {reason}")
    if run.passed_over:
        note(f"skipped: {counted(run.passed_over, 'file')} not recognised as transcripts; name a file to try it")
    for why in tally.failed:
        note(f"a detector failed: {why}")


def _tell_hosts(tallies: dict[str, Tally]) -> None:
    """Print a line for each host: how much of it was read."""
    heads = ("host", "transcripts", "unchanged", "sessions", "events", "lessons")
    lines = [heads, *(_cells(name, tally) for name, tally in tallies.items())]
    widths = [max(len(line[n]) for line in lines) for n in range(len(heads))]
    for name, *numbers in lines:
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        say("  ".join((name.ljust(widths[0]), *cells)))


def _cells(name: str, tally: Tally) -> tuple[str, ...]:
    lessons = sum(tally.lessons.values())
    return (name, *(f"{number:,}" for number in (tally.files, tally.unchanged, tally.sessions, tally.events, lessons)))


def learn_from_git(memory: Memory, how: GitBackfill) -> tuple[GitReport, float]:
    """Learn from the repository's commits; return the report and the seconds it took.

    Raises InvalidValueError if there are no commits.
    """
    began = time.monotonic()
    with bar("commits", how.most_commits) as progress:
        report = memory.backfill_git(how, progress.show)
    return report, round(time.monotonic() - began, 3)


def git_facts(report: GitReport, seconds: float, dry_run: bool) -> dict[str, Any]:
    """Return the report as `--json` prints it."""
    return {
        "seconds": seconds, "dry_run": dry_run, "commits": report.commits, "complete": report.complete,
        "interrupted": report.stopped, "own": report.own, "found": report.found,
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
    }  # fmt: skip


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
