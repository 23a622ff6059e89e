"""Telling: what became of the lessons that sessions were told, week by week, by kind, by host, and against chance.

It reads the records of a span of time, the newest up to a limit; the report says when they begin. Shares have the
intervals of `outcomes.stats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from holdfast.domain.project import Location
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.outcomes.standing import BRIEF
from holdfast.outcomes.stats import JUDGED, Share, Stats, find_deliveries, pairs_of, share_of, sum_records
from holdfast.outcomes.tuning import LEAST_WITHHELD
from holdfast.ports.services import Services
from holdfast.ports.store import LogFilter, get_readable
from holdfast.reports.keptcounts import kept_answer, newest_change
from holdfast.reports.tuning import KINDS_LESSONS, TELLING_RECORDS, WEEK

UNKNOWN_HOST = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class TellingWeek:
    """What sessions were told in the week that begins on that Monday."""

    begin: date
    sessions: int = 0
    """Sessions that were told something."""
    lessons: int = 0
    """Lessons that were shown, each time counted."""
    tokens: int = 0
    heeded: int = 0
    missed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TellingGroup:
    """What became of the lessons of one kind, or of those told in one host."""

    name: str
    heeded: Share


@dataclass(frozen=True, slots=True, kw_only=True)
class TellingReport:
    """What sessions were told since a day, and what came of it."""

    since: datetime
    """The first instant that the records cover."""
    is_part: bool
    """There were more records since the day that was asked for: only the newest were read."""
    stats: Stats
    briefed: Share
    """Share heeded of the lessons told in a brief: what `stats.heeded_without` is compared with."""
    briefed_failed: Share
    """Share of these whose failure came all the same."""
    least_withheld: int = LEAST_WITHHELD
    """Withheld lessons from which a difference is told."""
    weeks: tuple[TellingWeek, ...] = ()
    """From the first week in which something was told or judged."""
    kinds: tuple[TellingGroup, ...] = ()
    hosts: tuple[TellingGroup, ...] = ()


def telling_of(services: Services, location: Location, *, weeks: int) -> TellingReport:
    """Return what the project's sessions were told in the last weeks, the present one included.

    What was told and judged is summed up anew when there is a newer delivery or outcome, or after a minute.
    """
    newest = LogFilter(project=location.project.id, limit=1)
    shown = [delivery.id for delivery in services.store.find_records(Delivery, newest)]
    judged = [outcome.id for outcome in services.store.find_records(Outcome, newest)]
    mark = " ".join((newest_change(services), *shown, *judged))
    now = services.clock.now()
    what = "telling", weeks, monday(now)
    return kept_answer(services, location, what, mark, lambda: _summed(services, location, weeks, now))


def _summed(services: Services, location: Location, weeks: int, now: datetime) -> TellingReport:
    begin = monday(now) - WEEK * (weeks - 1)
    where = LogFilter(project=location.project.id, since=begin, limit=TELLING_RECORDS)
    deliveries = find_deliveries(services, where)
    outcomes = services.store.find_records(Outcome, where)
    since = begin
    if is_part := max(len(deliveries), len(outcomes)) >= TELLING_RECORDS:
        since = max(records[-1].at for records in (deliveries, outcomes) if len(records) >= TELLING_RECORDS)
        deliveries = [delivery for delivery in deliveries if delivery.at >= since]
        outcomes = [outcome for outcome in outcomes if outcome.at >= since]
    judged = [outcome for outcome in outcomes if outcome.verdict in JUDGED and outcome.id.startswith("judged:")]
    shown = [outcome for outcome in judged if not outcome.withheld]
    briefed = [outcome for outcome in shown if outcome.moment == BRIEF]
    hosts: dict[SessionId, str] = {delivery.session: delivery.host for delivery in deliveries}
    kinds = _kinds(services, shown)
    return TellingReport(
        since=since,
        is_part=is_part,
        stats=sum_records(location.project.id, location.project.name, deliveries, outcomes),
        briefed=share_of(pairs_of(briefed, "heeded")),
        briefed_failed=share_of(pairs_of(briefed, "failed")),
        weeks=tuple(_weeks(deliveries, outcomes, monday(now))),
        kinds=_groups((kinds.get(outcome.lesson, ""), outcome) for outcome in shown),
        hosts=_groups((hosts.get(outcome.session, UNKNOWN_HOST), outcome) for outcome in shown),
    )


def monday(at: datetime) -> datetime:
    """Return the beginning of the week of that instant, in UTC."""
    return at.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=at.weekday())


def _kinds(services: Services, outcomes: Sequence[Outcome]) -> Mapping[LessonId, str]:
    """Return the kinds of the lessons that the newest outcomes are about."""
    ids = list(dict.fromkeys(outcome.lesson for outcome in outcomes))[:KINDS_LESSONS]
    return {lesson.id: lesson.kind for lesson in get_readable(services.store, ids)}


def _groups(named: Iterable[tuple[str, Outcome]]) -> tuple[TellingGroup, ...]:
    """Return the share heeded of each name, the name with the most outcomes first; empty names are left out."""
    outcomes: dict[str, list[Outcome]] = {}
    for name, outcome in named:
        if name:
            outcomes.setdefault(name, []).append(outcome)
    groups = [TellingGroup(name=name, heeded=share_of(pairs_of(some, "heeded"))) for name, some in outcomes.items()]
    return tuple(sorted(groups, key=lambda group: (-group.heeded.of, group.name)))


def _weeks(deliveries: Sequence[Delivery], outcomes: Sequence[Outcome], last: datetime) -> list[TellingWeek]:
    """Return the weeks from the first with a record to the last."""
    by_week: dict[datetime, tuple[list[Delivery], list[Outcome]]] = {}
    for delivery in deliveries:
        by_week.setdefault(monday(delivery.at), ([], []))[0].append(delivery)
    for outcome in outcomes:
        by_week.setdefault(monday(outcome.at), ([], []))[1].append(outcome)
    first = min(by_week, default=last)
    count = (last - first) // WEEK + 1
    return [_week(begin, *by_week.get(begin, ([], []))) for begin in (first + WEEK * index for index in range(count))]


def _week(begin: datetime, deliveries: Sequence[Delivery], outcomes: Sequence[Outcome]) -> TellingWeek:
    return TellingWeek(
        begin=begin.date(),
        sessions=len({delivery.session for delivery in deliveries}),
        lessons=len(deliveries),
        tokens=sum(delivery.tokens for delivery in deliveries),
        heeded=sum(outcome.verdict == "heeded" and not outcome.withheld for outcome in outcomes),
        missed=sum(outcome.verdict == "missed" for outcome in outcomes),
    )
