"""`holdfast` without a command: one screen with what this folder's memory holds and what needs the user's attention."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime

from holdfast.backfill.distilling import learning_trouble
from holdfast.bootstrap import Memory, all_hosts
from holdfast.capture.heartbeat import activity
from holdfast.curation.taskstate import is_work
from holdfast.domain.lesson import Lesson
from holdfast.errors import HoldfastError, ProjectUnknownError
from holdfast.installing.hostfiles import HostFiles, set_up
from holdfast.lean.texts import short_id
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli._tidying import tidying_lines
from holdfast.surfaces.cli.call import EVERYTHING, Call, counted, note, say, short_path
from holdfast.surfaces.cli.hostcheck import LEARN_ON, alarms, barren_words
from holdfast.surfaces.cli.rows import coloured, pairs

SHOWN = 3
"""Lessons shown of each sort."""
CHECKED = 200
"""Newest lessons that are checked against the code."""
NAMED_HOSTS = 4
"""Hosts that the first screen names."""


def print_dashboard(call: Call) -> bool:
    """Print the screen, or the first steps if there is no memory yet.

    Returns False, and prints nothing, if the folder belongs to no project.
    """
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
    """Yield what is on this machine and the first three commands, for a home without a memory."""
    hosts = all_hosts(settings)
    wired = set_up(HostFiles(settings.home).manifest)
    titles = [host.profile.title for host in hosts if host.name not in wired and host.find(settings.user_home)]
    ready = [host.profile.title for host in hosts if host.name in wired]
    transcripts = sum(len(host.find_transcripts(settings.user_home)) for host in hosts if host.profile.transcripts)
    yield "holdfast", "remembers what coding agents learn about your code, for later sessions"
    yield "memory", f"empty; it will be stored in {short_path(settings.home)}"
    if ready:
        yield "set up", _some(ready)
    if titles:
        yield "found", f"{_some(titles)}; not set up yet"
    if not (ready or titles):
        yield "found", "no coding agent; holdfast setup --list shows the supported ones"
    yield "sessions", f"{counted(transcripts, 'transcript')} of earlier sessions on this machine"
    if not ready:
        yield "first", "holdfast setup     registers hooks and the MCP server; it asks first"
    yield "then" if not ready else "next", "holdfast backfill  learns from the earlier sessions"
    yield "", "holdfast doctor    proves that memory works"


def _some(titles: list[str]) -> str:
    more = len(titles) - NAMED_HOSTS
    return ", ".join(titles[:NAMED_HOSTS]) + (f" and {more} more" if more > 0 else "")


def _rows(memory: Memory) -> Iterator[tuple[str, str]]:
    location, active, waiting = memory.location, memory.lessons(limit=EVERYTHING), memory.inbox()
    branch = f" on {location.branch}" if location.branch else ""
    yield (
        "project",
        f"{location.project.name}{branch}: {memory.counts().words}",
    )
    checkpoint = memory.checkpoint()
    if checkpoint is not None and is_work(checkpoint):
        yield "task", f"{checkpoint.goal} (saved {checkpoint.at:%Y-%m-%d %H:%M} UTC)"
    yield from _listed("newest", active)
    yield from _listed("unconfirmed", waiting)
    if len(waiting) > SHOWN:
        yield "", f"and {len(waiting) - SHOWN} more: holdfast review"
    elif waiting:
        yield "", "holdfast review"
    yield from _doubted(memory)
    yield from _stale(memory, active[:CHECKED])
    for number, line in enumerate(tidying_lines(memory.services, memory.location)):
        yield "" if number else "tidying", line
    yield from _last_delivery(memory)
    yield from _alarms(memory)
    if not active and not waiting:
        yield "next", "holdfast backfill learns from the sessions that are already on this machine"


def _listed(label: str, lessons: list[Lesson]) -> Iterator[tuple[str, str]]:
    for number, lesson in enumerate(lessons[:SHOWN]):
        yield "" if number else label, f"{short_id(lesson.id)}  {lesson.title}"


def _doubted(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the lessons that somebody reported as harmful, or that users overruled."""
    doubted = memory.for_review()
    for number, (lesson, reason) in enumerate(doubted[:SHOWN]):
        yield "" if number else "in doubt", f"{short_id(lesson.id)}  {lesson.title}: {reason}"
    if doubted:
        more = f"and {len(doubted) - SHOWN} more: " if len(doubted) > SHOWN else ""
        yield "", f"{more}holdfast review"


def _stale(memory: Memory, lessons: list[Lesson]) -> Iterator[tuple[str, str]]:
    """Yield the lessons whose code has changed since they were recorded."""
    judged = zip(lessons, memory.verdicts(lessons), strict=True)
    stale = [(lesson, state) for lesson, (state, _) in judged if state in ("changed", "drifted", "orphaned")]
    for number, (lesson, state) in enumerate(stale[:SHOWN]):
        yield "" if number else "stale", f"{short_id(lesson.id)}  {coloured(state)}: {lesson.title}"
    if len(stale) > SHOWN:
        yield "", f"and {len(stale) - SHOWN} more: holdfast verify"


def _last_delivery(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the last delivery, or what to do if no hook has been received yet."""
    last = memory.log(limit=1)
    if last:
        yield "last shown", f"{last[0].at:%Y-%m-%d %H:%M} UTC, {last[0].moment.replace('_', ' ')}: holdfast log"
    elif not memory.heartbeat():
        yield "hooks", "none received yet: holdfast setup registers them, holdfast doctor tests them"


def _alarms(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield why learning fails, hosts without events or failing commands, and sessions that teach nothing."""
    if trouble := learning_trouble(memory.settings, datetime.now(UTC)).words:
        yield "alarm", f"Holdfast {trouble} (holdfast learn)"
    barren = barren_words(memory.barren_sessions())
    if barren:
        yield "alarm", f"{barren}: {LEARN_ON} learns with your own agent"
    try:
        host_alarms = list(alarms(memory.settings, activity(memory.services.store), datetime.now(UTC)))
    except HoldfastError:
        return  # setup's own record cannot be read; doctor reports that
    for host, alarm in host_alarms:
        yield "alarm", f"{host}: {alarm} (holdfast doctor)"
