"""A flag says that a lesson does not hold: it is told after all others, until somebody decides or it is taken back."""

from __future__ import annotations

import pytest

from holdfast import Memory
from holdfast.errors import IllegalTransitionError, InvalidValueError
from holdfast.outcomes.standing import order_factors, standing_now
from holdfast.outcomes.tuning import HURT_FACTOR


def factor(memory: Memory, lesson: str) -> float:
    """The lesson's place in the order; 1 for one that nobody spoke against."""
    return dict(order_factors(memory.services.store, memory.location.project.id)).get(lesson, 1.0)  # type: ignore[call-overload, no-any-return]


def test_a_flagged_lesson_comes_last_and_is_reviewed_until_the_flag_is_taken_back(memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3")
    memory.flag(lesson.id, "stale", note="five since March")
    [flag] = memory.flags(lesson.id)
    assert (flag.reason, flag.note, flag.of) == ("stale", "five since March", "")
    assert factor(memory, lesson.id) == HURT_FACTOR
    assert [finding.lesson.id for finding in memory.audit()] == [lesson.id]
    assert memory.withdraw(lesson.id) == lesson
    assert memory.flags(lesson.id) == []
    assert factor(memory, lesson.id) == 1.0
    assert memory.audit() == []
    memory.flag(lesson.id, "incorrect")
    assert [flag.reason for flag in memory.flags(lesson.id)] == ["incorrect"]


def test_a_confirmation_answers_a_flag(memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3")
    memory.flag(lesson.id, "stale")
    memory.confirm(lesson.id)
    assert (memory.flags(lesson.id), standing_now(memory.services.store, lesson).hurt) == ([], 0)


def test_taking_back_a_flag_leaves_what_else_was_stated(memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3")
    memory.feedback(lesson.id, "helped")
    memory.flag(lesson.id, "stale")
    memory.withdraw(lesson.id)
    standing = standing_now(memory.services.store, lesson)
    assert (standing.helped, standing.hurt, standing.told) == (1, 0, 0)


def test_a_duplicate_names_the_other_lesson_and_only_a_duplicate_does(memory: Memory) -> None:
    lesson, other = memory.remember("Retries are capped at 3"), memory.remember("Never retry more than three times")
    memory.flag(lesson.id, "duplicate", of=other.id, note="word for word")
    [flag] = memory.flags(lesson.id)
    assert (flag.reason, flag.of, flag.note) == ("duplicate", other.id[-8:], "word for word")
    with pytest.raises(InvalidValueError, match="only a duplicate"):
        memory.flag(lesson.id, "stale", of=other.id)
    with pytest.raises(InvalidValueError, match="does not repeat itself"):
        memory.flag(lesson.id, "duplicate", of=lesson.id)
    with pytest.raises(InvalidValueError, match="unknown reason"):
        memory.flag(lesson.id, "ugly")  # type: ignore[arg-type]


def test_a_lesson_out_of_use_is_not_flagged_and_what_somebody_says_of_it_is_no_flag(memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3")
    memory.feedback(lesson.id, "hurt", "staleness has nothing to do with it")
    assert memory.flags(lesson.id) == []
    memory.retire(lesson.id)
    for judge in (lambda: memory.flag(lesson.id, "stale"), lambda: memory.withdraw(lesson.id)):
        with pytest.raises(IllegalTransitionError, match="retired"):
            judge()
