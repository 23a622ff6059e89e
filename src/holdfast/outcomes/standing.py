"""Standing: the sum of a lesson's outcomes, and its place in the order of what is told.

Outcomes move the order and nothing else (ADR 24): no state, no threshold. A standing is a pure function of the outcomes
since a person last vouched for the lesson, so counting twice changes nothing. The learner and `feedback` store the
evidence of all lessons of a project as one state, which a delivery reads.

To estimate the effect of lessons, some lines of a session's brief are withheld. The draw is a function of session and
lesson, so every process and every moment of a session gets the same result.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from holdfast.domain.briefing import Ranked
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Change, Outcome
from holdfast.domain.statefamilies import OUTCOME_WEIGHTS
from holdfast.domain.vocabulary import LessonId, Moment, ProjectId, SessionId, Verdict
from holdfast.errors import StoreError
from holdfast.lean.texts import dumps, loads
from holdfast.outcomes.tuning import (
    HURT_FACTOR,
    KEPT_LESSONS,
    LEAST_FACTOR,
    LEAST_OUTCOMES,
    MOST_FACTOR,
    OVERRIDES_TO_DOUBT,
    PRIOR_NEEDED,
    PRIOR_NOT,
    SETTLED_MOST,
    STATED,
    STATED_BY_AGENT,
)
from holdfast.ports.services import Services
from holdfast.ports.store import LogFilter, Store

BRIEF: Moment = "session_start"
"""The only moment at which chance withholds lessons."""
WORD = 0xFFFFFFFF
"""All bits of a check sum."""

AGENT = "agent"
"""`Outcome.judge` of an agent's statement."""
PERSONAL = ("remember", "accept", "confirm", "revise", "undo", "edit", "import")
"""Verbs of changes by which somebody vouches for a lesson: outcomes before them no longer count."""
NEEDED = ("heeded", "helped", "missed")
NOT_NEEDED = ("ignored", "overridden")
WITHDRAWN: Verdict = "unclear"
"""The verdict of a person's statement that takes back what was stated against a lesson; it counts for nothing."""
NAME = "outcome"
"""Name of the factor among a result's multipliers."""
_COUNTED = ("heeded", "helped", "ignored", "overridden", "failed", "hurt")


def is_withheld(session: SessionId, lesson: LessonId, share: float) -> bool:
    """Return whether the lesson is withheld from the session; true for about that share of all pairs."""
    return share > 0 and _draw(f"{session}\n{lesson}") < share


def may_withhold(lesson: Lesson) -> bool:
    """Return whether chance may withhold the lesson from a brief; never what a person stated or pinned."""
    return not lesson.pinned and lesson.trust != "person"


def withheld_outcomes(
    services: Services, location: Location, call: HookCall, moment: Moment, lessons: Iterable[LessonId], trigger: str
) -> list[Outcome]:
    """Return log records of what was withheld. Each pair of session and lesson has one id, so it is stored once."""
    at = services.clock.now()
    return [
        Outcome(
            id=outcome_id(call.session, lesson, "withheld"), at=at, project=location.project.id,
            session=call.session, lesson=lesson, verdict="withheld", judge="holdout/1", moment=moment,
            trigger=trigger, withheld=True,
        )
        for lesson in lessons
    ]  # fmt: skip


def outcome_id(session: SessionId, lesson: LessonId, what: str) -> str:
    """Return the id of a lesson's only outcome of that sort in a session."""
    return f"{what}:{lesson}:{session}"


