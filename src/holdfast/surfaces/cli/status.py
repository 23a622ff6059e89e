"""What memory holds and what needs the user's attention: `holdfast status`, and the screen of `holdfast` alone."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from holdfast.backfill.distilling import learning_facts, learning_trouble
from holdfast.backfill.transcriptfiles import work_tree
from holdfast.bootstrap import Memory, all_hosts
from holdfast.capture.sessionevents import activity
from holdfast.curation.checkpoint import is_work
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.errors import HoldfastError, ProjectUnknownError
from holdfast.home.remotes import load_remotes
from holdfast.installing.hostfiles import HostFiles, set_up
from holdfast.lean.files import count_lesson_files
from holdfast.lean.plain import as_dict, render_instant, to_plain
from holdfast.lean.texts import counted, short_id
from holdfast.lessons.brought import TAKE_IN, brought_words, count_brought
from holdfast.lessons.lookup import LessonCounts
from holdfast.ports.services import Services
from holdfast.rendering.lines import is_from_commit
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli.frame import EVERYTHING, Call, command
from holdfast.surfaces.cli.hostcheck import LEARN_ON, alarms, barren_words
from holdfast.surfaces.cli.learn import cost_words
from holdfast.surfaces.cli.project import ACCEPT, claim_line, identity, plain
from holdfast.surfaces.cli.screen import coloured, note, pairs, say, short_path, size
from holdfast.upkeep.tidying.tidy import last, pending

SHOWN = 3
"""Lessons shown of each sort."""
CHECKED = 200
"""Newest lessons that are checked against the code."""
NAMED_HOSTS = 4
"""Hosts that the first screen names."""
RECENT = timedelta(days=30)
"""How long the last tidying is told."""


@command("holdfast status", "holdfast status --json", "holdfast -C ~/src/app status", memory=True)
def status(call: Call, memory: Memory) -> None:
    """Print this folder's project, where its memory is, what it holds, and when each host last sent an event."""
    fields = _gather(memory)
    if not call.answer(fields):
        say(*_lines(fields))


def _gather(memory: Memory) -> dict[str, Any]:
    location, settings = memory.location, memory.settings
    lessons = memory.lessons(states=(), limit=EVERYTHING)
    waiting = [lesson for lesson in lessons if lesson.state in ("candidate", "quarantined")]
    counts, checkpoint = memory.counts(), memory.checkpoint()
    path = settings.database_path
    loss, sums = memory.find_loss(), memory.session_sums()
    return {
        "project": plain(location), "identity": identity(location), "claim": claim_line(location),
        "store": {
            "url": settings.shown_store,
            "bytes": os.path.getsize(path) if os.path.exists(path) else None,
            "lost": loss.words if loss else "",
            "damaged_rows": memory.services.store.left_out(),
        },
        "lessons": {
            "by_state": dict(Counter(lesson.state for lesson in lessons)),
            "by_kind": dict(Counter(lesson.kind for lesson in lessons if lesson.state == "active")),
        },
        "confirmed": counts.confirmed, "unconfirmed": counts.unconfirmed, "barren_sessions": memory.barren_sessions(),
        "inbox": len([lesson for lesson in waiting if not is_from_commit(lesson)]),
        "from_commits": len([lesson for lesson in waiting if is_from_commit(lesson)]),
        "tidying": list(tidying_lines(memory.services, memory.location)),
        "last_session": as_dict(sums) | {"words": sums.words} if sums else None, "for_review": len(memory.for_review()),
        "checkpoint": to_plain(checkpoint) if checkpoint else None, "capture": settings.capture,
        "deliver": list(settings.deliver), "embedder": settings.embedder,
        "distil": learning_facts(settings, memory.services.clock.now()),
        "set_up": sorted(set_up(HostFiles(settings.home).manifest)),
        "brought": count_brought(memory.services, location), "server": _server(memory),
        "heartbeat": [
            {"host": event.host, "event": event.kind, "at": render_instant(event.at)} for event in memory.heartbeat()
        ],
    }  # fmt: skip


def _server(memory: Memory) -> dict[str, str] | None:
    """Return the team server that the project is linked to, and when it was synced last; None without one."""
    remote = load_remotes(memory.settings.home).remote_of(memory.location.project.id)
    return {"name": remote.name, "synced_at": str(memory.last_exchange(remote).get("at", ""))} if remote else None


