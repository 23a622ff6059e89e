"""What a team shares: lesson files of the repository, lessons of a branch, and git's merge of two revisions."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from holdfast.backfill.transcriptfiles import work_tree
from holdfast.bootstrap import SYNC_LOCK, SYNC_WAIT_S, Memory
from holdfast.domain.lesson import Lesson
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.home.remotes import load_remotes
from holdfast.home.repositories import KnownRepository, known_repository, load_repositories, remember_repository
from holdfast.home.runfiles import RunLock
from holdfast.home.runfiles import note as log
from holdfast.installing.githooks import is_busy
from holdfast.lean.gitsafety import git_program, is_address, safe_environment, shown
from holdfast.lean.texts import counted, short_id
from holdfast.publishing.lessonfile import FILE_LIMIT, merge_files
from holdfast.publishing.sync import Syncing, SyncReport
from holdfast.rendering.views import lesson_json
from holdfast.settings import load_settings
from holdfast.surfaces.cli.frame import Call, command, group, lesson_ids
from holdfast.surfaces.cli.remote import exchange_json, sync_with_server, tell_exchange
from holdfast.surfaces.cli.screen import note, note_conflicts, say, table
from holdfast.upkeep.repositorysync import sync_repository

if TYPE_CHECKING:
    from holdfast.publishing.remote.exchange import ExchangeReport

FOLDER = ".holdfast/lessons/"

some_lessons = click.argument("refs", metavar="[ID]...", nargs=-1, shell_complete=lesson_ids)


@command("holdfast share 1f0c9a2b", "holdfast share --all --dry-run", "holdfast share --all")
@some_lessons
@click.option("--all", "everything", is_flag=True, help="Share every active lesson of the project that is not private.")
@click.option("--server", "to_server", is_flag=True, help="Send them to the linked server and write no files.")
@click.option("--dry-run", is_flag=True, help="Print what would be written; write nothing.")
def share(call: Call, refs: tuple[str, ...], everything: bool, to_server: bool, dry_run: bool) -> int:
    """Write lessons into .holdfast/lessons, one file each, for you to commit. ID is the end of a lesson's id.

    Private lessons, your own lessons for all projects, and lessons that wait are never written. From then on,
    `holdfast sync` synchronises the files with memory.
    """
    if everything == bool(refs):
        raise click.UsageError("give the ids of lessons, or --all")
    with call.open() as memory:
        lessons = memory.shareable() if everything else [memory.get(ref) for ref in refs]
        if to_server:
            return _sync_server(call, memory, SyncReport(), accept=False, dry_run=dry_run, share=lessons)
        report = sync_lessons(memory, Syncing(share=tuple(lessons), dry=dry_run))
    return _answer_sync(call, report, dry_run)


@command(
    "holdfast sync", "holdfast sync --dry-run", "holdfast sync --accept",
    "holdfast sync --remote git@github.com:ada/memory.git --own", "holdfast sync --remote memory",
)  # fmt: skip
@click.option("--accept", is_flag=True, help="Vouch for the files: new lessons become active and changes take effect.")
@click.option("--dry-run", is_flag=True, help="Print what would change; change nothing.")
@click.option("--remote", metavar="URL|NAME", default="", help="A git repository of lessons, or the linked server.")
@click.option(
    "--own/--shared", "is_own", default=None,
    help="Whether only you can read that repository: your own lessons travel with it, and what comes takes effect.",
)  # fmt: skip
@click.option("--git-hook", "from_git", is_flag=True, hidden=True, help="Used by git hooks: print nothing, never fail.")
def sync(call: Call, accept: bool, dry_run: bool, remote: str, is_own: bool | None, from_git: bool) -> int:
    """Import changes from .holdfast/lessons into memory, and write changes from memory there.

    A project that is linked to a server (`holdfast remote add`) is synced with it, too; without a network that waits.
    With --remote, sync with a git repository of lessons instead: it takes the project's lessons without `share`, and
    needs no server. Private lessons stay on this machine.

    Changes on both sides are merged field by field. A forgotten lesson does not come back. A new lesson from a file
    waits in the inbox (`holdfast review`). A change to an active lesson waits for --accept. A file that cannot be read
    is reported with its line and skipped; the exit code is then 1.
    """
    if from_git:
        return _sync_for_git(call)
    if is_own is not None and not remote:
        raise click.UsageError("--own and --shared say what a repository is: give --remote")
    with call.open() as memory:
        repository = _repository_named(memory, remote, is_own) if remote else None
        if repository is not None:
            report = sync_repository(memory, repository, accept=accept, dry=dry_run)
            if not dry_run:
                repository = remember_repository(memory.settings.home, repository.url, repository.is_own)
            return _answer_sync(call, report, dry_run, repository=repository)
        report = SyncReport() if remote else sync_lessons(memory, Syncing(accept=accept, dry=dry_run))
        return _sync_server(call, memory, report, accept=accept, dry_run=dry_run)


def _repository_named(memory: Memory, named: str, is_own: bool | None) -> KnownRepository | None:
    """Return the git repository of that address or name; None for the name of the server that is linked.

    A path is made absolute.
    """
    home = memory.settings.home
    remotes = load_remotes(home)
    url = os.path.abspath(named) if os.path.isdir(named) else named
    if known := known_repository(home, named) or known_repository(home, url):
        return replace(known, is_own=known.is_own if is_own is None else is_own)
    if named in {name for remote in remotes.remotes for name in (remote.name, remote.url)}:
        linked = remotes.remote_of(memory.location.project.id)
        if linked is None or named not in (linked.name, linked.url):
            raise InvalidValueError(f"this project is not linked to {named}", hint=f"holdfast remote add {named}")
        if is_own is not None:
            raise click.UsageError("--own and --shared are for git repositories")
        return None
    if not is_address(url):
        names = [repository.name for repository in load_repositories(home)] + remotes.names()
        hint = f"known here: {', '.join(names)}" if names else "give the address of a git repository"
        raise InvalidValueError(f"no repository or server {named!r} is known here", hint=hint)
    return KnownRepository(name=shown(url), url=url, is_own=bool(is_own))


def _sync_server(
    call: Call, memory: Memory, report: SyncReport, *, accept: bool, dry_run: bool, share: Sequence[Lesson] = ()
) -> int:
    """Sync with the server that the project is linked to, if it is; print what that and the files' sync did.

    What the files' sync did is printed even if the server cannot be reached; then the error is raised.
    """
    exchanged, trouble = None, None
    try:
        exchanged = sync_with_server(memory, accept=accept, dry=dry_run, share=share)
    except HoldfastError as exc:
        trouble = exc
    code = _answer_sync(call, report, dry_run, exchanged)
    if trouble is not None:
        raise trouble
    return code


def sync_lessons(memory: Memory, how: Syncing) -> SyncReport:
    """Synchronise the memory's work tree under a lock, and settle staged lessons. Raises HoldfastError."""
    with RunLock(memory.settings.run_path, SYNC_LOCK, SYNC_WAIT_S) as is_ours:
        if not is_ours:
            raise HoldfastError("another holdfast process is syncing lessons", hint="try again in a moment")
        report = memory.sync(how)
        if not how.dry:
            memory.settle_branches()
        return report


