"""Lists: lessons, what was shown and changed, and the outcomes of deliveries."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.records import Change, Delivery, Outcome
from holdfast.domain.vocabulary import TRUSTS, LessonId, SessionId
from holdfast.errors import LessonNotFoundError
from holdfast.lean.plain import as_dict, to_plain
from holdfast.lean.texts import counted, short_id
from holdfast.lessons.brought import TAKE_IN, brought_words, count_brought
from holdfast.lessons.lookup import shared_ids
from holdfast.outcomes.stats import Difference, SessionSums, Share, Stats
from holdfast.outcomes.tuning import LEAST_WITHHELD
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.frame import (
    Call,
    all_projects_option,
    as_of_option,
    command,
    host_names,
    lesson_ids,
    limit_option,
    states_option,
)
from holdfast.surfaces.cli.review import print_conflicts
from holdfast.surfaces.cli.screen import chosen_states, note, read_time, say, summary_lines, table

CHECKPOINTS = 1_000
"""Checkpoints looked through for those that were restored."""
HEADS = ("time (UTC)", "moment", "id", "title", "shown for", "because", "host", "session")
LATEST = "latest"
"""The value of `--session` without an id."""
NAMED = 3
"""Lessons of a change that are named; an import has thousands."""
VERDICTS = ("heeded", "ignored", "overridden", "failed", "unclear")


@command(
    "holdfast list", "holdfast list --kind constraint --path src/app.py",
    "holdfast list --state all --all-projects --json", "holdfast list --tag release --since '2 weeks ago'",
    "holdfast list --conflicts", "holdfast --remote acme list", memory=True, reads=True,
)  # fmt: skip
@states_option
@click.option("--kind", "kinds", multiple=True, type=click.Choice(LESSON_KINDS), help="Only lessons of this kind.")
@click.option("--path", "--file", "path", default="", help="Only lessons about this file.")
@click.option("--tag", default="", help="Only lessons with this tag.")
@click.option("--host", default="", shell_complete=host_names, help="Only lessons learnt in this host's sessions.")
@click.option("--trust", type=click.Choice(TRUSTS), help="Only lessons with this trust, which says who is behind them.")
@click.option("--since", default="", help="Only lessons since this time, e.g. 2026-03-01, yesterday, '2 weeks ago'.")
@all_projects_option
@as_of_option
@click.option(
    "--conflicts", is_flag=True, help="List pairs of lessons that contradict each other, the better one first."
)
@limit_option(100)
def list_(call: Call, memory: Memory, /, conflicts: bool, limit: int, **conditions: Any) -> None:
    """List lessons, newest first.

    Each lesson is shown with its id, title, kind, location, and its freshness: whether the current code still matches
    it. A lesson that is not active shows its state instead. In a pipe each lesson is one line, separated by tabs: id,
    kind, title, location, freshness.

    With --conflicts, each pair is shown with the reason why the first lesson comes first. Only --limit and --json have
    an effect then.
    """
    if conflicts:
        print_conflicts(call, memory.conflicts(), limit)
        return
    is_plain = not call.remote and not any(conditions.values())
    as_of, since = conditions.pop("as_of"), conditions.pop("since")
    states = chosen_states(conditions.pop("states"))
    instant = memory.instant(as_of) if as_of else None
    lessons = memory.lessons(states=states, as_of=instant, since=read_time(since), limit=limit + 1, **conditions)
    shown = lessons[:limit]
    pairs = list(zip(shown, memory.verdicts(shown), strict=True))
    if call.answer({"lessons": [lesson_json(lesson, *verdict) for lesson, verdict in pairs], "more": lessons != shown}):
        return
    shared = {} if call.remote else shared_ids(memory.services, memory.location)
    for lesson, (freshness, _) in pairs:
        fact = freshness if lesson.state == "active" else lesson.state
        say(*summary_lines(lesson, fact, shared=shared.get(lesson.id, "")))
    count = f"{len(shown)} of {memory.counts().words}" if is_plain else counted(len(shown), "lesson")
    note(count + (", and more: --limit" if len(lessons) > limit else ""))
    elsewhere = 0 if conditions["all_projects"] or as_of else memory.staged_elsewhere()
    if elsewhere:
        note(f"{counted(elsewhere, 'lesson')} of other branches not listed: holdfast staged")
    if not call.remote and (line := brought_words(count_brought(memory.services, memory.location))):
        note(f"{line}: {TAKE_IN}")


@command(
    "holdfast log", "holdfast log --session", "holdfast log --session 4f5a --json", "holdfast log --lesson 1f0c9a2b",
    "holdfast log --changes", memory=True,
)  # fmt: skip
@click.option(
    "--session", is_flag=False, flag_value=LATEST, default="",
    help="Only this session's deliveries, and their outcome; without an id, the latest session's.",
)  # fmt: skip
@click.option("--lesson", "ref", default="", shell_complete=lesson_ids, help="Only deliveries of this lesson.")
@click.option("--why", is_flag=True, help="Also print trigger, reason, host and session; a pipe always gets them.")
@click.option("--changes", "only_changes", is_flag=True, help="Print changes of memory instead of deliveries.")
@limit_option(50)
def log(call: Call, memory: Memory, session: str, ref: str, why: bool, only_changes: bool, limit: int) -> None:
    """Print which lessons were shown, when and why, newest first; or which changes were made.

    Each line has the time, the moment, the lesson's id and its title. With --why it also has the trigger (what the
    lesson was shown for), the reason, the host and the session. A line that chance withheld from a session's brief, to
    see what happens without it, is marked `withheld`.
    """
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
    logs = {
        "deliveries": [to_plain(entry) for entry in deliveries],
        "withheld": [to_plain(entry) for entry in withheld],
    }
    if call.answer(logs | ({"session": as_dict(sums) | {"words": sums.words}} if sums else {})):
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
    say(*table(rows, HEADS[: len(rows[0])] if rows else ()))
    if sums:
        say(f"session {sums.session}: {sums.words}")
    held_back = f", {len(withheld)} withheld" if withheld else ""
    note(f"{counted(len(deliveries), 'delivery', 'deliveries')}{held_back}; times are UTC")


def _about(entry: Delivery | Outcome) -> tuple[str, str, str, str]:
    if isinstance(entry, Delivery):
        return entry.trigger, entry.reason, entry.host, entry.session
    return entry.trigger, "withheld by chance", "", entry.session


def _print_changes(call: Call, memory: Memory, changes: list[Change]) -> None:
    if call.answer({"changes": [to_plain(entry) for entry in changes]}):
        return
    undone = {entry.undone for entry in changes if entry.undone}
    titles = _titles(memory, [lesson for entry in changes for lesson in entry.lessons[:NAMED]])
    rows = [
        [f"{c.at:%Y-%m-%d %H:%M:%S}", c.verb, _named(c, titles), "undone" if c.id in undone else c.actor or c.summary]
        for c in changes
    ]
    say(*table(rows, ("time", "change", "lessons", "by")))
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


@command("holdfast stats", "holdfast stats --all-projects", "holdfast stats --json", memory=True, reads=True)
@click.option("--all-projects", is_flag=True, help="Print the total of all projects here, then each project.")
def stats(call: Call, memory: Memory, all_projects: bool) -> None:
    """Print the outcomes of deliveries: how often lessons were told, heeded, ignored or missed.

    Heeded means that a session did what the lesson asks for, after it was told and with no other cause in sight. One
    line in twenty of a session's brief is withheld by chance; the difference to those sessions is the only benefit
    that is claimed, once enough were withheld. Each share has a 95 % confidence interval.
    """
    projects = memory.stats(all_projects=all_projects)
    doubted = [] if all_projects else memory.for_review()
    if call.answer({"projects": [_json(outcomes) for outcomes in projects]}):
        return
    for at, outcomes in enumerate(projects):
        say(*([""] if at else []), *_lines(outcomes))
    for lesson, words in doubted:
        say(f"in doubt  {short_id(lesson.id)}  {lesson.title}: {words}; holdfast review")


def _lines(stats: Stats) -> Iterator[str]:
    if not stats.delivered:
        yield f"{stats.name}: no lesson was delivered yet"
        return
    yield f"{stats.name}: {counted(stats.delivered, 'delivery', 'deliveries')} in {counted(stats.sessions, 'session')}"
    rows = [[verdict, *_cells(getattr(stats, verdict))] for verdict in VERDICTS]
    yield from ("  " + line for line in table(rows))
    yield f"  missed {stats.missed}, helped {stats.helped}, hurt {stats.hurt}"
    yield f"  withheld {stats.withheld}, {stats.tokens:,} tokens spent"
    if stats.effect_on_heeding is None or stats.effect_on_failures is None:
        yield f"  no difference to give: {stats.heeded_without.of} of {LEAST_WITHHELD} withheld lessons judged"
        return
    yield f"  heeded where withheld {_percent(stats.heeded_without)}: {_effect(stats.effect_on_heeding)}"
    yield f"  failed where withheld {_percent(stats.failed_without)}: {_effect(stats.effect_on_failures)}"


def _cells(share: Share) -> list[str]:
    return [f"{share.count} of {share.of}", _percent(share)]


def _percent(share: Share) -> str:
    if not share.of:
        return "-"
    return f"{100 * share.share:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f})"


def _effect(difference: Difference) -> str:
    words = "" if difference.is_clear else ", which may be chance"
    points = f"{100 * difference.difference:+.0f} points ({100 * difference.low:+.0f} to {100 * difference.high:+.0f})"
    return f"telling makes {points}{words}"


def _json(stats: Stats) -> dict[str, Any]:
    plain = as_dict(stats)
    for name in (*VERDICTS, "heeded_without", "failed_without"):
        share = plain[name]
        plain[name] = {"count": share.count, "of": share.of, "share": share.share, "low": share.low, "high": share.high}
    for name in ("effect_on_heeding", "effect_on_failures"):
        plain[name] = as_dict(plain[name]) if plain[name] else None
    return plain
