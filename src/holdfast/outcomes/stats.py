"""Stats: the outcomes of deliveries, by project, session and overall, and the difference that telling makes.

A line that was withheld from a session's brief is judged like one that was told there, whatever came later in the
session, so the two groups differ only by chance and by the brief. The difference between them is the only benefit that
is claimed, and only where enough was withheld.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt

from holdfast.domain.project import Location
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.vocabulary import STATES, LessonId, ProjectId, SessionId
from holdfast.outcomes.standing import BRIEF
from holdfast.outcomes.tuning import COUNTED_MOST, DEVIATIONS, LEAST_WITHHELD, PRIOR_SESSIONS
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter

ALL = "all projects"
JUDGED = ("heeded", "ignored", "overridden", "failed", "unclear")


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`count` of `of`, with an interval that contains the truth in 95 of 100 cases."""

    count: int = 0
    of: int = 0
    low: float = 0.0
    high: float = 1.0

    @property
    def share(self) -> float:
        """The ratio; 0 where there is nothing to divide."""
        return self.count / self.of if self.of else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One share minus another, with its interval."""

    difference: float = 0.0
    low: float = -1.0
    high: float = 1.0

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


def share_of(sessions: Sequence[tuple[int, int]]) -> Share:
    """Return the share of hits over sessions, each given as (hits, of)."""
    hits, total = sum(pair[0] for pair in sessions), sum(pair[1] for pair in sessions)
    if not total:
        return Share()
    centre, variance = _centre_and_variance(sessions)
    margin = DEVIATIONS * sqrt(variance)
    low, high = max(0.0, min(centre - margin, hits / total)), min(1.0, max(centre + margin, hits / total))
    return Share(count=hits, of=total, low=low, high=high)


def difference_of(pairs: Sequence[tuple[int, int]], other_pairs: Sequence[tuple[int, int]]) -> Difference:
    """Return the share of the first group of sessions minus the second's; the whole range if a group is empty."""
    first, second = share_of(pairs), share_of(other_pairs)
    if not first.of or not second.of:
        return Difference()
    (centre, variance), (other_centre, other_variance) = _centre_and_variance(pairs), _centre_and_variance(other_pairs)
    margin = DEVIATIONS * sqrt(variance + other_variance)
    middle = centre - other_centre
    return Difference(
        difference=first.share - second.share, low=max(-1.0, middle - margin), high=min(1.0, middle + margin)
    )


