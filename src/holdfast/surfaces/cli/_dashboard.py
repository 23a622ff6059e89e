"""`holdfast` alone: what this folder's memory holds, and what needs a person, on one screen."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from holdfast.domain.errors import ProjectUnknownError
from holdfast.domain.ids import short_id
from holdfast.surfaces.cli.call import Call, counted, note, say
from holdfast.surfaces.cli.rows import coloured, pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.bootstrap import Memory
    from holdfast.domain.lesson import Lesson

SHOWN = 3
"""Lessons shown of each sort."""
CHECKED = 200
"""Newest lessons that are checked against the code."""
EVERYTHING = 1_000_000


def print_dashboard(call: Call) -> bool:
    """Print it; false, and nothing printed, where there is no memory yet or the folder has no project."""
    from holdfast.settings import load_settings

    path = load_settings().database_path
    if path and not os.path.exists(path):
        return False
    try:
        with call.open() as memory:
            lines = pairs(_rows(memory))
    except ProjectUnknownError:
        return False
    for line in lines:
        say(line)
    note("holdfast --help lists the commands")
    return True


def _rows(memory: Memory) -> Iterator[tuple[str, str]]:
    place, active, waiting = memory.place, memory.lessons(limit=EVERYTHING), memory.inbox()
    branch = f" on {place.branch}" if place.branch else ""
    yield "project", f"{place.project.name}{branch}: {counted(len(active), 'active lesson')}, {len(waiting)} to decide"
    checkpoint = memory.checkpoint()
    if checkpoint is not None:
        yield "task", f"{checkpoint.goal} (saved {checkpoint.at:%Y-%m-%d %H:%M} UTC)"
    yield from _listed("newest", active)
    yield from _listed("to decide", waiting)
    if len(waiting) > SHOWN:
        yield "", f"and {len(waiting) - SHOWN} more: holdfast review"
    yield from _stale(memory, active[:CHECKED])
    yield from _told(memory)
    if not active and not waiting:
        yield "next", "holdfast backfill learns from the sessions that are on this machine already"


def _listed(label: str, lessons: list[Lesson]) -> Iterator[tuple[str, str]]:
    for number, lesson in enumerate(lessons[:SHOWN]):
        yield "" if number else label, f"{short_id(lesson.id)}  {lesson.title}"


def _stale(memory: Memory, lessons: list[Lesson]) -> Iterator[tuple[str, str]]:
    """Lessons whose code changed since."""
    judged = zip(lessons, memory.verdicts(lessons), strict=True)
    stale = [(lesson, state) for lesson, (state, _) in judged if state in ("changed", "drifted", "orphaned")]
    for number, (lesson, state) in enumerate(stale[:SHOWN]):
        yield "" if number else "stale", f"{short_id(lesson.id)}  {coloured(state)}: {lesson.title}"
    if len(stale) > SHOWN:
        yield "", f"and {len(stale) - SHOWN} more: holdfast verify"


def _told(memory: Memory) -> Iterator[tuple[str, str]]:
    """The last delivery, or what to do where nothing was heard yet."""
    last = memory.log(limit=1)
    if last:
        yield "last told", f"{last[0].at:%Y-%m-%d %H:%M} UTC, {last[0].moment.replace('_', ' ')}: holdfast log"
    elif not memory.heartbeat():
        yield "hooks", "none was heard yet: holdfast setup registers them, holdfast doctor tries them"
