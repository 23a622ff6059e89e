"""`holdfast verify`: check lessons against the current code."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from binascii import crc32
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.curation.revival import Woken
from holdfast.errors import AlreadyRunningError, LessonNotFoundError, StoreLockedError
from holdfast.freshness.verify import Checked, VerifyReport, reindex
from holdfast.freshness.watch import StateChange
from holdfast.home.runfiles import RunLock
from holdfast.lean.plain import as_dict, render_instant, to_plain
from holdfast.lean.texts import counted, short_id
from holdfast.rendering.verdicts import verdict_words
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.frame import Call, command
from holdfast.surfaces.cli.screen import GAP, bar, coloured, note, place_of, say, table

EXIT_STALE = 1
"""Exit code of --check when a lesson is not true of the code any more."""
WIDTH = 60
"""Characters of a title: what became of the code matters more here."""


@command("holdfast verify", "holdfast verify --all --json", "holdfast verify --check", memory=True)
@click.option(
    "--all", "everything", is_flag=True, help="Also check lessons that wait for review; list fresh lessons too."
)
@click.option("--check", is_flag=True, help="Exit with 1 if a lesson's code drifted, changed or is gone, for CI.")
def verify(call: Call, memory: Memory, everything: bool, check: bool) -> int:
    """Check every lesson against the current code, and follow code that has moved.

    Verify lists the lessons that are not fresh, worst first: id, state, title, and what happened to the code. If code
    has moved, its lesson is anchored to the new location; `holdfast undo` takes that back. A retired lesson whose
    revival condition is met waits for a person.
    """
    with bar("reading code") as progress:
        report = memory.verify(waiting=everything, progress=progress.show)
    woken = memory.wake_retired()
    shown = [checked for checked in report.checked if everything or checked.freshness not in ("fresh", "unanchored")]
    if not call.answer(_json(report, woken)):
        say(*table([_cells(checked) for checked in shown], ("id", "state", "title", "what became of the code")))
        counts = ", ".join(f"{number} {state}" for state, number in report.counts.items() if number)
        note(counted(len(report.checked), "lesson") + " about code" + (f": {counts}" if counts else ""))
        if not report.indexed:
            note("note: the code index is not complete; code that moved to another file may have been missed")
        for entry in woken:
            note(f"{short_id(entry.lesson.id)} waits for a person again: {entry.reason}")
    return EXIT_STALE if check and report.is_stale else 0


def _cells(checked: Checked) -> list[str]:
    title = checked.lesson.title
    title = title if len(title) <= WIDTH else title[: WIDTH - 1] + "…"
    caveat = checked.caveat + (" (followed)" if checked.followed else "")
    return [short_id(checked.lesson.id), checked.freshness, title, caveat]


def _json(report: VerifyReport, woken: list[Woken]) -> dict[str, Any]:
    return {
        "counts": report.counts, "lessons": [_lesson_json(checked) for checked in report.checked],
        "change": to_plain(report.change) if report.change else None, "indexed": report.indexed,
        "woken": [{"id": entry.lesson.id, "title": entry.lesson.title, "reason": entry.reason} for entry in woken],
    }  # fmt: skip


def _lesson_json(checked: Checked) -> dict[str, Any]:
    lesson = checked.lesson
    anchors = [
        {
            "path": anchor.path, "symbol": anchor.symbol, "freshness": verdict.freshness,
            "words": verdict_words(verdict), "path_now": verdict.anchor.path, "symbol_now": verdict.anchor.symbol,
        }
        for anchor, verdict in checked.anchor_verdicts
    ]  # fmt: skip
    return {
        "id": lesson.id, "short_id": short_id(lesson.id), "title": lesson.title, "state": lesson.state,
        "freshness": checked.freshness, "caveat": checked.caveat, "followed": checked.followed, "anchors": anchors,
    }  # fmt: skip


@command("holdfast watch", "holdfast watch --json | jq -r '.lesson.title'")
def watch(call: Call) -> None:
    """Print a line whenever the code of a lesson changes.

    Watch reports when the functions and files of a lesson change, move or vanish, and when they are as before again.
    With --json each line is a JSON object. It runs until Ctrl-C, or until the terminal or program that started it is
    gone. Sessions do not need it: lessons are checked whenever they are read.
    """
    with suppress(KeyboardInterrupt), call.open() as memory:
        for change in _changes(memory):
            say(_json_line(change) if call.as_json else _line(change))


def _changes(memory: Memory) -> Iterator[StateChange]:
    """Yield changes as they happen. Raises AlreadyRunningError if another process watches this work tree."""
    root = memory.location.root
    with RunLock(memory.settings.run_path, f"watch-{crc32(os.fsencode(root)):08x}") as ours:
        if not ours:
            raise AlreadyRunningError(f"{root} is already being watched", hint="stop the other `holdfast watch` first")
        watch, parent = memory.watch(), os.getppid()
        note(f"watching {counted(watch.lessons, 'lesson')} about {counted(watch.files, 'file')} in {root}")
        while os.getppid() == parent and not _is_cut_off():
            time.sleep(watch.pause_s)
            with suppress(StoreLockedError, LessonNotFoundError):  # the next look finds the same
                yield from watch.look()


def _is_cut_off() -> bool:
    """Return whether nobody can read the output: the terminal or the program at the other end of the pipe is gone."""
    if not hasattr(select, "poll"):
        return False
    try:
        line = sys.stdout.fileno()
    except (OSError, ValueError):
        return False
    poll = select.poll()
    poll.register(line, 0)
    return any(events & (select.POLLERR | select.POLLHUP) for _, events in poll.poll(0))


def _line(change: StateChange) -> str:
    lesson, at = change.lesson, change.at.astimezone()
    cells = [at.strftime("%H:%M:%S"), coloured(change.freshness), short_id(lesson.id), lesson.title, place_of(lesson)]
    return GAP.join([*cells, *([change.words] if change.words else [])])


def _json_line(change: StateChange) -> str:
    plain = {
        "at": render_instant(change.at),
        "before": change.before,
        "freshness": change.freshness,
        "caveat": change.words,
        "lesson": lesson_json(change.lesson),
    }
    return json.dumps(plain, ensure_ascii=False)


@command("holdfast index", "holdfast index --skipped")
@click.option("--skipped", is_flag=True, help="List the files that were skipped, and why (at most 100).")
def index(call: Call, skipped: bool) -> None:
    """Update the code index to the current files.

    Only changed files are read. You need not run this command: Holdfast updates the index when it needs it. You can
    stop it with Ctrl-C at any time and run it again to go on.
    """
    began = time.monotonic()
    with call.open() as memory, bar("reading code") as progress:
        report = reindex(memory.services, memory.location, progress.show)
    if call.answer(as_dict(report) | {"seconds": round(time.monotonic() - began, 3)}):
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
