"""Outcomes go to the session that was shown the lesson."""

from __future__ import annotations

import pytest

from holdfast import Memory
from holdfast.errors import InvalidValueError, LessonNotFoundError


def test_an_outcome_of_a_lesson_never_shown_has_no_session(memory: Memory) -> None:
    lesson = memory.remember("Seed the clock first")
    outcome = memory.feedback(lesson.id[-8:], "hurt", note="only before 2.0")
    assert (outcome.lesson, outcome.session, outcome.note) == (lesson.id, "", "only before 2.0")


def test_a_note_is_redacted(memory: Memory) -> None:
    lesson = memory.remember("Seed the clock first")
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    assert key not in memory.feedback(lesson.id, "helped", note=f"with {key}").note


def test_an_unknown_verdict_or_lesson_is_refused(memory: Memory) -> None:
    lesson = memory.remember("Seed the clock first")
    with pytest.raises(InvalidValueError, match="unknown verdict"):
        memory.feedback(lesson.id, "meh")  # type: ignore[arg-type]
    with pytest.raises(LessonNotFoundError):
        memory.feedback("deadbeef", "helped")
