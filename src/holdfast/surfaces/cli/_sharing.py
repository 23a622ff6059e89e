"""Shared code of `share`, `sync` and the git hooks: running a sync and printing what it did."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.backfill.transcriptfiles import work_tree
from holdfast.home.runfiles import note as log
from holdfast.installing.githooks import is_busy
from holdfast.installing.lessonsync import FOLDER, sync_lessons, take_in_for_git
from holdfast.lean.texts import short_id
from holdfast.publishing.sync import Syncing, SyncReport
from holdfast.settings import load_settings
from holdfast.surfaces.cli._conflicts import note_conflicts
from holdfast.surfaces.cli.call import Call, answer_json, counted, note, say


def run_sync(
    call: Call, *, share: Sequence[str] = (), everything: bool = False, accept: bool = False, dry: bool = False
) -> SyncReport:
    """Synchronise the lesson files of the call's work tree with memory. Raises HoldfastError."""
    with call.open() as memory:
        lessons = memory.shareable() if everything else [memory.get(ref) for ref in share]
        return sync_lessons(memory, Syncing(share=tuple(lessons), accept=accept, dry=dry))


def run_quietly(call: Call) -> int:
    """Import lesson files for a git hook: print nothing, never fail, log errors, and do nothing during a rebase."""
    try:
        if not is_busy(work_tree(call.folder or ".")):
            with call.open() as memory:
                take_in_for_git(memory)
    except Exception as exc:
        log(load_settings().log_path, "sync", exc)
    return 0


def answer(call: Call, report: SyncReport, dry_run: bool) -> int:
    """Print what a sync did or would do; return the exit code."""
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
        note(f"error: {FOLDER}{problem.path}:{problem.line}:{problem.column}: {problem.reason}; skipped")
    words = f"{counted(report.shared, 'shared lesson')}"
    if report.absent:
        words += f", {report.absent} of them without a file here; holdfast share ID writes it"
    note(words)
    if report.waiting:
        note(f"{counted(report.waiting, 'change')} in files wait for you: holdfast sync --accept")
    if report.count("added") and not dry_run:
        note("new lessons wait for you: holdfast review, or holdfast sync --accept")
    note_conflicts(report.conflicts)
    if dry_run:
        note("nothing was changed")
