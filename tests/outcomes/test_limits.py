"""The numbers that draws by chance go by: each is a fact of a published sequence or check sum."""

from __future__ import annotations

import pytest

from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.outcomes import estimate, holdout


def test_numbers_are_those_that_splitmix64_gives() -> None:
    """By `estimate.SEED` and `estimate._WORD`; the sequence from state 0 is the published one."""
    published = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    number = estimate.numbers(-1)  # the state before the first number is then 0
    assert estimate._WORD == 2**64 - 1
    assert [number() for _ in published] == [(mixed + 0.5) / 2**64 for mixed in published]


def test_two_groups_are_drawn_from_different_numbers() -> None:
    sessions = [(1, 2), (0, 1), (2, 3)]
    difference = estimate.difference_of(sessions, sessions)
    assert difference.low < 0 < difference.high


def test_the_same_records_give_the_same_interval_in_every_version() -> None:
    difference = estimate.difference_of([(1, 2), (0, 1), (2, 3)], [(0, 2), (1, 1), (1, 3)])
    assert (round(difference.low, 9), round(difference.high, 9)) == (-0.354970714, 0.482094511)


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
