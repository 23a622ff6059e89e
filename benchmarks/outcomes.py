"""Simulates sessions with known effects and asks what outcomes make of them: who rises, who falls, what is covered.

    python -m benchmarks.outcomes [--worlds 60] [--json F]

In a world, lessons are helpful (followed in 60 of 100 sessions that are told them, in 15 of those that are not, and
their failure comes in 10 instead of 40), idle (5, 5, 20, 20) or harmful (overridden in 50 of 100). Every step is the
shipped one: the draw of what is withheld, standing, stats' estimates. The truth is known, so bias and coverage
can be counted. Nothing is downloaded, and nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import mean
from typing import Any
from uuid import UUID

from holdfast.domain.lesson import Lesson, Scope, Validity
from holdfast.domain.records import Outcome
from holdfast.domain.vocabulary import LessonId, ProjectId, SessionId
from holdfast.outcomes import stats as estimate
from holdfast.outcomes.standing import is_withheld, standing_of

BEGAN = datetime(2026, 1, 5, tzinfo=UTC)
PROJECT = ProjectId("simulated")
HOLDOUT = 0.2
"""More than the product's twentieth, so that a world of few sessions has something to estimate from."""
SORTS: dict[str, dict[bool, dict[str, float]]] = {
    "helpful": {False: {"heeded": 0.6, "failed": 0.1, "ignored": 0.1}, True: {"heeded": 0.15, "failed": 0.4}},
    "idle": {False: {"heeded": 0.05, "failed": 0.2, "ignored": 0.6}, True: {"heeded": 0.05, "failed": 0.2}},
    "harmful": {False: {"heeded": 0.05, "overridden": 0.5, "ignored": 0.2}, True: {"heeded": 0.05, "overridden": 0.1}},
}
"""Chances of each verdict by sort of lesson, and by whether it is withheld; what is left is unclear."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = {"movement": simulate_movement(random.Random(3)), "estimates": simulate_estimates(options.worlds)}
    print(json.dumps(figures, indent=1))
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
    return 0


def simulate_movement(dice: random.Random, lessons: int = 60, sessions: int = 12) -> dict[str, Any]:
    """Where lessons stand after so many sessions: their mean factor, and how many are in doubt, by sort."""
    figures: dict[str, Any] = {}
    for sort in SORTS:
        standings = [
            standing_of(make_outcome(make_lesson(number).id, session, sort, dice) for session in range(sessions))
            for number in range(lessons)
        ]
        factors = [standing.factor for standing in standings]
        doubted = sum(standing.is_doubted for standing in standings)
        figures[sort] = {"mean factor": round(mean(factors), 2), "in doubt": doubted, "lessons": lessons}
    return figures


def simulate_estimates(worlds: int, sessions: int = 60, lessons: int = 4) -> dict[str, Any]:
    """Bias and coverage of the shares told and withheld, and of their difference, over worlds of helpful lessons."""
    truth = {
        "heeded, told": SORTS["helpful"][False]["heeded"],
        "heeded, withheld": SORTS["helpful"][True]["heeded"],
        "effect on failures": SORTS["helpful"][False]["failed"] - SORTS["helpful"][True]["failed"],
    }
    estimates: dict[str, list[tuple[float, bool]]] = defaultdict(list)
    for world in range(worlds):
        dice = random.Random(world)
        entries = [
            make_outcome(make_lesson(1_000 * world + number).id, 10_000 * world + session, "helpful", dice)
            for session in range(sessions)
            for number in range(lessons)
        ]
        delivered = [entry for entry in entries if not entry.withheld]
        without = [entry for entry in entries if entry.withheld]
        shares = {"heeded, told": _pairs(delivered, "heeded"), "heeded, withheld": _pairs(without, "heeded")}
        for name, pairs in shares.items():
            share = estimate.share_of(pairs)
            estimates[name].append((share.share, share.low <= truth[name] <= share.high))
        effect = estimate.difference_of(_pairs(delivered, "failed"), _pairs(without, "failed"))
        name = "effect on failures"
        estimates[name].append((effect.difference, effect.low <= truth[name] <= effect.high))
    return {
        name: {
            "truth": round(truth[name], 3),
            "mean estimate": round(mean(value for value, _ in entries), 3),
            "covered": round(mean(covered for _, covered in entries), 3),
            "worlds": len(entries),
        }
        for name, entries in estimates.items()
    }


def simulate_coverage(worlds: int, sessions: int, share: float, spread: float, seed: int = 5) -> float:
    """How often the interval of a share covers it, where sessions differ: `spread` 0 for all alike, 1 for much."""
    dice = random.Random(seed)
    covered = 0
    for _ in range(worlds):
        pairs = []
        for _ in range(sessions):
            own = dice.betavariate(share * 4 / spread, (1 - share) * 4 / spread) if spread else share
            of = 1 + dice.randrange(6)
            pairs.append((sum(dice.random() < own for _ in range(of)), of))
        interval = estimate.share_of(pairs)
        covered += interval.low <= share <= interval.high
    return covered / worlds


def make_lesson(number: int) -> Lesson:
    return Lesson(
        id=LessonId(str(UUID(int=0x9E3779B97F4A7C15 * (number + 1)))), kind="convention", title="Simulated",
        insight=f"Simulated lesson {number}.", scope=Scope(project=PROJECT), validity=Validity(valid_from=BEGAN),
        recorded_at=BEGAN, state="candidate", trust="agent",
    )  # fmt: skip


def make_outcome(lesson: LessonId, session: int, sort: str, dice: random.Random) -> Outcome:
    """What becomes of the lesson in that session, told or withheld by the shipped draw."""
    name = SessionId(str(UUID(int=0xD6E8FEB86659FD93 * (session + 1))))
    withheld = is_withheld(name, lesson, HOLDOUT)
    chances = SORTS[sort][withheld]
    verdicts = [*chances, "unclear"]
    weights = [*chances.values(), 1 - sum(chances.values())]
    return Outcome(
        id=f"judged:{lesson}:{name}", at=BEGAN + timedelta(hours=session + 1), project=PROJECT, session=name,
        lesson=lesson, verdict=dice.choices(verdicts, weights)[0], judge="judge/2", moment="session_start",  # type: ignore[arg-type]
        withheld=withheld,
    )  # fmt: skip


def _pairs(outcomes: list[Outcome], verdict: str) -> list[tuple[int, int]]:
    sums: dict[SessionId, tuple[int, int]] = {}
    for outcome in outcomes:
        hits, of = sums.get(outcome.session, (0, 0))
        sums[outcome.session] = hits + (outcome.verdict == verdict), of + 1
    return list(sums.values())


if __name__ == "__main__":
    sys.exit(main())
