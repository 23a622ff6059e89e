"""Lessons are found by the end of their id, within the project and the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.errors import AmbiguousIdError, InvalidValueError, LessonNotFoundError
from holdfast.testing.builders import make_delivery, make_lesson


def test_an_end_of_an_id_is_enough_in_any_case(memory: Memory) -> None:
    lesson = memory.remember("Seed the clock first")
    assert memory.get(lesson.id[-8:].upper()) == lesson
    assert memory.get(f" {lesson.id} ") == lesson


@pytest.mark.parametrize(
    "ref", ["", "abc", "zz12", "%%%%", "ffffffff", "f" * 36, "01a1fd6a-f7fb-7cef-929d-5bcac4729bfd"]
)
def test_what_is_no_id_is_not_found(memory: Memory, ref: str) -> None:
    memory.remember("Seed the clock first")
    with pytest.raises(LessonNotFoundError):
        memory.get(ref)


def test_two_ids_with_one_end_ask_for_more(memory: Memory) -> None:
    project = memory.location.project.id
    pair = [make_lesson(id=f"0193a1b2-0000-7000-8000-00{n}00000beef", project=project) for n in (1, 2)]
    memory.services.store.put(pair, {})
    with pytest.raises(AmbiguousIdError) as caught:
        memory.get("beef")
    assert "0000beef" in caught.value.hint


def test_another_projects_lesson_is_found_by_its_whole_id_only(memory: Memory, tmp_path: Path) -> None:
    lesson = memory.remember("Seed the clock first")
    (tmp_path / "elsewhere").mkdir()
    elsewhere = memory.at(str(tmp_path / "elsewhere"))
    with pytest.raises(LessonNotFoundError):
        elsewhere.get(lesson.id[-8:])
    assert elsewhere.get(lesson.id) == lesson
    assert elsewhere.lessons() == []
    assert elsewhere.lessons(all_projects=True) == [lesson]


def test_lists_narrow_by_path_from_the_folder_queried(memory: Memory, project: Path) -> None:
    lesson = memory.remember("High water is a constant", files=["src/tides.py"])
    memory.remember("Something else")
    assert memory.at(str(project / "src")).lessons(path="tides.py") == [lesson]
    with pytest.raises(InvalidValueError, match="outside"):
        memory.lessons(path="/etc/passwd")
    with pytest.raises(InvalidValueError, match="unknown state"):
        memory.lessons(states=["sleepy"])  # type: ignore[list-item]


def test_the_log_is_the_projects_own(memory: Memory) -> None:
    here = make_delivery(project=memory.location.project.id)
    memory.services.store.record([here, make_delivery(project="other")])
    assert memory.log() == [here]
    assert memory.log(session="nobody") == []  # type: ignore[arg-type]


def test_a_lessons_history_holds_all_that_happened_to_it(memory: Memory) -> None:
    lesson = memory.remember("Seed the clock first")
    shown = make_delivery(project=memory.location.project.id, lesson=lesson.id, session="s9")
    memory.services.store.record([shown])
    outcome = memory.feedback(lesson.id, "helped")
    assert outcome.session == "s9"
    history = memory.history(lesson.id)
    assert [change.verb for change in history.changes] == ["remember"]
    assert (history.deliveries, history.outcomes) == ((shown,), (outcome,))
