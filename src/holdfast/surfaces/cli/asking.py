"""`recall` and `brief`: what memory answers, and what an agent is told here."""

from __future__ import annotations

import sys
from math import fsum, prod
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.domain.briefing import UNCONFIRMED, Briefing, FoundTurn, Ranked
from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.vocabulary import STATES
from holdfast.lean.texts import counted, short_id
from holdfast.recall.quotation import turn_place, turn_words
from holdfast.rendering.lines import source_word
from holdfast.rendering.views import briefing_json
from holdfast.surfaces.cli.frame import Call, all_projects_option, as_of_option, command
from holdfast.surfaces.cli.screen import note, read_text, say, shown, summary_lines, table, wrapped


@command(
    "holdfast recall 'flaky login test'", "holdfast recall --path src/app.py --why",
    "pytest 2>&1 | holdfast recall --error -", "holdfast recall --across 'certificate pinning'",
    "holdfast recall --sessions 'why did we drop the cache'", "holdfast recall retry --as-of 2026-03-01 --json",
    "holdfast --remote acme recall 'flaky login test'", memory=True, reads=True,
)  # fmt: skip
@click.argument("text", nargs=-1)
@click.option("--path", "--file", "paths", multiple=True, help="A file the work is about; may be repeated.")
@click.option("--symbol", "symbols", multiple=True, help="A function or class the work is about.")
@click.option("--command", default="", help="A command that is about to run.")
@click.option("--error", default="", help="Error output to find lessons for; - reads it from stdin.")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(LESSON_KINDS), help="Only lessons of this kind.")
@click.option("--state", "states", multiple=True, type=click.Choice(STATES), help="Only lessons in this state.")
@all_projects_option
@click.option("--across", is_flag=True, help="Also search lessons of sibling projects; they come last.")
@click.option("--sessions", is_flag=True, help="Search what was said in the recorded sessions instead of lessons.")
@as_of_option
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1, 1000), help="Print at most this many.")
@click.option(
    "--budget", default=2000, show_default=True, type=click.IntRange(1), help="Print at most this many tokens."
)
@click.option("--why", is_flag=True, help="Print how each score is computed.")
def recall(
    call: Call,
    memory: Memory,
    /,
    text: tuple[str, ...],
    why: bool,
    budget: int,
    as_of: str,
    error: str,
    **conditions: Any,
) -> None:
    """Search memory; the best lessons come first.

    Each lesson is shown with its rank, id, title, kind, location, source, and its freshness: whether the current code
    still matches it. In a pipe each lesson is one line, separated by tabs: rank, id, kind, title, location, source,
    freshness. Lessons that nobody has confirmed are marked. Two lessons that contradict each other are shown together.

    Where no confirmed lesson answers, turns of earlier sessions follow: session, date, host and branch, and the words
    around the match. In a pipe: rank, session, `session`, the words, branch, host, date.
    """
    briefing = memory.recall(
        read_text(" ".join(text)),
        error=read_text(error),
        as_of=memory.instant(as_of) if as_of else None,
        budget_tokens=budget,
        unconfirmed=UNCONFIRMED,
        **conditions,
    )
    state = memory.left_off(" ".join(text), budget)
    if not call.answer(briefing_json(briefing) | ({"left_off": state} if state else {})):
        say(*state.splitlines())
        _print(briefing, why)


def _print(briefing: Briefing, why: bool) -> None:
    first_of_two = {first for first, _ in briefing.disputes}
    for item in briefing.items:
        if item.lesson.id in first_of_two:
            say("The next two lessons disagree; the first has better evidence or is newer:")
        facts = source_word(item.lesson), item.freshness
        where = item.caveat if is_sibling(item) else ""
        say(*summary_lines(item.lesson, *facts, rank=str(item.rank), where=where))
        for detail in _explained(item) if why else ():
            say(detail)
    for rank, turn in enumerate(briefing.turns, start=1):
        say(*_turn_lines(rank, turn))
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


@command(
    "holdfast brief", "holdfast brief --why", "holdfast brief --prompt 'add retries to the uploader'",
    "holdfast brief --file src/app.py --command 'npm install'", memory=True,
    reads=True,
)  # fmt: skip
@click.option("--prompt", default="", help="Also print what this first prompt brings; - reads it from stdin.")
@click.option("--file", default="", help="Also print what comes before this file is read or edited.")
@click.option("--command", "line", default="", help="Also print what comes before this command is run.")
@click.option("--for", "host", default="", help="Print what this host accepts, e.g. codex.")
@click.option("--why", is_flag=True, help="Print why each line stands there, and what was left out.")
def brief(call: Call, memory: Memory, /, prompt: str, file: str, line: str, host: str, why: bool) -> None:
    """Print exactly what an agent is told in a new session here, at its start and afterwards.

    The brief of the start has the state of the task, the commands of the project, the rules in full words, and the
    titles of other lessons by area. Nothing is logged.
    """
    briefings = memory.brief(prompt=read_text(prompt), file=file, command=line, host=host)
    if call.answer({"moments": [briefing_json(briefing) for briefing in briefings]}):
        return
    for briefing in briefings:
        _print_briefing(briefing, why)


def _print_briefing(briefing: Briefing, why: bool) -> None:
    label = MOMENT_PROFILES[briefing.moment].label
    lines = len(briefing.entries) + len(briefing.items)
    note(f"{label}: {counted(lines, 'line')}, {briefing.tokens} tokens")
    if briefing.degraded:
        note(briefing.degraded)
    if not briefing.text:
        note("Nothing is told.")
        return
    say(shown(briefing.text))
    if not why:
        return
    for entry in briefing.entries:
        say(f"{entry.rank:>3}  {entry.score:.2f}  {entry.reason}  {shown(entry.text)}")
    for item in briefing.items:
        say(f"{item.rank:>3}  {item.score:.2f}  {item.why.words}  {shown(item.lesson.title)}")
    if briefing.left_out:
        say(f"left out, best first ({briefing.more} in all):")
        for entry in briefing.left_out:
            say(f"     {entry.score:.2f}  {entry.reason}  {shown(entry.text)}")
