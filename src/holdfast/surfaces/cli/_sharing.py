"""What `share`, `sync` and the git hooks have in common: one sync at a time, and what it did in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli._conflicts import note_conflicts
from holdfast.surfaces.cli.call import Call, answer_json, counted, note, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.publishing.sharing.sync import SyncReport

LOCK_WAIT_S = 10.0
FOLDER = ".holdfast/lessons/"


def run_sync(
    call: Call, *, share: Sequence[str] = (), everything: bool = False, accept: bool = False, dry: bool = False,
    take_only: bool = False, wait_s: float = LOCK_WAIT_S,
) -> SyncReport:  # fmt: skip
    """Sync the call's work tree, alone with its files, and settle what is staged on branches. Raises HoldfastError."""
    from holdfast.home.runfiles import Turn
    from holdfast.publishing.sharing.sync import Syncing
    from holdfast.settings import load_settings

    with call.open() as memory, Turn(load_settings().run_path, "sharing", wait_s) as is_alone:
        if not is_alone:
            raise HoldfastError("another holdfast is syncing lessons", hint="try again in a moment")
        lessons = memory.shareable() if everything else [memory.get(ref) for ref in share]
        report = memory.sync(Syncing(share=tuple(lessons), accept=accept, take_only=take_only, dry=dry))
        if not dry:
            memory.settle_branches()
        return report


def run_quietly(call: Call) -> int:
    """Take files in for a git hook, which has gone on: it writes none, says nothing, and leaves a rebase alone."""
    from holdfast.backfill.transcriptfiles import work_tree
    from holdfast.home.runfiles import note as log
    from holdfast.installing.githooks import is_busy
    from holdfast.settings import load_settings

    try:
        if not is_busy(work_tree(call.folder or ".")):
            report = run_sync(call, take_only=True)
            for problem in report.problems:
                place = f"{FOLDER}{problem.path}:{problem.line}"
                log(load_settings().log_path, "sync", HoldfastError(f"{place}: {problem.reason}"))
    except Exception as exc:
        log(load_settings().log_path, "sync", exc)
    return 0


def answer(call: Call, report: SyncReport, dry_run: bool) -> int:
    """Print what a sync did, or would; the exit code."""
    refused = [step for step in report.steps if step.verb == "refused"]
    if call.as_json:
        answer_json({
            "steps": [
                {
                    "verb": step.verb, "file": FOLDER + step.path if step.path else "", "id": step.lesson,
                    "title": step.title, "reason": step.reason,
                }
                for step in report.steps
            ],
            "problems": [
                {"file": FOLDER + p.path, "line": p.line, "column": p.column, "reason": p.reason}
                for p in report.problems
            ],
            "shared": report.shared, "absent": report.absent, "waiting": report.waiting, "conflicts": report.conflicts,
            "dry_run": dry_run,
        })  # fmt: skip
    else:
        _tell(report, dry_run)
    return 1 if report.problems or refused else 0


def _tell(report: SyncReport, dry_run: bool) -> None:
    for step in report.steps:
        where = FOLDER + step.path if step.verb in ("written", "forgotten") else short_id(step.lesson)
        say(f"{step.verb:9} {where}  {step.title}" + (f" ({step.reason})" if step.reason else ""))
    for problem in report.problems:
        note(f"error: {FOLDER}{problem.path}:{problem.line}:{problem.column}: {problem.reason}; left alone")
    words = f"{counted(report.shared, 'shared lesson')}"
    if report.absent:
        words += f", {report.absent} of them without a file here; `holdfast share ID` writes it"
    note(words)
    if report.waiting:
        note(f"{counted(report.waiting, 'change')} in files wait for you: holdfast sync --accept")
    if report.count("added") and not dry_run:
        note("new lessons wait for you: holdfast review, or holdfast sync --accept")
    note_conflicts(report.conflicts)
    if dry_run:
        note("nothing was changed")