def _draw(text: str) -> float:
    """Return a pseudo-random number in [0, 1): a check sum, mixed so that similar texts get unrelated numbers.

    A check sum alone is linear: two lessons would be withheld together in all sessions or in none.
    """
    mixed = crc32(text.encode("utf-8", "surrogatepass"))
    mixed = ((mixed ^ (mixed >> 16)) * 0x85EBCA6B) & WORD
    mixed = ((mixed ^ (mixed >> 13)) * 0xC2B2AE35) & WORD
    return (mixed ^ (mixed >> 16)) / (WORD + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The sums of a lesson's outcomes, and their consequence for the order."""

    told: int = 0
    """Sessions that were told the lesson and judged."""
    heeded: int = 0
    helped: int = 0
    ignored: int = 0
    overridden: int = 0
    failed: int = 0
    hurt: int = 0
    missed: int = 0
    withheld: int = 0
    """Sessions from which it was withheld and that were judged."""
    anyway: int = 0
    """Those of them that did what it says."""
    needed: int = 0
    """Sessions in which it was heeded, helped or was missed."""
    credit: int = 0
    """Heeded uses, plus statements that it helped by their weight."""
    harm: int = 0
    """Overrides, plus statements that it hurt by their weight."""
    is_hurt: bool = False
    """Whether statements that it hurt outweigh those that it helped."""
    factor: float = 1.0

    @property
    def is_doubted(self) -> bool:
        """Whether a person should decide: somebody reported harm, or users stated the opposite more than once."""
        return self.is_hurt or (self.overridden >= OVERRIDES_TO_DOUBT and self.harm > self.credit)

    @property
    def words(self) -> str:
        """The sums in one line: `2 heeded, 1 missed`."""
        parts = [f"{getattr(self, verdict)} {verdict}" for verdict in _COUNTED if getattr(self, verdict)]
        parts += [f"{self.missed} missed"] if self.missed else []
        return ", ".join(parts) or "no outcome yet"

    @property
    def estimate(self) -> str:
        """What telling it changed, as far as it is known: `told 9 times, heeded 4; withheld 2 times, done anyway 1`."""
        if not (self.told or self.withheld):
            return ""
        withheld = f"; withheld {_times(self.withheld)}, done anyway {self.anyway}" if self.withheld else ""
        return f"told {_times(self.told)}, heeded {self.heeded}{withheld}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEvidence:
    """What outcomes say of each lesson of a project, as the state holds it; a lesson without outcomes is absent."""

    factors: Mapping[LessonId, float]
    """HURT_FACTOR, or LEAST_FACTOR to MOST_FACTOR."""
    needed: Mapping[LessonId, int]
    """In how many sessions the lesson was heeded, helped or was missed."""

    def is_hurt(self, lesson: LessonId) -> bool:
        """Return whether somebody reported the lesson as harmful, so that it comes after all others."""
        return self.factors.get(lesson, 1.0) < LEAST_FACTOR

    def apply(self, ranked: Ranked) -> Ranked:
        """Return the result with its factor among the multipliers and in its score."""
        factor = self.factors.get(ranked.lesson.id, 1.0)
        if factor == 1.0:
            return ranked
        why = replace(ranked.why, multipliers=(*ranked.why.multipliers, (NAME, factor)))
        return replace(ranked, score=ranked.score * factor, why=why)


NO_EVIDENCE = OrderEvidence(factors={}, needed={})


def order_factors(store: Store, project: ProjectId) -> Mapping[LessonId, float]:
    """Return the factor of each lesson's place in the order; 1 for a lesson that is absent. One small read."""
    return order_evidence(store, project).factors


def order_evidence(store: Store, project: ProjectId) -> OrderEvidence:
    """Return the project's evidence; none if there is none or it cannot be read, so that delivery goes on."""
    try:
        text = store.get_state(OUTCOME_WEIGHTS, project)
        lessons = loads(text)["order"] if text else {}
        rows = [(LessonId(str(id_)), float(factor), int(needed)) for id_, (factor, needed) in lessons.items()]
    except (AttributeError, KeyError, OverflowError, StoreError, TypeError, ValueError):
        return NO_EVIDENCE
    return OrderEvidence(
        factors={id_: min(MOST_FACTOR, max(HURT_FACTOR, factor)) for id_, factor, _ in rows if factor == factor},
        needed={id_: needed for id_, _, needed in rows if needed > 0},
    )


def store_evidence(store: Store, project: ProjectId) -> None:
    """Compute the evidence of all lessons of the project from the log, and store it."""
    lessons = {
        lesson: standing
        for lesson, standing in standings(store, project).items()
        if standing.factor != 1.0 or standing.needed
    }
    order = sorted(lessons, key=lambda lesson: (not lessons[lesson].is_hurt, -lessons[lesson].needed, lesson))
    rows = {lesson: [lessons[lesson].factor, lessons[lesson].needed] for lesson in order[:KEPT_LESSONS]}
    store.set_state(OUTCOME_WEIGHTS, project, dumps({"order": rows}) if rows else "")


def standings(store: Store, project: ProjectId) -> dict[LessonId, Standing]:
    """Return the standing of each lesson of the project that has outcomes."""
    where = LogFilter(project=project, limit=SETTLED_MOST)
    by_lesson: dict[LessonId, list[Outcome]] = {}
    for outcome in store.find_records(Outcome, where):
        by_lesson.setdefault(outcome.lesson, []).append(outcome)
    since: dict[LessonId, datetime] = {}
    for change in store.find_records(Change, where) if by_lesson else ():
        for lesson in change.lessons if change.verb in PERSONAL else ():
            since[lesson] = max(change.at, since.get(lesson, change.at))
    return {lesson: standing_of(outcomes, since.get(lesson)) for lesson, outcomes in by_lesson.items()}


def standing_now(store: Store, lesson: Lesson) -> Standing:
    """Return the lesson's standing by all its records in the log."""
    where = LogFilter(lesson=lesson.id, limit=SETTLED_MOST)
    return standing_of(store.find_records(Outcome, where), since_of(store.find_records(Change, where)))


def since_of(changes: Sequence[Change]) -> datetime | None:
    """Return when somebody last vouched for a lesson with these changes; None for never."""
    return max((change.at for change in changes if change.verb in PERSONAL), default=None)


def standing_of(outcomes: Iterable[Outcome], since: datetime | None = None) -> Standing:
    """Return the standing of one lesson by its outcomes, in any order; outcomes up to `since` do not count."""
    counted = standing_outcomes(outcomes, since)
    without = [outcome for outcome in counted if outcome.withheld and outcome.verdict != "withheld"]
    shown = [outcome for outcome in counted if not outcome.withheld]
    credit = sum(_worth(outcome) for outcome in shown if outcome.verdict in ("heeded", "helped"))
    harm = sum(_worth(outcome) for outcome in shown if outcome.verdict in ("overridden", "hurt"))
    helped = sum(_worth(outcome) for outcome in shown if outcome.verdict == "helped")
    hurt = sum(_worth(outcome) for outcome in shown if outcome.verdict == "hurt")
    counts: dict[str, Any] = {verdict: sum(outcome.verdict == verdict for outcome in shown) for verdict in _COUNTED}
    return Standing(
        told=sum(bool(o.judge) and o.judge != AGENT and o.verdict != "missed" for o in shown),
        missed=sum(outcome.verdict == "missed" for outcome in shown),
        withheld=len(without),
        anyway=sum(outcome.verdict == "heeded" for outcome in without),
        needed=len({outcome.session or outcome.id for outcome in shown if outcome.verdict in NEEDED}),
        credit=credit,
        harm=harm,
        is_hurt=hurt > helped,
        factor=HURT_FACTOR if hurt > helped else _factor(shown),
        **counts,
    )


def standing_outcomes(outcomes: Iterable[Outcome], since: datetime | None = None) -> list[Outcome]:
    """Return the outcomes that count: those after `since`, without statements of harm that were taken back."""
    counted = [outcome for outcome in outcomes if since is None or outcome.at > since]
    taken_back = max((each.at for each in counted if each.verdict == WITHDRAWN and not each.judge), default=None)
    if taken_back is None:
        return counted
    return [each for each in counted if each.judge or each.verdict != "hurt" or each.at > taken_back]


def _factor(outcomes: Sequence[Outcome]) -> float:
    """Return the posterior odds of need over the prior odds (Beta distribution), within the factor's range."""
    needed = sum(_worth(outcome) for outcome in outcomes if outcome.verdict in NEEDED)
    unneeded = sum(_worth(outcome) for outcome in outcomes if outcome.verdict in NOT_NEEDED)
    if needed + unneeded < LEAST_OUTCOMES:
        return 1.0
    odds = (PRIOR_NEEDED + needed) / (PRIOR_NOT + unneeded) * PRIOR_NOT / PRIOR_NEEDED
    return round(min(MOST_FACTOR, max(LEAST_FACTOR, odds)), 3)


def _worth(outcome: Outcome) -> int:
    """Return how many inferred outcomes it counts for."""
    if outcome.judge == "":
        return STATED
    return STATED_BY_AGENT if outcome.judge == AGENT else 1


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
