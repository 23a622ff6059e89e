"""Synchronises shared lessons with their files, one process at a time, and then settles lessons staged on branches."""

from __future__ import annotations

from holdfast.bootstrap import Memory
from holdfast.errors import HoldfastError
from holdfast.home.runfiles import RunLock, note
from holdfast.publishing.sync import Syncing, SyncReport

LOCK_WAIT_S = 10.0
"""Seconds to wait for another process that syncs lessons."""
FOLDER = ".holdfast/lessons/"


def sync_lessons(memory: Memory, how: Syncing, wait_s: float = LOCK_WAIT_S) -> SyncReport:
    """Synchronise the memory's work tree under a lock, and settle staged lessons. Raises HoldfastError."""
    with RunLock(memory.settings.run_path, "sharing", wait_s) as is_ours:
        if not is_ours:
            raise HoldfastError("another holdfast process is syncing lessons", hint="try again in a moment")
        report = memory.sync(how)
        if not how.dry:
            memory.settle_branches()
        return report


def take_in_for_git(memory: Memory) -> None:
    """Import lesson files for a git hook: write no file, and log the mistakes in files."""
    for problem in sync_lessons(memory, Syncing(take_only=True)).problems:
        place = f"{FOLDER}{problem.path}:{problem.line}"
        note(memory.settings.log_path, "sync", HoldfastError(f"{place}: {problem.reason}"))
