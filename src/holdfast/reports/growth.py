"""Growth: how many lessons a memory had at the end of each week, what it learnt, revised and let go of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from itertools import dropwhile

from holdfast.curation.review import ENDED, WAITING
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import STATES, State
from holdfast.ports.services import Services
from holdfast.ports.store import EVERY, LessonFilter, VersionSpan
from holdfast.reports.keptcounts import kept_count
from holdfast.reports.telling import monday
from holdfast.reports.tuning import WEEK


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowthWeek:
    """A memory at the end of the week that begins on that Monday, and what the week changed."""

    begin: date
    confirmed: int = 0
    unconfirmed: int = 0
    ended: int = 0
    """Lessons that were replaced, retired or forgotten until then."""
    learnt: int = 0
    """New lessons of the week."""
    let_go: int = 0
    """Lessons that ended in the week, less those that came back."""
    versions: int = 0
    """Versions that were written in the week, those of new lessons included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """How a memory grew and what it let go of."""

    weeks: tuple[GrowthWeek, ...] = ()
    """From the first week with a lesson."""
    kinds: Mapping[str, int]
    """Confirmed lessons of each kind, the most frequent first."""
    states: Mapping[str, int]
    """Lessons in each state now, the most frequent first."""


def growth_of(services: Services, location: Location, *, weeks: int, with_waiting: bool = True) -> Growth:
    """Return the growth over the last weeks, the present one included.

    Without `with_waiting`, unconfirmed lessons count nowhere: on a server most members do not see others' proposals.
    """
    last = monday(services.clock.now()) + WEEK
    what = "growth", weeks, last, with_waiting
    return kept_count(services, location, what, lambda: _grown(services, location, weeks, last, with_waiting))


def _grown(services: Services, location: Location, weeks: int, last: datetime, with_waiting: bool) -> Growth:
    """Return the growth over the weeks up to that Monday."""
    project = location.project.id
    first = last - WEEK * weeks  # the beginning of the first week; one end before it says what there was already
    states = STATES if with_waiting else ("active", *ENDED)
    every_span = services.store.count_versions(project, first, WEEK, weeks + 1)
    spans = [span for span in every_span if span.state in states]
    current: Counter[str] = Counter()
    for span in spans:
        current[span.state] += span.count if span.end is None else 0
    confirmed = LessonFilter(project=project, states=("active",), limit=EVERY)
    every = [_week(spans, number, first.date() + WEEK * (number - 1)) for number in range(1, weeks + 1)]
    return Growth(
        weeks=tuple(dropwhile(lambda week: not (week.confirmed or week.unconfirmed or week.ended), every)),
        kinds=services.store.count_by(confirmed, "kind", 20),
        states=dict((+current).most_common()),
    )


def _week(spans: list[VersionSpan], end: int, begin: date) -> GrowthWeek:
    """Return the week between two of the instants that versions were counted by: `end` and the one before."""

    def count(states: tuple[State, ...], at: int) -> int:
        return sum(span.count for span in spans if span.state in states and span.is_current_at(at))

    confirmed, unconfirmed, ended = (count(states, end) for states in (("active",), WAITING, ENDED))
    before = count(("active", *WAITING, *ENDED), end - 1)
    return GrowthWeek(
        begin=begin,
        confirmed=confirmed,
        unconfirmed=unconfirmed,
        ended=ended,
        learnt=confirmed + unconfirmed + ended - before,
        let_go=ended - count(ENDED, end - 1),
        versions=sum(span.count for span in spans if span.begin == end),
    )