def _sync_for_git(call: Call) -> int:
    """Import lesson files for a git hook: write no file, print nothing, log errors, do nothing during a rebase."""
    path = load_settings().log_path
    try:
        if not is_busy(work_tree(call.folder or ".")):
            with call.open() as memory:
                report = sync_lessons(memory, Syncing(take_only=True))
            for problem in report.problems:
                log(path, "sync", HoldfastError(f"{FOLDER}{problem.path}:{problem.line}: {problem.reason}"))
    except Exception as exc:
        log(path, "sync", exc)
    return 0


def _answer_sync(
    call: Call,
    report: SyncReport,
    dry_run: bool,
    exchanged: ExchangeReport | None = None,
    repository: KnownRepository | None = None,
) -> int:
    """Print what a sync did or would do; return the exit code."""
    folder = "" if repository else FOLDER
    plain = {
        "steps": [
            {
                "verb": step.verb, "file": folder + step.path if step.path else "", "id": step.lesson,
                "title": step.title, "reason": step.reason,
            }
            for step in report.steps
        ],
        "problems": [
            {"file": folder + p.path, "line": p.line, "column": p.column, "reason": p.reason} for p in report.problems
        ],
        "shared": report.shared, "absent": report.absent, "waiting": report.waiting, "conflicts": report.conflicts,
        "dry_run": dry_run, "server": exchange_json(exchanged), "repository": repository.name if repository else "",
    }  # fmt: skip
    if not call.answer(plain):
        if report.shared or exchanged is None:
            _tell_sync(report, dry_run, folder)
            if repository is not None and not dry_run:
                _tell_repository(repository)
        if exchanged is not None:
            tell_exchange(exchanged, dry_run)
    failed = report.problems or (exchanged and (exchanged.problems or exchanged.refused))
    return 1 if failed or any(step.verb == "refused" for step in report.steps) else 0


def _tell_repository(repository: KnownRepository) -> None:
    whose = "only you can read it" if repository.is_own else "others can read it; --own says that only you can"
    note(f"synced with {shown(repository.url)}: {whose}; next time: holdfast sync --remote {repository.name}")