def _synced(at: str) -> str:
    return f", synced {at[:16].replace('T', ' ')} UTC" if at else ", not synced yet: holdfast sync"


def _lines(fields: dict[str, Any]) -> Iterator[str]:
    project, store, barren = fields["project"], fields["store"], barren_words(fields["barren_sessions"])
    counts = LessonCounts(confirmed=fields["confirmed"], unconfirmed=fields["unconfirmed"])
    commits = f" ({fields['from_commits']} from commits)" if fields["from_commits"] else ""
    by_kind = sorted(fields["lessons"]["by_kind"].items(), key=lambda pair: (-pair[1], pair[0]))
    embedder = fields["embedder"] or "none: words, paths and identifiers"
    if fields["embedder"] in ("", "static"):  # nothing is downloaded unasked
        embedder += "; finds more paraphrases: holdfast embedder pull (91 MB)"
    rows = [
        ("project", f"{project['name']} ({fields['identity']})"),
        ("declared", f"{fields['claim']}; {ACCEPT}" if fields["claim"] else ""),
        ("folder", project["root"] + (f" on {project['branch']}" if project["branch"] else "")),
        ("store", store["url"] + ("" if store["bytes"] is None else f"  {size(store['bytes'])}")),
        ("lost", store["lost"]),
        ("damaged", f"{store['damaged_rows']} rows left out: holdfast doctor" if store["damaged_rows"] else ""),
        ("lessons", f"{counts.words}{commits}" + (": holdfast review" if counts.unconfirmed else "")),
        ("confirmed", ", ".join(f"{count:,} {kind}" for kind, count in by_kind) or "none"),
        ("server", fields["server"]["name"] + _synced(fields["server"]["synced_at"]) if fields["server"] else ""),
        ("brought", f"{brought_words(fields['brought'])}: {TAKE_IN}" if fields["brought"] else ""),
        *(("tidying", line) for line in fields["tidying"]),
        ("review", f"{fields['for_review']} in doubt: holdfast review" if fields["for_review"] else ""),
        ("session", f"last: {fields['last_session']['words']}" if fields["last_session"] else ""),
        ("task", fields["checkpoint"]["goal"] if fields["checkpoint"] else "none"),
        ("capture", "on" if fields["capture"] else "off"),
        ("delivery", ", ".join(fields["deliver"]) or "off"),
        ("embedder", embedder),
        ("learning", _learning_words(fields["distil"])),
        ("alarm", f"{barren}: {LEARN_ON} learns with your own agent" if barren else ""),
        *_heartbeat(fields["heartbeat"], fields["set_up"]),
    ]
    yield from pairs(row for row in rows if row[1])


def _learning_words(facts: dict[str, Any]) -> str:
    today = facts["last_24_hours"]
    calls, waiting = counted(today["calls"], "call"), counted(facts["waiting"], "session")
    spent = f"{calls} within 24 hours ({cost_words(today)}), {waiting} waiting"
    if not facts["after_sessions"]:
        used = f"; {spent}" if today["calls"] else ""
        return f"your own agent reads no sessions{used}: holdfast learn --on"
    trouble = f"; {facts['trouble']}" if facts["trouble"] else ""
    return f"{facts['model']} reads each session: {spent}{trouble}"


def _heartbeat(events: list[dict[str, str]], set_up_hosts: list[str]) -> Iterator[tuple[str, str]]:
    """Yield a row for each host: when its last event arrived, and the kinds of its events."""
    by_host: dict[str, list[dict[str, str]]] = {}
    for event in events:
        by_host.setdefault(event["host"], []).append(event)
    for host, heard in by_host.items():
        kinds = ", ".join(event["event"] for event in heard)
        yield "events", f"{heard[0]['at'][:19].replace('T', ' ')} UTC  {host}  {kinds}"
    if not events:
        following = "start a session, or restart a running one" if set_up_hosts else "holdfast setup"
        yield "events", f"none from any hook yet: {following}"


