"""`holdfast` alone: what this folder's memory holds, and what needs a person, on one screen."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, ProjectUnknownError
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli.call import EVERYTHING, Call, counted, note, say, short_path
from holdfast.surfaces.cli.rows import coloured, pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.bootstrap import Memory
    from holdfast.domain.lesson import Lesson
    from holdfast.settings import Settings

SHOWN = 3
"""Lessons shown of each sort."""
CHECKED = 200
"""Newest lessons that are checked against the code."""
NAMED_HOSTS = 4
"""Hosts that the first screen names."""


def print_dashboard(call: Call) -> bool:
    """Print it; before there is a memory, print what to do first. False, and nothing printed, without a project."""
    from holdfast.settings import load_settings

    settings = load_settings()
    path = settings.database_path
    if path and not os.path.exists(path):
        lines = pairs(_first_rows(settings))
    else:
        try:
            with call.open() as memory:
                lines = pairs(_rows(memory))
        except ProjectUnknownError:
            return False
    for line in lines:
        say(line)
    note("holdfast --help lists the commands")
    return True


def _first_rows(settings: Settings) -> Iterator[tuple[str, str]]:
    """What is on this machine and the three commands that start, where nothing is remembered yet."""
    from holdfast.bootstrap import all_hosts
    from holdfast.installing.hostfiles import HostFiles, set_up

    hosts = all_hosts(settings)
    wired = set_up(HostFiles(settings.home).manifest)
    titles = [host.profile.title for host in hosts if host.name not in wired and host.find(settings.user_home)]
    ready = [host.profile.title for host in hosts if host.name in wired]
    transcripts = sum(len(host.find_transcripts(settings.user_home)) for host in hosts if host.profile.transcripts)
    yield "holdfast", "keeps what coding agents learn about your code for later sessions"
    yield "memory", f"nothing yet; it will be kept in {short_path(settings.home)}"
    if ready:
        yield "set up", _some(ready)
    if titles:
        yield "found", f"{_some(titles)}, not set up yet"
    if not (ready or titles):
        yield "found", "no coding agent; `holdfast setup --list` shows those that can be set up"
    yield "sessions", f"{counted(transcripts, 'transcript')} of earlier sessions on this machine"
    if not ready:
        yield "first", "holdfast setup     registers hooks and the MCP server; asks first"
    yield "then" if not ready else "next", "holdfast backfill  learns from the earlier sessions"
    yield "", "holdfast doctor    proves that memory works"


def _some(titles: list[str]) -> str:
    more = len(titles) - NAMED_HOSTS
    return ", ".join(titles[:NAMED_HOSTS]) + (f" and {more} more" if more > 0 else "")


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
    elif waiting:
        yield "", "holdfast review"
    yield from _stale(memory, active[:CHECKED])
    yield from _told(memory)
    yield from _alarms(memory)
    if not active and not waiting:
        yield "next", "`holdfast backfill` learns from the sessions that are on this machine already"


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


def _alarms(memory: Memory) -> Iterator[tuple[str, str]]:
    """Hosts that are set up and of which nothing was heard for days, or of which no command ever failed."""
    from holdfast.capture.heartbeat import activity
    from holdfast.surfaces.cli.hostcheck import alarms

    try:
        host_alarms = list(alarms(memory.settings, activity(memory.parts.store), datetime.now(UTC)))
    except HoldfastError:
        return  # setup's own record cannot be read, which doctor says
    for host, alarm in host_alarms:
        yield "alarm", f"{host}: {alarm} (holdfast doctor)"
