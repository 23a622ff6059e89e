"""What draws by chance are made of, which stays the same in every version."""

from __future__ import annotations

import pytest

from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.outcomes import standing as holdout
from holdfast.outcomes import stats as estimate


def test_equal_groups_differ_by_nothing_within_an_interval() -> None:
    sessions = [(1, 2), (0, 1), (2, 3)]
    difference = estimate.difference_of(sessions, sessions)
    assert difference.difference == 0
    assert difference.low < 0 < difference.high


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_draws_fill_the_whole_range(share: float) -> None:
    """By `holdout.WORD`: a draw of more or fewer bits would leave a part of [0, 1) out."""
    assert holdout.WORD == 2**32 - 1
    pairs = [(SessionId(f"s{n}"), LessonId(f"l{n % 7}")) for n in range(4_000)]
    withheld = sum(holdout.is_withheld(session, lesson, share) for session, lesson in pairs)
    assert withheld / 4_000 == pytest.approx(share, abs=0.03)
    assert not any(holdout.is_withheld(session, lesson, 0.0) for session, lesson in pairs)
    assert all(holdout.is_withheld(session, lesson, 1.0) for session, lesson in pairs)


def test_a_draw_is_the_same_in_every_version() -> None:
    drawn = [holdout._draw(f"session-{n}\nlesson-1") for n in range(1_000)]
    assert drawn[:3] == [0.6098067264538258, 0.8833187150303274, 0.28628102666698396]
    assert round(sum(drawn), 6) == 493.956288