def _tell_sync(report: SyncReport, dry_run: bool, folder: str) -> None:
    for step in report.steps:
        where = folder + step.path if step.verb in ("written", "forgotten") else short_id(step.lesson)
        say(f"{step.verb:9} {where}  {step.title}" + (f" ({step.reason})" if step.reason else ""))
    for problem in report.problems:
        note(f"error: {folder}{problem.path}:{problem.line}:{problem.column}: {problem.reason}; skipped")
    words = f"{counted(report.shared, 'shared lesson')}"
    if report.absent and folder:
        words += f", {report.absent} of them without a file here; holdfast share ID writes it"
    note(words)
    if report.waiting:
        note(f"{counted(report.waiting, 'change')} in files wait for you: holdfast sync --accept")
    if any(step.verb == "added" and step.reason for step in report.steps) and not dry_run:
        note("new lessons wait for you: holdfast review, or holdfast sync --accept")
    note_conflicts(report.conflicts)
    if dry_run:
        note("nothing was changed")


@group(
    "holdfast staged", "holdfast staged rescue 1f0c9a2b", "holdfast staged rescue --branch feature/queue",
    json=True, folder=True, invoke_without_command=True,
)  # fmt: skip
def staged(call: Call) -> None:
    """List the lessons that are staged on a branch: learnt there, about code that the main line does not have.

    A staged lesson is shown on its branch and on branches that start from it. Once the branch is merged, squashed or
    rebased, it is shown everywhere. If the branch is deleted before that, the lesson is no longer shown, but it stays
    in this list.
    """
    with call.open() as memory:
        memory.settle_branches()
        rows = memory.staged()
    plain = [
        {
            "branch": row.lesson.scope.branch,
            "seen_here": row.is_seen,
            "fate": row.fate,
            "lesson": lesson_json(row.lesson),
        }
        for row in rows
    ]
    if call.answer({"staged": plain}):
        return
    cells = [
        [row.lesson.id[-8:], row.lesson.scope.branch + (" (gone)" if row.fate == "gone" else ""),
         "here" if row.is_seen else "-", row.lesson.kind, row.lesson.title]
        for row in rows
    ]  # fmt: skip
    say(*table(cells, ("id", "branch", "seen", "kind", "title")))
    note(counted(len(rows), "staged lesson"))
    gone = sum(row.fate == "gone" for row in rows)
    if gone:
        note(f"{counted(gone, 'lesson')} of deleted branches: holdfast staged rescue ID")


@command("holdfast staged rescue 1f0c9a2b", "holdfast staged rescue --branch wip", of=staged)
@some_lessons
@click.option("--branch", default="", help="Rescue every lesson that is staged on this branch.")
def rescue(call: Call, refs: tuple[str, ...], branch: str) -> int:
    """Show staged lessons on every branch. ID is the end of a lesson's id."""
    if bool(refs) == bool(branch):
        raise click.UsageError("give the ids of lessons, or --branch")
    with call.open() as memory:
        rescued = memory.rescue(refs, branch=branch)
    if not call.answer({"rescued": [lesson_json(lesson) for lesson in rescued]}):
        say(*(f"rescued {lesson.id[-8:]}  {lesson.title}" for lesson in rescued))
        note(f"{counted(len(rescued), 'lesson')} now shown on every branch")
    return 0 if rescued else 1


@command("holdfast merge-driver %O %A %B", json=False, folder=False)
@click.argument("base", type=click.Path(exists=True, dir_okay=False))
@click.argument("ours", type=click.Path(exists=True, dir_okay=False, writable=True))
@click.argument("theirs", type=click.Path(exists=True, dir_okay=False))
def merge_driver(call: Call, base: str, ours: str, theirs: str) -> int:
    """Merge THEIRS into OURS, field by field; BASE is their common ancestor.

    If both sides changed the rule, both rules are kept: the next sync makes two lessons of them, which contradict each
    other. Files that are not lessons are merged as text; if that leaves conflict markers, the exit code is 1.
    """
    contents = []
    for file in (base, ours, theirs):
        with open(file, "rb") as stream:  # of a file too large for a lesson, just so much that it is refused
            contents.append(stream.read(FILE_LIMIT + 1))
    merged = merge_files("", *contents)
    if merged is not None:
        with open(ours, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(merged)
        return 0
    note("not two revisions of one lesson; merged as text")
    program = git_program(os.environ.get("PATH", ""), os.path.isfile, os.name == "nt")
    done = subprocess.run(
        [program, "merge-file", "-L", "ours", "-L", "base", "-L", "theirs", ours, base, theirs],
        env=safe_environment(os.environ), check=False,
    )  # fmt: skip
    return min(done.returncode, 1) if done.returncode >= 0 else 1