def print_dashboard(call: Call) -> bool:
    """Print the screen, or the first steps if there is no memory yet.

    Returns False, and prints nothing, if the folder belongs to no project.
    """
    settings = load_settings()
    path = settings.database_path
    if path and not os.path.exists(path):
        lines = pairs(_first_rows(settings, work_tree(call.folder or os.getcwd())))
    else:
        try:
            with call.open() as memory:
                lines = pairs(_rows(memory))
        except ProjectUnknownError:
            return False
    say(*lines)
    note("holdfast --help lists the commands")
    return True


def _first_rows(settings: Settings, root: str) -> Iterator[tuple[str, str]]:
    """Yield what is on this machine and in this folder, and the first commands, for a home without a memory."""
    hosts, wired = all_hosts(settings), set_up(HostFiles(settings.home).manifest)
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
    if line := brought_words(count_lesson_files(root)):
        yield "brought", f"{line}: {TAKE_IN}"
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
    yield "project", f"{location.project.name}{branch}: {memory.counts().words}"
    if line := brought_words(count_brought(memory.services, location)):
        yield "brought", f"{line}: {TAKE_IN}"
    checkpoint = memory.checkpoint()
    if checkpoint is not None and is_work(checkpoint):
        yield "task", f"{checkpoint.goal} (saved {checkpoint.at:%Y-%m-%d %H:%M} UTC)"
    yield from _first("newest", [(lesson, lesson.title) for lesson in active])
    yield from _first("unconfirmed", [(lesson, lesson.title) for lesson in waiting], "holdfast review")
    doubted = [(lesson, f"{lesson.title}: {reason}") for lesson, reason in memory.for_review()]
    yield from _first("in doubt", doubted, "holdfast review")
    judged = zip(active[:CHECKED], memory.verdicts(active[:CHECKED]), strict=True)
    stale = [(lesson, state) for lesson, (state, _) in judged if state in ("changed", "drifted", "orphaned")]
    following = "holdfast verify" if len(stale) > SHOWN else ""
    yield from _first("stale", [(x, f"{coloured(state)}: {x.title}") for x, state in stale], following)
    yield from _under("tidying", tidying_lines(memory.services, memory.location))
    last_shown = memory.log(limit=1)
    if last_shown:
        moment = last_shown[0].moment.replace("_", " ")
        yield "last shown", f"{last_shown[0].at:%Y-%m-%d %H:%M} UTC, {moment}: holdfast log"
    elif not memory.heartbeat():
        yield "hooks", "none received yet: holdfast setup registers them, holdfast doctor tests them"
    yield from (("alarm", line) for line in _alarms(memory))
    if not active and not waiting:
        yield "next", "holdfast backfill learns from the sessions that are already on this machine"


def _first(label: str, lessons: Sequence[tuple[Lesson, str]], following: str = "") -> Iterator[tuple[str, str]]:
    """Yield the first lessons with their words, and the command that goes through the others."""
    yield from _under(label, (f"{short_id(lesson.id)}  {words}" for lesson, words in lessons[:SHOWN]))
    if lessons and following:
        yield "", f"and {len(lessons) - SHOWN} more: {following}" if len(lessons) > SHOWN else following


def _under(label: str, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines):
        yield "" if number else label, line


def _alarms(memory: Memory) -> Iterator[str]:
    """Yield why learning fails, hosts without events or failing commands, and sessions that teach nothing."""
    now = datetime.now(UTC)
    if trouble := learning_trouble(memory.settings, now).words:
        yield f"Holdfast {trouble} (holdfast learn)"
    if barren := barren_words(memory.barren_sessions()):
        yield f"{barren}: {LEARN_ON} learns with your own agent"
    with suppress(HoldfastError):  # setup's own record cannot be read; doctor reports that
        for host, alarm in list(alarms(memory.settings, activity(memory.services.store), now)):
            yield f"{host}: {alarm} (holdfast doctor)"


def tidying_lines(services: Services, location: Location) -> Iterator[str]:
    """Yield a line for the proposal that waits, and one for the last tidying."""
    proposal = pending(services, location)
    if proposal is not None:
        yield f"a proposal waits: {proposal.counts}; holdfast tidy --show"
    change = last(services, location)
    now = services.clock.now()
    if change is not None and now - change.at < RECENT:
        days = (now.date() - change.at.date()).days
        day = "today" if days <= 0 else "yesterday" if days == 1 else f"{days} days ago"
        yield f"tidied {day}: {change.summary}; holdfast tidy --undo"