def _centre_and_variance(sessions: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Return the share with the unobserved sessions added, and the variance of that ratio over sessions."""
    observed = [pair for pair in sessions if pair[1]]
    size = PRIOR_SESSIONS * sum(pair[1] for pair in observed) / len(observed)
    padded = [*observed, (size, size), (0.0, size)]
    total = sum(pair[1] for pair in padded)
    centre = sum(pair[0] for pair in padded) / total
    return centre, sum((hits - centre * of) ** 2 for hits, of in padded) / total**2


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Counts, shares with their intervals, and differences of one project, or of all projects."""

    project: ProjectId
    name: str = ""
    sessions: int = 0
    """Sessions that were told something, or from which something was withheld."""
    delivered: int = 0
    tokens: int = 0
    heeded: Share = field(default_factory=Share)
    """Share of the lessons told, by session and lesson, that were followed."""
    ignored: Share = field(default_factory=Share)
    overridden: Share = field(default_factory=Share)
    failed: Share = field(default_factory=Share)
    """Share of those whose failure occurred anyway."""
    unclear: Share = field(default_factory=Share)
    helped: int = 0
    hurt: int = 0
    missed: int = 0
    withheld: int = 0
    heeded_without: Share = field(default_factory=Share)
    """Share of the withheld lessons that were followed without the brief."""
    failed_without: Share = field(default_factory=Share)
    effect_on_heeding: Difference | None = None
    """Share heeded of the lessons told in a brief minus that of those withheld; None if too few were withheld."""
    effect_on_failures: Difference | None = None
    """The same for failures; negative where telling prevents them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSums:
    """The sums of one session. A lesson that was told twice counts once."""

    session: SessionId
    told: int = 0
    heeded: int = 0
    ignored: int = 0
    overridden: int = 0
    failed: int = 0
    missed: int = 0
    withheld: int = 0
    learnt: int = 0
    tokens: int = 0
    judged: int = 0
    """How many of the lessons told were judged; the others wait for the session's end."""

    @property
    def words(self) -> str:
        """The sums in one line: `told 4 (2 heeded), missed 1, learnt 3`."""
        counts = [(getattr(self, word), word) for word in ("heeded", "ignored", "overridden", "failed")]
        verdicts = [f"{count} {word}" for count, word in counts if count]
        verdicts += [f"{self.told - self.judged} not judged yet"] if self.judged < self.told else []
        came_to = f" ({', '.join(verdicts)})" if verdicts else ""
        withheld = f", withheld {self.withheld}" if self.withheld else ""
        return f"told {self.told}{came_to}, missed {self.missed}{withheld}, learnt {self.learnt}"


def stats_of(services: Services, location: Location, *, all_projects: bool = False) -> list[Stats]:
    """Return the stats of the location's project; or of all projects together, then of each, the busiest first."""
    own = location.project
    where = LogFilter(project=ProjectId("") if all_projects else own.id, limit=COUNTED_MOST)
    deliveries = find_deliveries(services, where)
    outcomes = services.store.find_records(Outcome, where)
    if not all_projects:
        return [sum_records(own.id, own.name, deliveries, outcomes)]
    projects = sorted({entry.project for entry in deliveries} | {entry.project for entry in outcomes})
    each = [
        sum_records(
            project,
            own.name if project == own.id else project,
            [delivery for delivery in deliveries if delivery.project == project],
            [outcome for outcome in outcomes if outcome.project == project],
        )
        for project in projects
    ]
    return [
        sum_records(ProjectId(""), ALL, deliveries, outcomes),
        *sorted(each, key=lambda stats: -stats.delivered),
    ]


def session_sums(services: Services, location: Location, session: SessionId | None = None) -> SessionSums | None:
    """Return the sums of a session of the project, by default of the latest with an entry; None without any."""
    session = session or _latest(services, location)
    if not session:
        return None
    where = LogFilter(project=location.project.id, session=session, limit=COUNTED_MOST)
    lessons = services.store.find(LessonFilter(project=location.project.id, states=STATES, limit=COUNTED_MOST))
    deliveries = find_deliveries(services, where)
    outcomes = services.store.find_records(Outcome, where)
    learnt = sum(lesson.provenance.session == session for lesson in lessons)
    if not (deliveries or outcomes or learnt):
        return None  # the session is unknown
    withheld = {outcome.lesson for outcome in outcomes if outcome.verdict == "withheld"}
    judged = [outcome for outcome in outcomes if outcome.id.startswith("judged:") and not outcome.withheld]
    return SessionSums(
        session=session,
        told=len({delivery.lesson for delivery in deliveries} - withheld),
        judged=len(judged),
        missed=sum(outcome.verdict == "missed" for outcome in outcomes),
        withheld=len(withheld),
        learnt=learnt,
        tokens=sum(delivery.tokens for delivery in deliveries),
        **{
            word: sum(outcome.verdict == word for outcome in judged)
            for word in ("heeded", "ignored", "overridden", "failed")
        },
    )


def withheld_lines(
    services: Services, location: Location, *, session: str = "", lesson: str = "", limit: int = 50
) -> list[Outcome]:
    """Return the records of lines that chance withheld from briefs of this project, newest first."""
    where = LogFilter(
        project=location.project.id, session=SessionId(session), lesson=LessonId(lesson), limit=COUNTED_MOST
    )
    records = services.store.find_records(Outcome, where)
    return [outcome for outcome in records if outcome.verdict == "withheld"][:limit]


def _latest(services: Services, location: Location) -> SessionId:
    """Return the session of the newest delivery, outcome or lesson of the project."""
    where = LogFilter(project=location.project.id, limit=1)
    dated = [(entry.at, entry.session) for entry in services.store.find_records(Delivery, where) if entry.session]
    dated += [(entry.at, entry.session) for entry in services.store.find_records(Outcome, where) if entry.session]
    for lesson in services.store.find(LessonFilter(project=location.project.id, states=STATES, limit=50)):
        if lesson.provenance.session:
            dated.append((lesson.recorded_at, lesson.provenance.session))
            break
    return max(dated)[1] if dated else SessionId("")


def find_deliveries(services: Services, where: LogFilter) -> list[Delivery]:
    """Return the deliveries of lessons, newest first, without those of purged ones.

    A restored checkpoint is logged like a lesson; it is left out.
    """
    deliveries = services.store.find_records(Delivery, where)
    known = services.store.current_versions(list({delivery.lesson for delivery in deliveries}))
    return [delivery for delivery in deliveries if delivery.lesson in known]


def sum_records(project: ProjectId, name: str, deliveries: Sequence[Delivery], outcomes: Sequence[Outcome]) -> Stats:
    """Return the stats of these deliveries and outcomes."""
    judged = [outcome for outcome in outcomes if outcome.verdict in JUDGED and outcome.id.startswith("judged:")]
    shown = [outcome for outcome in judged if not outcome.withheld]
    briefed = [outcome for outcome in shown if outcome.moment == BRIEF]
    without = [outcome for outcome in judged if outcome.withheld]
    withheld = [outcome for outcome in outcomes if outcome.verdict == "withheld"]

    def effect_on(verdict: str) -> Difference | None:
        is_enough = briefed and len(without) >= LEAST_WITHHELD
        return difference_of(pairs_of(briefed, verdict), pairs_of(without, verdict)) if is_enough else None

    heeded, ignored, overridden, failed, unclear = (share_of(pairs_of(shown, verdict)) for verdict in JUDGED)
    return Stats(
        project=project,
        name=name,
        sessions=len({entry.session for entry in deliveries} | {entry.session for entry in withheld}),
        delivered=len(deliveries),
        tokens=sum(delivery.tokens for delivery in deliveries),
        heeded=heeded,
        ignored=ignored,
        overridden=overridden,
        failed=failed,
        unclear=unclear,
        helped=sum(outcome.verdict == "helped" for outcome in outcomes),
        hurt=sum(outcome.verdict == "hurt" for outcome in outcomes),
        missed=sum(outcome.verdict == "missed" for outcome in outcomes),
        withheld=len(withheld),
        heeded_without=share_of(pairs_of(without, "heeded")),
        failed_without=share_of(pairs_of(without, "failed")),
        effect_on_heeding=effect_on("heeded"),
        effect_on_failures=effect_on("failed"),
    )


def pairs_of(outcomes: Iterable[Outcome], verdict: str) -> list[tuple[int, int]]:
    """Return (outcomes with that verdict, outcomes) of each session, for `share_of` and `difference_of`."""
    sums: dict[SessionId, tuple[int, int]] = {}
    for outcome in outcomes:
        hits, of = sums.get(outcome.session, (0, 0))
        sums[outcome.session] = hits + (outcome.verdict == verdict), of + 1
    return list(sums.values())
