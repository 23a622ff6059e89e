"""`holdfast recall`: search memory."""

from __future__ import annotations

import sys
from math import fsum, prod
from typing import Any

import click

from holdfast.curation.taskstate import answer_text
from holdfast.domain.briefing import UNCONFIRMED, Briefing, FoundTurn, Ranked
from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.vocabulary import STATES
from holdfast.lean.texts import short_id
from holdfast.recall.quotation import turn_place, turn_words
from holdfast.rendering.lines import source_word
from holdfast.rendering.views import briefing_json
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    read_text,
    say,
)
from holdfast.surfaces.cli.rows import summary_lines, table, wrapped


@click.command(
    epilog=examples(
        "holdfast recall 'flaky login test'",
        "holdfast recall --path src/app.py --why",
        "pytest 2>&1 | holdfast recall --error -",
        "holdfast recall --across 'certificate pinning'",
        "holdfast recall --sessions 'why did we drop the cache'",
        "holdfast recall retry --as-of 2026-03-01 --json",
    )
)
@click.argument("text", nargs=-1)
@click.option("--path", "--file", "paths", multiple=True, help="A file the work is about; may be repeated.")
@click.option("--symbol", "symbols", multiple=True, help="A function or class the work is about.")
@click.option("--command", default="", help="A command that is about to run.")
@click.option("--error", default="", help="Error output to find lessons for; - reads it from stdin.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(LESSON_KINDS), help="Only lessons of this kind.")
@click.option("--state", "states", multiple=True, type=click.Choice(STATES), help="Only lessons in this state.")
@click.option("--all-projects", is_flag=True, help="Search lessons of every project on this machine.")
@click.option("--across", is_flag=True, help="Also search lessons of sibling projects; they come last.")
@click.option("--sessions", is_flag=True, help="Search what was said in the recorded sessions instead of lessons.")
@click.option("--as-of", default="", help="Search memory as it was then: 2026-03-01T12:00:00Z, yesterday, or a commit.")
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1, 1000), help="Print at most this many.")
@click.option(
    "--budget", default=2000, show_default=True, type=click.IntRange(1), help="Print at most this many tokens."
)
@click.option("--why", is_flag=True, help="Print how each score is computed.")
@json_option
@folder_option
@pass_call
def command(
    call: Call, /, text: tuple[str, ...], why: bool, budget: int, as_of: str, error: str, **conditions: Any
) -> None:
    """Search memory; the best lessons come first.

    Each lesson is shown with its rank, id, title, kind, location, source, and its freshness: whether the current code
    still matches it. In a pipe each lesson is one line, separated by tabs: rank, id, kind, title, location, source,
    freshness. Lessons that nobody has confirmed are marked. Two lessons that contradict each other are shown together.

    Where no confirmed lesson answers, turns of earlier sessions follow: session, date, host and branch, and the words
    around the match. In a pipe: rank, session, `session`, the words, branch, host, date.
    """
    with call.open() as memory:
        briefing = memory.recall(
            read_text(" ".join(text)),
            error=read_text(error),
            as_of=memory.instant(as_of) if as_of else None,
            budget_tokens=budget,
            unconfirmed=UNCONFIRMED,
            **conditions,
        )
        state = answer_text(memory.services, memory.location, " ".join(text), budget)
    if call.as_json:
        answer_json(briefing_json(briefing) | ({"left_off": state} if state else {}))
    else:
        for line in state.splitlines():
            say(line)
        _print(briefing, why)


def _print(briefing: Briefing, why: bool) -> None:
    first_of_two = {first for first, _ in briefing.disputes}
    for item in briefing.items:
        if item.lesson.id in first_of_two:
            say("The next two lessons disagree; the first has better evidence or is newer:")
        facts = source_word(item.lesson), item.freshness
        where = item.caveat if is_sibling(item) else ""
        for line in summary_lines(item.lesson, *facts, rank=str(item.rank), where=where):
            say(line)
        for detail in _explained(item) if why else ():
            say(detail)
    for rank, turn in enumerate(briefing.turns, start=1):
        for line in _turn_lines(rank, turn):
            say(line)
    _talk(briefing)


def _turn_lines(rank: int, turn: FoundTurn) -> list[str]:
    """Return a turn as lines: on a terminal where it was, then its words; in a pipe one line, separated by tabs."""
    if not sys.stdout.isatty():
        facts = turn.branch, turn.host, f"{turn.at:%Y-%m-%d}"
        return table([[str(rank), short_id(turn.session), "session", turn_words(turn), *facts]])
    indent = len(f"{rank}  ")
    lines = wrapped(turn_words(turn), indent)
    return [f"{rank}  {click.style(turn_place(turn), dim=True)}", *(" " * indent + line for line in lines)]


def is_sibling(item: Ranked) -> bool:
    """Return whether the lesson belongs to another project, which its caveat names."""
    return any(name == "sibling" for name, _ in item.why.multipliers)


def _explained(item: Ranked) -> list[str]:
    """Return the parts of the score, and the score computed from them."""
    shares, factors = item.why.shares, item.why.multipliers
    score = fsum(share.share for share in shares) * prod(factor for _, factor in factors)
    lines = [f"   {item.why.words}"] if item.why.words else []
    lines += [f"   + {share.share:.6f}  {share.lane} (rank {share.rank}, {share.raw:.4g})" for share in shares]
    lines += [f"   x {factor:.4f}    {name}" for name, factor in factors]
    lines.append(f"   = {score:.6f}" + (f"  ({item.caveat})" if item.caveat else ""))
    return lines


def _talk(briefing: Briefing) -> None:
    shown = len(briefing.items)
    if shown:
        note(f"{shown} of {counted(shown + briefing.more, 'lesson')}, {counted(briefing.tokens, 'token')}")
        unconfirmed = sum(item.is_unconfirmed for item in briefing.items)
        if unconfirmed:
            note(f"{unconfirmed} unconfirmed: holdfast review")
    elif briefing.turns:
        note(f"{counted(len(briefing.turns), 'turn')} of earlier sessions; no lesson answers this.")
    elif briefing.near:
        note("No lesson passed the threshold. Closest matches:")
        for item in briefing.near:
            mark = " (unconfirmed)" if item.is_unconfirmed else ""
            note(f"  {short_id(item.lesson.id)}  {item.lesson.title}{mark}")
        if briefing.near_more:
            note(f"  and {briefing.near_more} more")
    else:
        note("No lesson passed the threshold, and none comes close.")
    if briefing.degraded:
        note(f"note: {briefing.degraded}")
