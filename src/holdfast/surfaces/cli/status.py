"""`holdfast status`: this folder's project, where its memory is and what it holds."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

import click

from holdfast.backfill.distilling import learning_facts
from holdfast.bootstrap import Memory
from holdfast.installing.hostfiles import HostFiles, set_up
from holdfast.lean.plain import as_dict, render_instant, to_plain
from holdfast.lessons.lookup import LessonCounts
from holdfast.rendering.lines import is_from_commit
from holdfast.surfaces.cli._learning import cost_words
from holdfast.surfaces.cli._tidying import tidying_lines
from holdfast.surfaces.cli.call import (
    EVERYTHING,
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    pass_call,
    say,
    size,
)
from holdfast.surfaces.cli.hostcheck import LEARN_ON, barren_words
from holdfast.surfaces.cli.project import ACCEPT, claim_line, identity, plain
from holdfast.surfaces.cli.rows import pairs


@click.command(epilog=examples("holdfast status", "holdfast status --json", "holdfast -C ~/src/app status"))
@json_option
@folder_option
@pass_call
def command(call: Call) -> None:
    """Print this folder's project, where its memory is, what it holds, and when each host last sent an event."""
    with call.open() as memory:
        fields = _gather(memory)
    if call.as_json:
        answer_json(fields)
        return
    for line in _lines(fields):
        say(line)


def _gather(memory: Memory) -> dict[str, Any]:
    location, settings = memory.location, memory.settings
    lessons = memory.lessons(states=(), limit=EVERYTHING)
    waiting = [lesson for lesson in lessons if lesson.state in ("candidate", "quarantined")]
    counts, checkpoint = memory.counts(), memory.checkpoint()
    path = settings.database_path
    loss = memory.find_loss()
    return {
        "project": plain(location),
        "identity": identity(location),
        "claim": claim_line(location),
        "store": {
            "url": settings.store,
            "bytes": os.path.getsize(path) if os.path.exists(path) else None,
            "lost": loss.words if loss else "",
            "damaged_rows": memory.services.store.left_out(),
        },
        "lessons": {
            "by_state": dict(Counter(lesson.state for lesson in lessons)),
            "by_kind": dict(Counter(lesson.kind for lesson in lessons if lesson.state == "active")),
        },
        "confirmed": counts.confirmed,
        "unconfirmed": counts.unconfirmed,
        "barren_sessions": memory.barren_sessions(),
        "inbox": len([lesson for lesson in waiting if not is_from_commit(lesson)]),
        "from_commits": len([lesson for lesson in waiting if is_from_commit(lesson)]),
        "tidying": list(tidying_lines(memory.services, memory.location)),
        "last_session": _session_facts(memory),
        "for_review": len(memory.for_review()),
        "checkpoint": to_plain(checkpoint) if checkpoint else None,
        "capture": settings.capture,
        "deliver": list(settings.deliver),
        "embedder": settings.embedder,
        "distil": _distil_facts(memory),
        "set_up": sorted(set_up(HostFiles(settings.home).manifest)),
        "heartbeat": [
            {"host": event.host, "event": event.kind, "at": render_instant(event.at)} for event in memory.heartbeat()
        ],
    }


def _lines(fields: dict[str, Any]) -> Iterator[str]:
    project, store, barren = fields["project"], fields["store"], barren_words(fields["barren_sessions"])
    yield from pairs(
        [
            ["project", f"{project['name']} ({fields['identity']})"],
            *([["declared", f"{fields['claim']}; {ACCEPT}"]] if fields["claim"] else []),
            ["folder", project["root"] + (f" on {project['branch']}" if project["branch"] else "")],
            ["store", f"{store['url']}{_size(store['bytes'])}"],
            *([["lost", store["lost"]]] if store["lost"] else []),
            *(
                [["damaged", f"{store['damaged_rows']} rows left out: holdfast doctor"]]
                if store["damaged_rows"]
                else []
            ),
            ["lessons", _lesson_words(fields)],
            ["confirmed", _counts(fields["lessons"]["by_kind"])],
            *(["tidying", line] for line in fields["tidying"]),
            *([["review", f"{fields['for_review']} in doubt: holdfast review"]] if fields["for_review"] else []),
            *([["session", f"last: {fields['last_session']['words']}"]] if fields["last_session"] else []),
            ["task", fields["checkpoint"]["goal"] if fields["checkpoint"] else "none"],
            ["capture", "on" if fields["capture"] else "off"],
            ["delivery", ", ".join(fields["deliver"]) or "off"],
            ["embedder", (fields["embedder"] or "none: words, paths and identifiers") + _better(fields["embedder"])],
            ["learning", _distil_words(fields["distil"])],
            *([["alarm", f"{barren}: {LEARN_ON} learns with your own agent"]] if barren else []),
            *_heartbeat(fields["heartbeat"], fields["set_up"]),
        ]
    )


def _lesson_words(fields: dict[str, Any]) -> str:
    """Return the counts in the two words that every command uses; the unconfirmed ones wait in `review`."""
    counts = LessonCounts(confirmed=fields["confirmed"], unconfirmed=fields["unconfirmed"])
    commits = f" ({fields['from_commits']} from commits)" if fields["from_commits"] else ""
    return f"{counts.words}{commits}" + (": holdfast review" if counts.unconfirmed else "")


def _better(embedder: str) -> str:
    """Return a hint at the larger embedder for users of the one that ships. Nothing is downloaded unasked."""
    return "; finds more paraphrases: holdfast embedder pull (91 MB)" if embedder in ("", "static") else ""


def _session_facts(memory: Memory) -> dict[str, Any] | None:
    sums = memory.session_sums()
    return as_dict(sums) | {"words": sums.words} if sums else None


def _distil_facts(memory: Memory) -> dict[str, Any]:
    return learning_facts(memory.settings, memory.services.clock.now())


def _distil_words(facts: dict[str, Any]) -> str:
    today = facts["last_24_hours"]
    spent = (
        f"{counted(today['calls'], 'call')} within 24 hours ({cost_words(today)}),"
        f" {counted(facts['waiting'], 'session')} waiting"
    )
    if not facts["after_sessions"]:
        used = f"; {spent}" if today["calls"] else ""
        return f"your own agent reads no sessions{used}: holdfast learn --on"
    trouble = f"; {facts['trouble']}" if facts["trouble"] else ""
    return f"{facts['model']} reads each session: {spent}{trouble}"


def _heartbeat(events: list[dict[str, str]], set_up_hosts: list[str]) -> Iterator[list[str]]:
    """Yield a row for each host: when its last event arrived, and the kinds of its events."""
    by_host: dict[str, list[dict[str, str]]] = {}
    for event in events:
        by_host.setdefault(event["host"], []).append(event)
    for host, heard in by_host.items():
        kinds = ", ".join(event["event"] for event in heard)
        yield ["events", f"{heard[0]['at'][:19].replace('T', ' ')} UTC  {host}  {kinds}"]
    if not events:
        following = "start a session, or restart a running one" if set_up_hosts else "holdfast setup"
        yield ["events", f"none from any hook yet: {following}"]


def _counts(counts: dict[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{count:,} {word}" for word, count in ordered) or "none"


def _size(count: int | None) -> str:
    return "" if count is None else f"  {size(count)}"
