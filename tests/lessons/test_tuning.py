"""The edges of what lessons share: what is just inside, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.errors import LessonNotFoundError, StaleWriteError
from holdfast.lessons import lookup
from holdfast.lessons.ledger import with_retries
from holdfast.lessons.material import Material
from holdfast.testing.builders import make_event, make_lesson

RULE = "Harbour pilots announce lighthouse beacons before every sunset at quays."


def read(memory: Memory, text: str, rule: str = RULE, **fields: Any) -> bool:
    event: Event = make_event(**{"kind": "tool_result", "tool": "Bash", "trust": "tool", "text": text, **fields})
    return bool(Material(memory.services, memory.location, [event]).holds(rule))


def test_what_the_agent_or_the_memory_stated_was_not_read(memory: Memory) -> None:
    assert not read(memory, RULE, kind="reply")
    assert not read(memory, RULE, command="holdfast list")
    assert not read(memory, RULE, trust="person")


def test_a_step_that_loses_its_race_is_tried_five_times() -> None:
    tries: list[int] = []

    def lose() -> None:
        tries.append(1)
        raise StaleWriteError("somebody was first")

    with pytest.raises(StaleWriteError):
        with_retries(lose)
    assert len(tries) == 5


def test_a_whole_id_is_found_in_any_project_and_its_end_in_this_one(memory: Memory) -> None:
    lesson = make_lesson(id="0193a1b2-0000-7000-8000-00000000beef", project="another")
    memory.services.store.put([lesson], {lesson.id: None})
    assert len(lesson.id) == lookup.FULL_ID == 36
    assert memory.get(lesson.id) == lesson
    with pytest.raises(LessonNotFoundError):
        memory.get(lesson.id[1:])


@pytest.mark.parametrize(("size", "named"), [(35, "e" * 35), (37, "e" * 8)])
def test_what_is_longer_than_an_id_is_named_by_its_end(memory: Memory, size: int, named: str) -> None:
    with pytest.raises(LessonNotFoundError, match=f"no lesson {named} in"):
        memory.get("e" * size)
