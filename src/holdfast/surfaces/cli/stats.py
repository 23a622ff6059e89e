"""`holdfast stats`: print the outcomes of deliveries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from holdfast.lean.plain import as_dict
from holdfast.lean.texts import short_id
from holdfast.outcomes.estimate import Difference, Share
from holdfast.outcomes.stats import Stats
from holdfast.outcomes.tuning import LEAST_WITHHELD
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import table

VERDICTS = ("heeded", "ignored", "overridden", "failed", "unclear")


@click.command(
    epilog=examples("holdfast stats", "holdfast stats --all-projects", "holdfast stats --json")
    + "\n\nExit codes: 0 for any figures, 1 if memory cannot be read, 2 for wrong usage."
)
@click.option(
    "--all-projects", is_flag=True, help="Print the total of all projects on this machine, then each project."
)
@json_option
@folder_option
@pass_call
def command(call: Call, all_projects: bool) -> None:
    """Print the outcomes of deliveries: how often lessons were told, heeded, ignored or missed.

    Heeded means that a session did what the lesson asks for, after it was told and with no other cause in sight. One
    line in twenty of a session's brief is withheld by chance; the difference to those sessions is the only benefit
    that is claimed, once enough were withheld. Each share has a 95 % confidence interval.
    """
    with call.open() as memory:
        projects = memory.stats(all_projects=all_projects)
        doubted = [] if all_projects else memory.for_review()
    if call.as_json:
        answer_json({"projects": [_json(stats) for stats in projects]})
        return
    for at, stats in enumerate(projects):
        if at:
            say()
        for line in _lines(stats):
            say(line)
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
