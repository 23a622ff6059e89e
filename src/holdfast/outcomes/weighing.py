"""Turns outcomes into weights: a factor for each lesson and a shift for each moment. `weights` describes their use."""

from __future__ import annotations

from holdfast.lean.texts import dumps
from holdfast.outcomes.tuning import (
    KEPT_LESSONS,
    LEAST_FACTOR,
    LEAST_OUTCOMES,
    MOST_FACTOR,
    MOST_SHIFT,
    PRIOR_NEEDED,
    PRIOR_NOT,
    SHIFT_OUTCOMES,
    STATED_COUNT,
)
from holdfast.outcomes.weights import OutcomeWeights, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.domain.records import Outcome

NEEDED = ("heeded", "helped", "missed")
NOT_NEEDED = ("ignored", "overridden", "hurt")


def weights_of(outcomes: Iterable[Outcome]) -> OutcomeWeights:
    """Return the weights that result from a project's outcomes."""
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
    return OutcomeWeights(lessons={lesson: telling[lesson] for lesson in furthest}, shifts=shifts)


def factors_of(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return a lesson's factors: for each moment and work, for each moment, and overall, if outcomes suffice."""
    cells: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        for key in dict.fromkeys((f"{outcome.moment}/{outcome.work}", outcome.moment, "")):
            cells.setdefault(key, []).append(outcome)
    return {key: factor_of(cell) for key, cell in cells.items() if sum(map(_count, cell)) >= LEAST_OUTCOMES}


def factor_of(outcomes: Sequence[Outcome]) -> float:
    """Return the posterior odds of need over the prior odds (Beta distribution), within the factor's range."""
    needed = sum(_count(outcome) for outcome in outcomes if outcome.verdict in NEEDED)
    unneeded = sum(_count(outcome) for outcome in outcomes if outcome.verdict in NOT_NEEDED)
    odds = (PRIOR_NEEDED + needed) / (PRIOR_NOT + unneeded)
    return round(within(odds * PRIOR_NOT / PRIOR_NEEDED, LEAST_FACTOR, MOST_FACTOR), 3)


def shift_of(outcomes: Sequence[Outcome]) -> float:
    """Return a shift above 1 where most of what is told is not needed, below 1 where needs are missed; by a tenth."""
    if len(outcomes) < SHIFT_OUTCOMES:
        return 1.0
    unneeded = sum(outcome.verdict in NOT_NEEDED for outcome in outcomes)
    balance = (2 * unneeded - len(outcomes)) / len(outcomes)
    return round(1.0 + (MOST_SHIFT - 1.0) * balance, 3)


def _count(outcome: Outcome) -> int:
    return 1 if outcome.judge else STATED_COUNT


def render_weights(weights: OutcomeWeights) -> str:
    """Return the state's text; empty when every factor and shift is 1."""
    if not weights.lessons and not weights.shifts:
        return ""
    return dumps({"lessons": weights.lessons, "shifts": weights.shifts})
