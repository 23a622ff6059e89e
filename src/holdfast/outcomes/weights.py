"""What outcomes do to delivery: a factor for each lesson by moment and kind of work, and a shift of the thresholds.

A factor is the odds that the lesson is needed there, against the odds of lessons in general; it stays within a half and
two, and is one until three outcomes say something. The learner computes all of a project's and keeps them as one mark;
every delivery reads it, and it is empty for most projects, so nothing here is imported that a hook has not loaded.
"""

from __future__ import annotations

from holdfast.domain.statefamilies import OUTCOME_WEIGHTS
from holdfast.errors import StoreError
from holdfast.lean.records import Frozen, replace
from holdfast.lean.texts import dumps, loads
from holdfast.outcomes.tuning import (
    KEPT_LESSONS,
    LEAST_FACTOR,
    LEAST_OUTCOMES,
    LEAST_SHIFT,
    MOST_FACTOR,
    MOST_SHIFT,
    PRIOR_NEEDED,
    PRIOR_NOT,
    SHIFT_OUTCOMES,
    STATED_COUNT,
)
from holdfast.ranking.fuse import is_exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, TypeVar

    from holdfast.domain.briefing import Ranked
    from holdfast.domain.records import Outcome
    from holdfast.domain.vocabulary import LessonId, Moment, ProjectId
    from holdfast.ports.store import Store

    T = TypeVar("T")


NEEDED = ("heeded", "helped", "missed")
NOT_NEEDED = ("ignored", "overridden", "hurt")
NAME = "outcome"
"""Name of the factor among a result's multipliers."""


class Weights(Frozen):
    """The factors and shifts of one project, as the mark holds them."""

    lessons: dict[str, dict[str, float]]
    shifts: dict[str, float]

    def factor(self, lesson: LessonId, moment: Moment, work: str = "") -> float:
        """The factor at the moment for that kind of work; else that of the moment, else that of the lesson."""
        known = self.lessons.get(lesson, {})
        for key in (f"{moment}/{work}", moment, ""):
            if key in known:
                return _within(known[key], LEAST_FACTOR, MOST_FACTOR)
        return 1.0

    def shift(self, moment: Moment) -> float:
        """What the project's threshold at the moment is multiplied by."""
        return _within(self.shifts.get(moment, 1.0), LEAST_SHIFT, MOST_SHIFT)

    def apply(self, ranked: Ranked, moment: Moment, work: str = "") -> Ranked:
        """The result with its factor among the multipliers, and in its score."""
        factor = self.factor(ranked.lesson.id, moment, work)
        if factor == 1.0:
            return ranked
        why = replace(ranked.why, multipliers=(*ranked.why.multipliers, (NAME, factor)))
        return replace(ranked, score=ranked.score * factor, why=why)

    def rank(self, weighed: list[tuple[Ranked, T]], moment: Moment, work: str = "") -> list[tuple[Ranked, T]]:
        """The results, best first, with their factors. What matches exactly stays before all that does not."""
        if not self.lessons:
            return weighed
        again = [(self.apply(ranked, moment, work), payload) for ranked, payload in weighed]
        return sorted(again, key=lambda pair: (not is_exact(pair[0].why.shares), -pair[0].score, pair[0].lesson.id))


NO_WEIGHTS = Weights(lessons={}, shifts={})


def load_weights(store: Store, project: ProjectId) -> Weights:
    """The project's weights; none where there are none or they cannot be read: a delivery goes without."""
    try:
        text = store.get_state(OUTCOME_WEIGHTS, project)
    except StoreError:
        return NO_WEIGHTS
    if not text:
        return NO_WEIGHTS
    try:
        plain = loads(text)
        return Weights(lessons=_numbers_in(plain["lessons"]), shifts=_numbers_in({"": plain["shifts"]})[""])
    except (AttributeError, KeyError, TypeError, ValueError):
        return NO_WEIGHTS


def render_weights(weights: Weights) -> str:
    """The state's text; empty when every factor and shift is one."""
    if not weights.lessons and not weights.shifts:
        return ""
    return dumps({"lessons": weights.lessons, "shifts": weights.shifts})


def weights_of(outcomes: Iterable[Outcome]) -> Weights:
    """The weights that a project's outcomes give."""
    by_lesson: dict[str, list[Outcome]] = {}
    by_moment: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if not outcome.withheld and outcome.verdict in (*NEEDED, *NOT_NEEDED):
            by_lesson.setdefault(outcome.lesson, []).append(outcome)
            by_moment.setdefault(outcome.moment, []).append(outcome)
    factors = {lesson: factors_of(listed) for lesson, listed in by_lesson.items()}
    telling = {lesson: known for lesson, known in factors.items() if any(factor != 1.0 for factor in known.values())}
    furthest = sorted(telling, key=lambda lesson: -max(max(f, 1 / f) for f in telling[lesson].values()))[:KEPT_LESSONS]
    shifts = {moment: shift for moment, listed in by_moment.items() if (shift := shift_of(listed)) != 1.0}
    return Weights(lessons={lesson: telling[lesson] for lesson in furthest}, shifts=shifts)


def factors_of(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """A lesson's factors: of every moment and kind of work that has enough outcomes, of each moment, and overall."""
    cells: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        for key in dict.fromkeys((f"{outcome.moment}/{outcome.work}", outcome.moment, "")):
            cells.setdefault(key, []).append(outcome)
    return {key: factor_of(cell) for key, cell in cells.items() if sum(map(_count, cell)) >= LEAST_OUTCOMES}


def factor_of(outcomes: Sequence[Outcome]) -> float:
    """Odds of need by the posterior of a Beta distribution, over the odds of its prior, within the factor's range."""
    needed = sum(_count(outcome) for outcome in outcomes if outcome.verdict in NEEDED)
    unneeded = sum(_count(outcome) for outcome in outcomes if outcome.verdict in NOT_NEEDED)
    odds = (PRIOR_NEEDED + needed) / (PRIOR_NOT + unneeded)
    return round(_within(odds * PRIOR_NOT / PRIOR_NEEDED, LEAST_FACTOR, MOST_FACTOR), 3)


def shift_of(outcomes: Sequence[Outcome]) -> float:
    """Up where what is told is mostly not needed, down where needs are missed; by a tenth at most."""
    if len(outcomes) < SHIFT_OUTCOMES:
        return 1.0
    unneeded = sum(outcome.verdict in NOT_NEEDED for outcome in outcomes)
    balance = (2 * unneeded - len(outcomes)) / len(outcomes)
    return round(1.0 + (MOST_SHIFT - 1.0) * balance, 3)


def _count(outcome: Outcome) -> int:
    return 1 if outcome.judge else STATED_COUNT


def _within(number: float, least: float, most: float) -> float:
    return min(most, max(least, number))


def _numbers_in(plain: Any) -> dict[str, dict[str, float]]:
    """The tables of numbers of a mark; raises for what is none."""
    return {str(name): {str(key): float(value) for key, value in table.items()} for name, table in plain.items()}
