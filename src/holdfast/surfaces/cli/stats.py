"""`holdfast stats`: print the outcomes of deliveries."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.outcomes.estimate import Difference, Share
    from holdfast.outcomes.stats import Stats

WIDTH = 40
"""Characters of a plot."""
WEEKS = 12
"""Newest weeks that are plotted."""
VERDICTS = ("heeded", "ignored", "overridden", "failed", "unclear")


@click.command(
    epilog=examples("holdfast stats", "holdfast stats --all-projects", "holdfast stats --plot", "holdfast stats --json")
    + "\n\nExit codes: 0 for any figures, 1 if memory cannot be read, 2 for wrong usage."
)
@click.option(
    "--all-projects", is_flag=True, help="Print the total of all projects on this machine, then each project."
)
@click.option("--plot/--no-plot", default=None, help="Draw shares and weeks as bars.  [default: on a terminal]")
@json_option
@folder_option
@pass_call
def command(call: Call, all_projects: bool, plot: bool | None) -> None:
    """Print the outcomes of deliveries: how often lessons were heeded, overridden or missed, and how often they helped.

    Failures are compared with and without the lesson. Each share has a 95 % confidence interval. Outcomes are judged
    after each session, without a model.
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
        if sys.stdout.isatty() if plot is None else plot:
            for line in _plots(stats):
                say(line)
    for lesson, words in doubted:
        say(f"review  {lesson.id[-8:]}  {lesson.title}: {words}")
    if any(stats.delivered for stats in projects):
        note("the minutes saved are an estimate: an assumed time for each heeded lesson, by its kind")


def _lines(stats: Stats) -> Iterator[str]:
    if not stats.delivered:
        yield f"{stats.name}: no lesson was delivered yet"
        return
    yield f"{stats.name}: {counted(stats.delivered, 'delivery', 'deliveries')} in {counted(stats.sessions, 'session')}"
    rows = [[verdict, *_cells(getattr(stats, verdict))] for verdict in VERDICTS]
    yield from ("  " + line for line in table(rows))
    yield f"  missed {stats.missed}, helped {stats.helped}, hurt {stats.hurt}"
    yield f"  withheld {stats.withheld}, judged {stats.heeded_without.of}"
    if stats.heeded_without.of:
        yield f"  heeded without being shown {_percent(stats.heeded_without)}: {_effect(stats.effect_on_heeding)}"
        yield f"  failures repeated without the lesson {_percent(stats.failed_without)}, with it " + (
            f"{_percent(stats.failed)}: {_effect(stats.effect_on_failures)}"
        )
    yield f"  {stats.tokens:,} tokens spent, about {stats.minutes_spared:,.0f} minutes of rediscovery saved"


def _cells(share: Share) -> list[str]:
    return [f"{share.count} of {share.of}", _percent(share)]


def _percent(share: Share) -> str:
    if not share.of:
        return "-"
    return f"{100 * share.share:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f})"


def _effect(difference: Difference) -> str:
    words = "" if difference.is_clear else ", which may be chance"
    points = f"{100 * difference.difference:+.0f} points ({100 * difference.low:+.0f} to {100 * difference.high:+.0f})"
    return f"showing it makes {points}{words}"


def _plots(stats: Stats) -> Iterator[str]:
    """Yield each share as a block on its interval, then delivered and heeded lessons by week."""
    verdicts = [verdict for verdict in VERDICTS if getattr(stats, verdict).of]
    for verdict in verdicts:
        yield f"  {verdict:10}  {_whisker(getattr(stats, verdict))}"
    if verdicts:
        yield f"  {'':10}  0 %{'':{WIDTH - 8}}100 %"
    most = max((delivered for _, delivered, _ in stats.weeks), default=0)
    for monday, delivered, heeded in stats.weeks[-WEEKS:]:
        width = round(WIDTH * delivered / most)
        part = round(WIDTH * heeded / most)
        yield f"  {monday}  {'█' * part}{'░' * (width - part)} {heeded} of {delivered}"


def _whisker(share: Share) -> str:
    """Return the interval as a line with the share as a block on it."""
    cells = [" "] * (WIDTH + 1)
    for at in range(round(WIDTH * share.low), round(WIDTH * share.high) + 1):
        cells[at] = "─"
    cells[round(WIDTH * share.share)] = "█"
    return "".join(cells).rstrip()


def _json(stats: Stats) -> dict[str, Any]:
    plain = dict(stats.__dict__)
    for name in (*VERDICTS, "heeded_without", "failed_without"):
        share = plain[name]
        plain[name] = {"count": share.count, "of": share.of, "share": share.share, "low": share.low, "high": share.high}
    for name in ("effect_on_heeding", "effect_on_failures"):
        plain[name] = dict(plain[name].__dict__)
    plain["weeks"] = [{"week": week, "told": delivered, "heeded": heeded} for week, delivered, heeded in stats.weeks]
    return plain
