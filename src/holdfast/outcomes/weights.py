"""Effects of outcomes on delivery: a factor for each lesson by moment and kind of work, and shifts of thresholds.

A factor is the odds that the lesson is needed there, relative to the odds of lessons in general. It stays between a
half and two, and is 1 until there are three outcomes. The learner computes all factors of a project (`weighing`) and
stores them as one state. Every delivery reads the state, which is empty for most projects, so this module imports
nothing that a hook has not loaded.
"""

from __future__ import annotations

from holdfast.domain.statefamilies import OUTCOME_WEIGHTS
from holdfast.errors import StoreError
from holdfast.lean.records import Frozen, replace
from holdfast.lean.texts import loads
from holdfast.outcomes.tuning import LEAST_FACTOR, LEAST_SHIFT, MOST_FACTOR, MOST_SHIFT
from holdfast.ranking.fuse import is_exact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from holdfast.domain.briefing import Ranked
    from holdfast.domain.vocabulary import LessonId, Moment, ProjectId
    from holdfast.ports.store import Store

    T = TypeVar("T")


NAME = "outcome"
"""Name of the factor among a result's multipliers."""


class OutcomeWeights(Frozen):
    """The factors and shifts of one project, as the state holds them."""

    lessons: dict[str, dict[str, float]]
    shifts: dict[str, float]

    def factor(self, lesson: LessonId, moment: Moment, work: str = "") -> float:
        """Return the factor at the moment for that kind of work; else the moment's, else the lesson's."""
        known = self.lessons.get(lesson, {})
        for key in (f"{moment}/{work}", moment, ""):
            if key in known:
                return within(known[key], LEAST_FACTOR, MOST_FACTOR)
        return 1.0

    def shift(self, moment: Moment) -> float:
        """Return the factor of the project's threshold at the moment."""
        return within(self.shifts.get(moment, 1.0), LEAST_SHIFT, MOST_SHIFT)

    def apply(self, ranked: Ranked, moment: Moment, work: str = "") -> Ranked:
        """Return the result with its factor among the multipliers and in its score."""
        factor = self.factor(ranked.lesson.id, moment, work)
        if factor == 1.0:
            return ranked
        why = replace(ranked.why, multipliers=(*ranked.why.multipliers, (NAME, factor)))
        return replace(ranked, score=ranked.score * factor, why=why)

    def rank(self, weighed: list[tuple[Ranked, T]], moment: Moment, work: str = "") -> list[tuple[Ranked, T]]:
        """Return the results, best first, with their factors. Exact matches stay before all others."""
        if not self.lessons:
            return weighed
        again = [(self.apply(ranked, moment, work), payload) for ranked, payload in weighed]
        return sorted(again, key=lambda pair: (not is_exact(pair[0].why.shares), -pair[0].score, pair[0].lesson.id))


NO_WEIGHTS = OutcomeWeights(lessons={}, shifts={})


def load_weights(store: Store, project: ProjectId) -> OutcomeWeights:
    """Return the project's weights; neutral ones if there are none or they cannot be read, so that delivery goes on."""
    try:
        text = store.get_state(OUTCOME_WEIGHTS, project)
    except StoreError:
        return NO_WEIGHTS
    if not text:
        return NO_WEIGHTS
    try:
        plain = loads(text)
        return OutcomeWeights(lessons=_numbers_in(plain["lessons"]), shifts=_numbers_in({"": plain["shifts"]})[""])
    except (AttributeError, KeyError, TypeError, ValueError):
        return NO_WEIGHTS


def within(number: float, least: float, most: float) -> float:
    """Return the number, limited to the bounds."""
    return min(most, max(least, number))


def _numbers_in(plain: Any) -> dict[str, dict[str, float]]:
    """Return the tables of numbers in a state's value; raises for anything else."""
    return {str(name): {str(key): float(value) for key, value in table.items()} for name, table in plain.items()}
