"""Each number that outcomes go by, at its boundary; it is written out, so that it cannot move alone."""

from __future__ import annotations

import pytest

from holdfast.outcomes import tuning
from holdfast.outcomes.judge import Telling, _after_call, advice_of
from holdfast.outcomes.stats import difference_of, share_of
from holdfast.outcomes.story import Story
from holdfast.testing.builders import make_event, make_lesson


@pytest.mark.parametrize(("before", "expected"), [(2, "heeded"), (3, "unclear")])
def test_the_call_that_caused_a_delivery_is_looked_for_among_three_events(before: int, expected: str) -> None:
    """By NEAR_CALL: the first run after the delivery is its cause unless an earlier call was."""
    call = make_event(kind="tool_result", command="make seed now", tool="Bash", text="")
    others = [make_event(kind="reply", text="") for _ in range(before)]
    story = Story([call, *others, call])
    telling = Telling(begin=1 + before, end=tuning.HORIZON, moment="before_command", trigger="make seed now")
    assert _after_call(story, telling) == telling.begin + (expected == "unclear")


@pytest.mark.parametrize(
    ("words", "denied"),
    [("Never ever once use `load_all`.", True), ("Never, as of last spring, use `load_all`.", False)],
)
def test_a_denial_reaches_fourteen_characters(words: str, denied: bool) -> None:
    assert (advice_of(make_lesson(insight=words)).denied == ("load_all",)) is denied


def test_an_interval_of_few_sessions_is_wide_and_of_many_narrow() -> None:
    few, many = share_of([(0, 1)] * 8), share_of([(1, 2)] * 400)
    assert few.low == 0.0 < 0.15 < few.high < 0.4
    assert 0.45 < many.low < 0.5 < many.high < 0.55
    assert difference_of([(1, 1)] * 50, [(0, 1)] * 50).is_clear
    assert not difference_of([(1, 1)], [(0, 1)]).is_clear
