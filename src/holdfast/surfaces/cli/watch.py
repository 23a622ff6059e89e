"""`holdfast watch`: print a line for each lesson whose state changes, until Ctrl-C."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from binascii import crc32
from collections.abc import Iterator
from contextlib import suppress

import click

from holdfast.bootstrap import Memory
from holdfast.errors import AlreadyRunningError, LessonNotFoundError, StoreLockedError
from holdfast.freshness.watch import StateChange
from holdfast.home.runfiles import RunLock
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import short_id
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.call import Call, counted, examples, folder_option, json_option, note, pass_call, say
from holdfast.surfaces.cli.rows import GAP, coloured, place_of


@click.command(epilog=examples("holdfast watch", "holdfast watch --json | jq -r '.lesson.title'"))
@json_option
@folder_option
@pass_call
def command(call: Call) -> None:
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
