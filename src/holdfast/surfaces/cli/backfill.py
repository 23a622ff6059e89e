"""`holdfast backfill`: learn from transcripts that are on this machine already."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from holdfast.backfill.transcriptfiles import work_tree
from holdfast.domain.statefamilies import BACKFILLED_ROOTS
from holdfast.errors import InvalidValueError
from holdfast.surfaces.cli._completions import host_names
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
    size,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from holdfast.backfill.loading import Places, Tally
    from holdfast.ports.host import Host
    from holdfast.service.memory import Memory

INTERRUPTED = 130

ROOTS_LIMIT = 1_000

ANYBODYS = "so anybody may have written it (name it to let it wait in the inbox; --accept: it is yours)"


@click.command(
    "backfill",
    epilog=examples(
        "holdfast backfill --dry-run",
        "holdfast backfill",
        "holdfast backfill --host codex --since 2026-10-01",
        "holdfast backfill old-laptop/*.jsonl --project ~/src/shop --accept",
        "holdfast backfill --git",
        "holdfast backfill --git --dry-run --commits 500",
        "holdfast backfill --git --undo",
        "holdfast backfill --distil --limit 20",
    ),
)
@click.argument("paths", nargs=-1, type=click.Path(exists=True))
@click.option(
    "--project", type=click.Path(exists=True, file_okay=False, resolve_path=True),
    help="Take all of them as sessions in this folder.",
)  # fmt: skip
@click.option("--since", type=click.DateTime(["%Y-%m-%d"]), help="Leave out what happened before this day (UTC).")
@click.option(
    "--host", metavar="NAME", shell_complete=host_names, help="Whose transcripts they are; all hosts' without it."
)
@click.option("--accept", is_flag=True, help="Vouch for transcripts that a repository brings: their words are yours.")
@click.option("--dry-run", is_flag=True, help="Count what is there; keep nothing.")
@click.option("--git", "from_git", is_flag=True, help="Learn from this repository's commits instead.")
@click.option("--commits", type=click.IntRange(1, 100_000), help="With --git: read at most so many (default 2,000).")
@click.option("--undo", "take_back", is_flag=True, help="With --git: retire its lessons that nobody has accepted.")
@click.option("--distil", "distils", is_flag=True, help="Let the chosen model distil earlier sessions instead.")
@click.option("--limit", type=click.IntRange(1, 10_000), help="With --distil: at most so many sessions.")
@click.option("--yes", "-y", is_flag=True, help="With --distil: do not ask.")
@folder_option
@json_option
@pass_call
def command(
    call: Call, paths: tuple[str, ...], project: str | None, since: datetime | None, host: str | None, accept: bool,
    dry_run: bool, from_git: bool, commits: int | None, take_back: bool, distils: bool, limit: int | None, yes: bool,
) -> int:  # fmt: skip
    """Learn from the transcripts at PATHS (files or folders), or from all that the hosts kept on this machine.

    Twice is once: what is known already is not kept again. Stop it with Ctrl-C at any time and run it again to go
    on. Sessions in folders that are gone are left out, unless --project says where they belong.

    A transcript that git tracks, or that lies in a folder without git, may be anybody's: SpecStory and Aider keep
    theirs inside projects, and a clone brings its own. Such transcripts are left out. One that you name at PATHS is
    read, and what it says waits in the inbox. With --accept they count as your own words.

    Whose a file is, its name tells, or --host; where that host finds nothing in it, every other host's reader tries.
    The exit code is 1 when something you named cannot be read.

    With --git it reads this repository's commits: causes of defects, reasons for decisions, reverts. The best go on
    probation, at most 100 a project; where you have no commit of your own they wait in the inbox.

    With --distil the model that `holdfast distil use` chose reads the sessions of this project that it has not read
    yet, newest first. What that is likely to cost is shown and asked for before anything is sent.
    """
    from holdfast.backfill.loading import Places
    from holdfast.settings import load_settings

    settings = load_settings()
    _check_options(from_git, distils, {
        "PATHS": paths, "--project": project, "--host": host, "--since": since and not distils,
        "--commits": commits and not from_git, "--undo": take_back and not from_git,
        "--accept": accept and not from_git, "--limit": limit and not distils, "--yes": yes and not distils,
    })  # fmt: skip
    if from_git and take_back:
        return _take_back(call)
    if distils:
        from holdfast.surfaces.cli._distilbackfill import distil_earlier

        return distil_earlier(call, since=since and since.replace(tzinfo=UTC), limit=limit, yes=yes, dry_run=dry_run)
    if not (settings.capture or dry_run):
        raise InvalidValueError("capture is switched off", hint=f"see HOLDFAST_OFF and {settings.config_path}")
    if from_git:
        return _read_git(call, commits, accept, dry_run)
    began = time.monotonic()
    with nullcontext() if dry_run else call.open() as memory:
        run = _Run(_hosts(host), Places(memory, project or ""), since and since.replace(tzinfo=UTC), accept)
        home = settings.user_home
        finished = run.at(paths, home) if paths else run.everywhere(home, call.folder or os.getcwd())
    seconds = round(time.monotonic() - began, 3)
    if call.as_json:
        told = [{"host": name, **tally.plain()} for name, tally in run.tallies.items()]
        run_told = {"seconds": seconds, "dry_run": dry_run, "interrupted": not finished, "hosts": told,
                    "unread": [{"path": path, "reason": reason} for path, reason in run.unread]}  # fmt: skip
        answer_json(run.total().plain() | run_told)
    else:
        _tell(run, dry_run)
    if not finished:
        note("stopped; run it again to go on from here")
        return INTERRUPTED
    return 1 if run.unread else 0


def _check_options(from_git: bool, distils: bool, unfit: Mapping[str, object]) -> None:
    """Raise InvalidValueError for options that the chosen way of back-filling does not have."""
    if from_git and distils:
        raise InvalidValueError("--git and --distil are two runs", hint="run one after the other")
    mode = "--git" if from_git else "--distil" if distils else ""
    transcripts = ("PATHS", "--project", "--host", "--since", "--accept")
    names = [name for name, value in unfit.items() if value and (mode or name not in transcripts)]
    if names:
        only = f"{names[0]} does not go with {mode}" if mode else f"{names[0]} needs --git or --distil"
        raise InvalidValueError(only, hint="holdfast backfill --help")


def _read_git(call: Call, commits: int | None, accept: bool, dry_run: bool) -> int:
    from holdfast.learning.githistory.backfill import GitBackfill
    from holdfast.surfaces.cli._gitbackfill import git_facts, learn_from_git, tell_git

    how = GitBackfill(accept=accept, dry=dry_run)
    if commits:
        how = GitBackfill(accept=accept, dry=dry_run, most_commits=commits)
    with call.open() as memory:
        report, seconds = learn_from_git(memory, how)
    if call.as_json:
        answer_json(git_facts(report, seconds, dry_run))
    else:
        tell_git(report, dry_run)
    return INTERRUPTED if report.stopped else 0


def _take_back(call: Call) -> int:
    with call.open() as memory:
        retired = memory.take_back_git()
    if call.as_json:
        answer_json({"retired": retired})
    else:
        say(
            f"retired {counted(retired, 'lesson')} from commits"
            + ("; holdfast undo brings them back" if retired else "")
        )
    return 0


class _Run:
    """One host's transcripts after another's."""

    def __init__(self, hosts: Sequence[Host], places: Places, since: datetime | None, accept: bool) -> None:
        self.hosts = hosts
        self.places = places
        self.since = since
        self.accept = accept
        """The user vouches for what a repository may have brought along."""
        self.tallies: dict[str, Tally] = {}
        """By host, for those of which there was something."""
        self.unread: list[tuple[str, str]] = []
        """(path, reason) of what the user named and no host's reader can read."""
        self.passed_over = 0
        """Files below the named folders that are no transcripts as far as can be told."""

    def at(self, paths: Sequence[str], home: str) -> bool:
        """Read what is at the paths; False when the user interrupted."""
        from holdfast.backfill.transcriptfiles import at_paths, on_this_machine

        named = at_paths(paths, self.hosts)
        self.unread, self.passed_over = named.unread, named.passed_over
        for path, host in named.guessed:
            note(f"read as {host}'s, for no other reader finds anything in it: {path}")
        kept_for_user = {os.path.realpath(path) for path in _paths(on_this_machine(self.hosts, home))}
        others = [path for path in _paths(named.files) if os.path.realpath(path) not in kept_for_user]
        return self._read(named.files, {path: root for path, (_, root) in self._repository_texts(others).items()})

    def everywhere(self, home: str, folder: str) -> bool:
        """Read what the hosts keep under the user's home, then inside the projects that are known by then.

        What a repository may have brought along is left out, and counted.
        """
        from holdfast.backfill.transcriptfiles import in_projects, on_this_machine

        if not self._read(on_this_machine(self.hosts, home)):
            return False
        files = in_projects(self.hosts, [self.places.project or folder, *self._roots()])
        texts = self._repository_texts(list(_paths(files)))
        for host, paths in files:
            for path in filter(texts.__contains__, paths):
                self._tally(host).skipped[f"transcripts: {texts[path][0]}, {ANYBODYS}"] += 1
        return self._read([(host, [path for path in paths if path not in texts]) for host, paths in files])

    def _repository_texts(self, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """By path, for what a repository may have brought along: why, and the root of its work tree."""
        from holdfast.bootstrap import repository_texts

        return {} if self.accept or not paths else repository_texts(paths)

    def _tally(self, host: Host) -> Tally:
        from holdfast.backfill.loading import Tally

        return self.tallies.setdefault(host.name, Tally())

    def total(self) -> Tally:
        """All hosts together."""
        from holdfast.backfill.loading import Tally

        sum_of_all = Tally()
        for tally in self.tallies.values():
            sum_of_all.add(tally)
        return sum_of_all

    def _read(self, files: list[tuple[Host, list[str]]], repositories: Mapping[str, str] | None = None) -> bool:
        """Read the files; `repositories` gives the work tree's root of those that are a repository's text."""
        from holdfast.backfill.loading import Backfilling

        with _progress([path for _, paths in files for path in paths]) as advance:
            try:
                for host, paths in files:
                    run = Backfilling(host, self.places, self.since)
                    if paths:
                        run.tally = self._tally(host)
                    for path in paths:
                        run.read(path, advance, (repositories or {}).get(path))
            except KeyboardInterrupt:
                return False
        return True

    def _roots(self) -> list[str]:
        """The projects of this run and of earlier ones, kept for the next: some hosts keep transcripts in projects."""
        roots = sorted({work_tree(folder) for folder in self.places.folders})
        memory: Memory | None = self.places.memory
        if memory is None:
            return roots
        known = dict.fromkeys([*roots, *memory.parts.store.get_state(BACKFILLED_ROOTS).split("\n")])
        roots = [root for root in known if root and os.path.isdir(root)][:ROOTS_LIMIT]
        memory.parts.store.set_state(BACKFILLED_ROOTS, "", "\n".join(roots))
        return roots


def _paths(files: list[tuple[Host, list[str]]]) -> Iterator[str]:
    return (path for _, paths in files for path in paths)


def _hosts(name: str | None) -> list[Host]:
    """The host of that name, or every one that keeps transcripts that can be read.

    Raises PluginNotFoundError, or InvalidValueError for a host that keeps none.
    """
    from holdfast import plugins
    from holdfast.bootstrap import load_host
    from holdfast.settings import load_settings

    settings = load_settings()
    if name:
        host = load_host(name, settings)
        if not host.profile.transcripts:
            raise InvalidValueError(f"{host.name} keeps no transcripts that can be read", hint="holdfast setup --list")
        return [host]
    every = [load_host(each.replace("_", "-"), settings) for each in plugins.names("hosts")]
    return [host for host in every if host.profile.transcripts]


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
        tenth = min(10, 10 * self._done // max(1, self._total))
        if tenth > self._told:
            self._told = tenth
            note(f"{10 * tenth} % of {size(self._total)}")


def _tell(run: _Run, dry_run: bool) -> None:
    if len(run.tallies) > 1:
        _tell_hosts(run.tallies)
    tally = run.total()
    verb = "would keep" if dry_run else "kept"
    read = f"{counted(tally.files, 'transcript')}, {counted(tally.sessions, 'session')}, {size(tally.bytes)}"
    say(f"{read}: {verb} {tally.events} events")
    if tally.unchanged:
        say(f"{tally.unchanged} transcripts have not changed since the last time")
    if any(tally.lessons.values()):
        say(f"learnt: {tally.lessons['active']} active, {tally.lessons['waiting']} waiting for `holdfast review`")
    for why, count in sorted(tally.skipped.items()):
        what, _, reason = why.partition(": ")
        note(f"left out: {count} {what}, {reason}")
    if tally.from_repository:
        what = counted(tally.from_repository, "transcript")
        note(f"{what} may be anybody's: what they say waits for `holdfast review` (--accept: it is yours)")
    for path, reason in run.unread:
        note(f"not read: {path}: {reason}")
    if run.passed_over:
        note(f"passed over: {counted(run.passed_over, 'file')} not known as transcripts; name one to have it tried")
    for why in tally.failed:
        note(f"a detector failed: {why}")


def _tell_hosts(tallies: dict[str, Tally]) -> None:
    """A line for each host: what was found of it."""
    heads = ("host", "transcripts", "unchanged", "sessions", "events", "lessons")
    lines = [heads, *(_cells(name, tally) for name, tally in tallies.items())]
    widths = [max(len(line[n]) for line in lines) for n in range(len(heads))]
    for name, *numbers in lines:
        cells = (cell.rjust(width) for cell, width in zip(numbers, widths[1:], strict=True))
        say("  ".join((name.ljust(widths[0]), *cells)))


def _cells(name: str, tally: Tally) -> tuple[str, ...]:
    lessons = sum(tally.lessons.values())
    return (name, *(f"{number:,}" for number in (tally.files, tally.unchanged, tally.sessions, tally.events, lessons)))
