"""The stats: what telling changes, what it costs, and how memory grows and forgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from markupsafe import Markup

from holdfast.backfill.distilrecord import Spent, spent
from holdfast.lean.texts import counted
from holdfast.outcomes.stats import Difference, Share
from holdfast.pages.page import Page, PageRow
from holdfast.pages.svg.bars import Row, column_chart, row_chart
from holdfast.pages.svg.figure import Caption
from holdfast.pages.svg.interval import Interval, interval_chart, share_limit
from holdfast.pages.svg.line import Series, line_chart
from holdfast.pages.view import View
from holdfast.reports.growth import Growth, growth_of
from holdfast.reports.telling import TellingGroup, TellingReport, telling_of
from holdfast.reports.tuning import LEAST_JUDGED, WEEK

SPANS = (4, 12, 26, 52)
"""Weeks that can be chosen."""
LOSSES = ("missed", "let-go")
"""Charts of what went wrong or away, which have a colour of their own."""
LABELS = 4
"""Dates below a chart."""
OUTCOMES = {"heeded": "heeded", "ignored": "ignored", "overridden": "overridden", "failed": "failed anyway"}
"""What became of lessons that were told, in the words of the page; of all others nothing shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsQuery:
    """Over how many weeks."""

    weeks: Literal["4", "12", "26", "52"] = "12"


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsData:
    """What the stats say."""

    weeks: int
    spans: tuple[int, ...]
    telling: TellingReport
    growth: Growth
    learning: Spent | None
    """What this machine's calls of a language model took, for all projects. None on a server, which makes none, and on
    a page for others."""
    least_judged: int
    shows_waiting: bool
    """Unconfirmed lessons are counted, too: on a server only for those who decide on them."""


def make_stats(view: View, query: StatsQuery) -> Page:
    """Return the stats of a project over some weeks."""
    weeks = int(query.weeks)
    memory = view.memory
    telling = telling_of(memory.services, memory.location, weeks=weeks)
    shows_waiting = not (view.is_served or view.is_static) or view.may("review")
    growth = growth_of(memory.services, memory.location, weeks=weeks, with_waiting=shows_waiting)
    learning = None if view.is_served or view.is_static else spent(memory.settings, view.now, WEEK * weeks)
    data = StatsData(
        weeks=weeks,
        spans=SPANS,
        telling=telling,
        growth=growth,
        learning=learning,
        least_judged=LEAST_JUDGED,
        shows_waiting=shows_waiting,
    )
    return Page(template="stats", data=data, pictures=lambda: draw_stats(data))


PAGES = (PageRow(path="/p/{project}/stats", name="stats", title="Stats", make=make_stats, query=StatsQuery),)


def draw_stats(data: StatsData) -> dict[str, Markup]:
    """Return the charts of the page by name; a chart is missing where there is too little to draw."""
    charts = {}
    telling, growth = data.telling, data.growth
    if telling.stats.heeded.of >= LEAST_JUDGED:
        charts["outcomes"] = _outcomes(telling)
    if telling.stats.effect_on_heeding and telling.stats.effect_on_failures:
        charts["comparison"] = _comparison(telling)
        charts["effect"] = _effect(telling.stats.effect_on_heeding, telling.stats.effect_on_failures)
    if telling.stats.delivered:
        charts |= _told_by_week(telling)
    charts |= {name: _groups(name, groups) for name, groups in groups_of(telling).items()}
    if any(week.confirmed or week.unconfirmed or week.ended for week in growth.weeks):
        charts |= _growth(growth, data.shows_waiting)
    if growth.kinds:
        rows = [Row(name=name.replace("_", " "), value=count) for name, count in growth.kinds.items()]
        caption = Caption(
            ident="kinds", title="Confirmed lessons by kind", description="One bar for each kind, the largest first."
        )
        charts["kinds"] = row_chart(caption, rows, colour=3)
    return charts


def groups_of(telling: TellingReport) -> dict[str, Sequence[TellingGroup]]:
    """Return the kinds and the hosts with enough judged lessons for a share, where there are two or more of them."""
    groups = {"by-kind": telling.kinds, "by-host": telling.hosts}
    large = {name: [group for group in some if group.heeded.of >= LEAST_JUDGED] for name, some in groups.items()}
    return {name: some for name, some in large.items() if len(some) > 1}


def _interval(name: str, share: Share, colour: int) -> Interval:
    percent = share.share * 100
    words = f"{percent:.1f} %" if 0 < percent < 10 else f"{percent:.0f} %"
    return Interval(
        name=name, words=f"{words}, {share.count:,} of {share.of:,}", value=share.share, low=share.low,
        high=share.high, colour=colour,
    )  # fmt: skip


def _shares(caption: Caption, rows: Sequence[Interval]) -> Markup:
    """Return the picture of shares, over an axis that is no longer than they need."""
    return interval_chart(caption, rows, high=share_limit(max(row.high for row in rows)))


