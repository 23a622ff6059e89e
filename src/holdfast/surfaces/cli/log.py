"""`holdfast log`: which lessons were shown, when and why; or which changes were made."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.domain.records import Change, Delivery, Outcome
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.errors import LessonNotFoundError
from holdfast.lean.plain import as_dict, to_plain
from holdfast.lean.texts import short_id
from holdfast.outcomes.stats import SessionSums
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import table

CHECKPOINTS = 1_000
"""Checkpoints looked through for those that were restored."""
HEADS = ("time (UTC)", "moment", "id", "title", "shown for", "because", "host", "session")
LATEST = "latest"
"""The value of `--session` without an id."""
NAMED = 3
"""Lessons of a change that are named; an import has thousands."""


@click.command(
    epilog=examples(
        "holdfast log",
        "holdfast log --session",
        "holdfast log --session 4f5a --json",
        "holdfast log --lesson 1f0c9a2b",
        "holdfast log --changes",
    )
)
@click.option(
    "--session", is_flag=False, flag_value=LATEST, default="",
    help="Only this session's deliveries, and their outcome; without an id, the latest session's.",
)  # fmt: skip
@click.option("--lesson", "ref", default="", shell_complete=lesson_ids, help="Only deliveries of this lesson.")
@click.option("--why", is_flag=True, help="Also print trigger, reason, host and session; a pipe always gets them.")
@click.option("--changes", "only_changes", is_flag=True, help="Print changes of memory instead of deliveries.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="Print at most this many lines.")
@json_option
@folder_option
@pass_call
def command(call: Call, session: str, ref: str, why: bool, only_changes: bool, limit: int) -> None:
    """Print which lessons were shown, when and why, newest first; or which changes were made.

    Each line has the time, the moment, the lesson's id and its title. With --why it also has the trigger (what the
    lesson was shown for), the reason, the host and the session. A line that chance withheld from a session's brief, to
    see what happens without it, is marked `withheld`.
    """
    with call.open() as memory:
        if only_changes:
            _print_changes(call, memory, memory.changes(limit))
            return
        lesson = memory.get(ref).id if ref else LessonId("")
        sums = memory.session_sums(SessionId("" if session == LATEST else session)) if session else None
        if session == LATEST:
            session = sums.session if sums else LATEST
        deliveries = memory.log(session=SessionId(session), lesson=lesson, limit=limit)
        withheld = memory.withheld(session=SessionId(session), lesson=lesson, limit=limit)
        entries: list[Delivery | Outcome] = [*deliveries, *withheld]
        entries = sorted(entries, key=lambda entry: entry.at, reverse=True)[:limit]
        _print_deliveries(call, memory, entries, sums, why)


def _print_deliveries(
    call: Call, memory: Memory, entries: Sequence[Delivery | Outcome], sums: SessionSums | None, why: bool
) -> None:
    deliveries = [entry for entry in entries if isinstance(entry, Delivery)]
    withheld = [entry for entry in entries if isinstance(entry, Outcome)]
    if call.as_json:
        plain: dict[str, Any] = {"deliveries": [to_plain(entry) for entry in deliveries]}
        plain["withheld"] = [to_plain(entry) for entry in withheld]
        answer_json(plain | ({"session": as_dict(sums) | {"words": sums.words}} if sums else {}))
        return
    titles = _titles(memory, [entry.lesson for entry in entries])
    has_room = not sys.stdout.isatty() or why  # a terminal has room for the title only; a program gets every column
    rows = [
        [
            f"{entry.at:%Y-%m-%d %H:%M:%S}" if has_room else f"{entry.at:%m-%d %H:%M}",
            entry.moment if isinstance(entry, Delivery) else f"{entry.moment} (withheld)",
            short_id(entry.lesson),
            titles[entry.lesson],
            *(_about(entry) if has_room else ()),
        ]
        for entry in entries
    ]
    for line in table(rows, HEADS[: len(rows[0])] if rows else ()):
        say(line)
    if sums:
        say(f"session {sums.session}: {sums.words}")
    held_back = f", {len(withheld)} withheld" if withheld else ""
    note(f"{counted(len(deliveries), 'delivery', 'deliveries')}{held_back}; times are UTC")


def _about(entry: Delivery | Outcome) -> tuple[str, str, str, str]:
    if isinstance(entry, Delivery):
        return entry.trigger, entry.reason, entry.host, entry.session
    return entry.trigger, "withheld by chance", "", entry.session


def _print_changes(call: Call, memory: Memory, changes: list[Change]) -> None:
    if call.as_json:
        answer_json({"changes": [to_plain(entry) for entry in changes]})
        return
    undone = {entry.undone for entry in changes if entry.undone}
    titles = _titles(memory, [lesson for entry in changes for lesson in entry.lessons[:NAMED]])
    rows = [
        [f"{c.at:%Y-%m-%d %H:%M:%S}", c.verb, _named(c, titles), "undone" if c.id in undone else c.actor or c.summary]
        for c in changes
    ]
    for line in table(rows, ("time", "change", "lessons", "by")):
        say(line)
    note(f"{counted(len(changes), 'change')}; times are UTC")


def _named(change: Change, titles: dict[LessonId, str]) -> str:
    named = ", ".join(f"{short_id(lesson)} {titles[lesson]}" for lesson in change.lessons[:NAMED])
    more = len(change.lessons) - NAMED
    return named + (f", {more} more" if more > 0 else "")


def _titles(memory: Memory, ids: list[LessonId]) -> dict[LessonId, str]:
    """Return the lessons' current titles. A restored checkpoint is marked; a purged lesson is `(erased)`."""
    goals = {LessonId(saved.id): saved.goal for saved in memory.checkpoints(CHECKPOINTS)} if ids else {}
    return {lesson: _title(memory, lesson, goals) for lesson in dict.fromkeys(ids)}


def _title(memory: Memory, lesson: LessonId, goals: dict[LessonId, str]) -> str:
    if lesson in goals:
        return f"(checkpoint) {goals[lesson]}"
    try:
        return memory.services.store.get([lesson])[0].title
    except LessonNotFoundError:
        return "(erased)"
