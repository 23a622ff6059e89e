"""Sync with a git repository of lessons: how several machines share a memory without a server.

The repository's files are one more folder for `publishing.sync`, in a channel of its own: fetch, join, push; if
somebody else pushed first, all over again. No hook runs this: it waits for the network.
"""

from __future__ import annotations

import re

from holdfast.bootstrap import SYNC_LOCK, SYNC_WAIT_S, Memory
from holdfast.errors import AlreadyRunningError, RepositoryError
from holdfast.home.repositories import KnownRepository, copy_folder
from holdfast.home.runfiles import RunLock
from holdfast.lean.gitsafety import shown
from holdfast.publishing.lessonfile import merge_files
from holdfast.publishing.sync import Audience, Syncing, SyncOutcome, SyncReport, sync
from holdfast.workspace.lessonrepository import LessonRepository

PUSH_TRIES = 6
"""How often a sync begins again because somebody else pushed first."""


def sync_repository(
    memory: Memory, repository: KnownRepository, *, accept: bool = False, dry: bool = False
) -> SyncReport:
    """Sync the project's lessons with the repository and return what happened; what is not pushed yet stays here.

    A repository of the user alone takes their own lessons for all projects, too, and what comes from it takes effect.
    Private lessons stay on this machine. Raises RepositoryError, after which it can be repeated.
    """
    with RunLock(memory.settings.run_path, SYNC_LOCK, SYNC_WAIT_S) as is_ours:
        if not is_ours:
            raise AlreadyRunningError("another holdfast process is syncing lessons", hint="try again in a moment")
        return _sync_locked(memory, repository, accept or repository.is_own, dry)


def _sync_locked(memory: Memory, repository: KnownRepository, accept: bool, dry: bool) -> SyncReport:
    parts: list[tuple[str, Audience]] = [(folder_of(memory), "team")]
    parts += [("own", "own")] if repository.is_own else []
    steps: dict[SyncOutcome, None] = {}
    with LessonRepository(repository.url, copy_folder(memory.settings.home, repository.url), merge_files) as lessons:
        for _ in range(PUSH_TRIES):
            lessons.fetch()
            reports = []
            for folder, audience in parts:
                channel = f"git {shown(repository.url)}"
                how = Syncing(channel=channel, audience=audience, share_new=True, accept=accept, dry=dry)
                reports.append(sync(memory.services, memory.location, lessons.files(folder), how))
                steps.update(dict.fromkeys(reports[-1].steps))
            if dry or lessons.push(f"Sync lessons of {memory.location.project.name}"):
                return SyncReport(
                    steps=tuple(steps),
                    problems=tuple(problem for report in reports for problem in report.problems),
                    shared=sum(report.shared for report in reports),
                    absent=sum(report.absent for report in reports),
                    waiting=sum(report.waiting for report in reports),
                    conflicts=sum(report.conflicts for report in reports),
                )
    raise RepositoryError(f"others push to {shown(repository.url)} all the time", hint="run the command again")


def folder_of(memory: Memory) -> str:
    """Return the project's folder in a repository of lessons, the same on every machine that knows the project."""
    return "projects/" + re.sub(r"[^A-Za-z0-9._-]", "_", memory.location.project.id)
