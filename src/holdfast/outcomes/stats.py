"""Stats: the outcomes of deliveries, by project and overall, with intervals, compared with withheld lessons.

A withheld lesson is judged like a delivered one, so the two differ only by the delivery. Compared are the share of
sessions that did what the lesson says anyway, and the share in which its failure occurred, with and without it.
"""

from __future__ import annotations

from holdfast.domain.kinds import profile_of
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.vocabulary import LessonId, LessonKind, ProjectId
from holdfast.lean.records import Frozen
from holdfast.outcomes.estimate import Difference, Share, difference_of, pairs_by_session, share_of
from holdfast.outcomes.tuning import COUNTED_MOST, LEAST_WITHHELD
from holdfast.ports.filters import LessonFilter, LogFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.domain.project import Location
    from holdfast.ports.services import Services

ALL = "all projects"
JUDGED = ("heeded", "ignored", "overridden", "failed", "unclear")


class Stats(Frozen):
    """Counts, shares with their intervals, and differences of one project, or of all projects."""

    project: ProjectId
    name: str = ""
    sessions: int = 0
    """Sessions that were told something, or from which something was withheld."""
    delivered: int = 0
    tokens: int = 0
    heeded: Share = Share()
    """Share of the lessons told, by session and lesson, that were followed."""
    ignored: Share = Share()
    overridden: Share = Share()
    failed: Share = Share()
    """Share of those whose failure occurred anyway."""
    unclear: Share = Share()
    helped: int = 0
    hurt: int = 0
    missed: int = 0
    withheld: int = 0
    heeded_without: Share = Share()
    """Share of the withheld lessons that were followed without being told."""
    failed_without: Share = Share()
    effect_on_heeding: Difference = Difference()
    effect_on_failures: Difference = Difference()
    """Share of failures with the lesson minus that without it; negative where telling prevents failures."""
    minutes_spared: float = 0.0
    """Minutes by each heeded lesson's kind, less those heeded without being told, if enough were withheld."""
    weeks: tuple[tuple[str, int, int], ...] = ()
    """(Monday, told, heeded) of each week, oldest first."""


def stats_of(services: Services, location: Location, all_projects: bool) -> list[Stats]:
    """Return the stats of the location's project; or of all projects together, then of each, the busiest first."""
    where = LogFilter(project=ProjectId("") if all_projects else location.project.id, limit=COUNTED_MOST)
    kinds = _kinds(services, location, all_projects)
    deliveries = [outcome for outcome in services.store.find_records(Delivery, where) if outcome.lesson in kinds]
    outcomes = services.store.find_records(Outcome, where)
    if not all_projects:
        return [_sum(location.project.id, location.project.name, deliveries, outcomes, kinds)]
    projects = {outcome.project for outcome in deliveries} | {outcome.project for outcome in outcomes}
    each = [
        _sum(
            project,
            location.project.name if project == location.project.id else project,
            [outcome for outcome in deliveries if outcome.project == project],
            [outcome for outcome in outcomes if outcome.project == project],
            kinds,
        )
        for project in sorted(projects)
    ]
    return [
        _sum(ProjectId(""), ALL, deliveries, outcomes, kinds),
        *sorted(each, key=lambda outcome: -outcome.delivered),
    ]


def _kinds(services: Services, location: Location, all_projects: bool) -> dict[LessonId, LessonKind]:
    """Return every lesson's kind; a restored checkpoint, which is logged like a lesson, has none."""
    from holdfast.domain.vocabulary import STATES

    where = LessonFilter(project=location.project.id, all_projects=all_projects, states=STATES, limit=COUNTED_MOST)
    return {lesson.id: lesson.kind for lesson in services.store.find(where)}


def _sum(
    project: ProjectId,
    name: str,
    deliveries: Sequence[Delivery],
    outcomes: Sequence[Outcome],
    kinds: dict[LessonId, LessonKind],
) -> Stats:
    judged = [outcome for outcome in outcomes if outcome.verdict in JUDGED and outcome.judge]
    told_outcomes = [outcome for outcome in judged if not outcome.withheld]
    without = [outcome for outcome in judged if outcome.withheld]
    sessions = {outcome.session for outcome in deliveries} | {
        outcome.session for outcome in outcomes if outcome.verdict == "withheld"
    }
    return Stats(
        project=project,
        name=name,
        sessions=len(sessions),
        delivered=len(deliveries),
        tokens=sum(delivery.tokens for delivery in deliveries),
        **{verdict: _share(told_outcomes, verdict) for verdict in JUDGED},
        helped=sum(outcome.verdict == "helped" for outcome in outcomes),
        hurt=sum(outcome.verdict == "hurt" for outcome in outcomes),
        missed=sum(outcome.verdict == "missed" for outcome in outcomes),
        withheld=sum(outcome.verdict == "withheld" for outcome in outcomes),
        heeded_without=_share(without, "heeded"),
        failed_without=_share(without, "failed"),
        effect_on_heeding=difference_of(_pairs(told_outcomes, "heeded"), _pairs(without, "heeded")),
        effect_on_failures=difference_of(_pairs(told_outcomes, "failed"), _pairs(without, "failed")),
        minutes_spared=_minutes(told_outcomes, without, kinds),
        weeks=_weeks(told_outcomes),
    )


def _share(outcomes: Sequence[Outcome], verdict: str) -> Share:
    return share_of(_pairs(outcomes, verdict))


def _pairs(outcomes: Iterable[Outcome], verdict: str) -> list[tuple[int, int]]:
    return pairs_by_session((outcome.session, outcome.verdict == verdict) for outcome in outcomes)


def _minutes(told_outcomes: Sequence[Outcome], without: Sequence[Outcome], kinds: dict[LessonId, LessonKind]) -> float:
    heeded = [outcome for outcome in told_outcomes if outcome.verdict == "heeded"]
    minutes = sum(
        profile_of(kinds[outcome.lesson]).rediscovery_minutes for outcome in heeded if outcome.lesson in kinds
    )
    if len(without) >= LEAST_WITHHELD and heeded:
        anyway = sum(outcome.verdict == "heeded" for outcome in without) / len(without)
        minutes *= max(0.0, 1 - anyway * len(told_outcomes) / len(heeded))
    return round(minutes, 1)


def _weeks(told_outcomes: Sequence[Outcome]) -> tuple[tuple[str, int, int], ...]:
    from datetime import timedelta

    counts: dict[str, tuple[int, int]] = {}
    for outcome in told_outcomes:
        monday = (outcome.at - timedelta(days=outcome.at.weekday())).date().isoformat()
        of, heeded = counts.get(monday, (0, 0))
        counts[monday] = of + 1, heeded + (outcome.verdict == "heeded")
    return tuple((monday, *counts[monday]) for monday in sorted(counts))