def _outcomes(telling: TellingReport) -> Markup:
    stats = telling.stats
    rows = [_interval(words, getattr(stats, name), 1) for name, words in OUTCOMES.items()]
    caption = Caption(
        ident="outcomes",
        title="What became of the lessons that were told",
        description=f"Of {stats.heeded.of:,} lessons told to {counted(stats.sessions, 'session')}, "
        f"{stats.heeded.count:,} were heeded. Each share has the interval that contains the truth in 95 of 100 cases.",
    )
    return _shares(caption, rows)


def _comparison(telling: TellingReport) -> Markup:
    stats = telling.stats
    rows = [
        _interval("heeded, told in the brief", telling.briefed, 1),
        _interval("heeded, withheld by chance", stats.heeded_without, 2),
        _interval("failed anyway, told in the brief", telling.briefed_failed, 1),
        _interval("failed, withheld by chance", stats.failed_without, 2),
    ]
    caption = Caption(
        ident="comparison",
        title="Told against withheld",
        description="The share heeded and the share failed, of lessons told in a brief and of those withheld from one.",
    )
    return _shares(caption, rows)


def _effect(heeding: Difference, failing: Difference) -> Markup:
    rows = [
        Interval(
            name=name, words=f"{effect.difference * 100:+.0f} points", value=effect.difference, low=effect.low,
            high=effect.high, colour=3, is_weak=not effect.is_clear,
        )
        for name, effect in (("heeded more often", heeding), ("failed more often", failing))
    ]  # fmt: skip
    caption = Caption(
        ident="effect",
        title="The difference that telling makes",
        description="Share where told minus share where withheld, with its interval. Across zero it may be chance.",
    )
    limit = share_limit(max(max(abs(row.low), abs(row.high)) for row in rows))
    return interval_chart(caption, rows, low=-limit, high=limit)


def _told_by_week(telling: TellingReport) -> dict[str, Markup]:
    days = [week.begin for week in telling.weeks]
    return _columns(days, {
        "tokens": ("Tokens spent on telling, a week", [week.tokens for week in telling.weeks]),
        "lessons": ("Lessons told, a week", [week.lessons for week in telling.weeks]),
        "missed": ("Lessons missed, a week", [week.missed for week in telling.weeks]),
    })  # fmt: skip


def _columns(days: Sequence[date], series: Mapping[str, tuple[str, Sequence[int]]]) -> dict[str, Markup]:
    """Return a chart of columns for each series that has a value, by name."""
    labels = date_labels(days)
    return {
        name: column_chart(
            Caption(ident=name, title=title, description=f"{sum(values):,} in all, {values[-1]:,} in the last week."),
            labels, values, colour=4 if name in LOSSES else 1,
        )
        for name, (title, values) in series.items()
        if any(values)
    }  # fmt: skip


def _groups(name: str, groups: Sequence[TellingGroup]) -> Markup:
    what = "kind" if name == "by-kind" else "host"
    rows = [_interval(group.name.replace("_", " "), group.heeded, 1) for group in groups]
    caption = Caption(
        ident=name,
        title=f"Heeded, by {what}",
        description=f"The share heeded of the lessons told, for each {what} with at least {LEAST_JUDGED} judged.",
    )
    return _shares(caption, rows)


def _growth(growth: Growth, shows_waiting: bool) -> dict[str, Markup]:
    days = [week.begin for week in growth.weeks]
    lines = [Series(name="confirmed", values=tuple(week.confirmed for week in growth.weeks), colour=1)]
    if shows_waiting:
        lines.append(Series(name="unconfirmed", values=tuple(week.unconfirmed for week in growth.weeks), colour=2))
    lines.append(Series(name="ended", values=tuple(week.ended for week in growth.weeks), colour=4))
    caption = Caption(
        ident="growth",
        title="Lessons at the end of each week",
        description=", ".join(f"{line.name} {line.values[-1]:,.0f}" for line in lines)
        + " at the end. Ended lessons were "
        "replaced, retired or forgotten.",
    )
    return {"growth": line_chart(caption, date_labels(days), lines)} | _columns(days, {
        "learnt": ("Lessons learnt, a week", [week.learnt for week in growth.weeks]),
        "revised": ("Lessons changed, a week", [max(week.versions - week.learnt, 0) for week in growth.weeks]),
        "let-go": ("Lessons let go, a week", [max(week.let_go, 0) for week in growth.weeks]),
    })  # fmt: skip


def date_labels(days: Sequence[date]) -> list[str]:
    """Return a label for the last day and for some before it at equal distances; empty labels for the others."""
    step = max(len(days) // LABELS, 1)
    return [f"{day.day} {day:%b}" if (len(days) - 1 - index) % step == 0 else "" for index, day in enumerate(days)]
