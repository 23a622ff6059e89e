"""Simulated sessions with known effects: helpful lessons rise, harmful ones fall, estimates are right on average."""

from __future__ import annotations

import random

import pytest
from benchmarks.outcomes import simulate_coverage, simulate_estimates, simulate_movement

from holdfast.outcomes import estimate


def test_helpful_lessons_rise_and_idle_and_harmful_ones_fall() -> None:
    figures = simulate_movement(random.Random(3))
    assert figures["helpful"]["mean factor"] > 1.8
    assert figures["idle"]["mean factor"] < 0.7
    assert figures["harmful"]["mean factor"] < 0.7
    assert figures["harmful"]["in doubt"] >= 55
    assert figures["helpful"]["in doubt"] == figures["idle"]["in doubt"] == 0


def test_estimates_are_unbiased_and_their_intervals_cover() -> None:
    figures = simulate_estimates(60)
    for estimated in figures.values():
        assert abs(estimated["mean estimate"] - estimated["truth"]) < 0.03
        assert estimated["covered"] >= 0.9


@pytest.mark.parametrize(("sessions", "share"), [(6, 0.1), (20, 0.25), (40, 0.5)])
@pytest.mark.parametrize("spread", [0, 1])
def test_intervals_cover_few_sessions_and_sessions_that_differ(sessions: int, share: float, spread: float) -> None:
    assert simulate_coverage(200, sessions, share, spread) >= 0.88


def test_nothing_seen_is_no_certainty() -> None:
    assert (estimate.share_of([]).low, estimate.share_of([]).high) == (0.0, 1.0)
    none_of_eight = estimate.share_of([(0, 1)] * 8)
    assert none_of_eight.low == 0.0
    assert none_of_eight.high > 0.1
    assert not estimate.difference_of([], [(1, 1)]).is_clear
