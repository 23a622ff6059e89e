"""Each number that lessons' shared parts go by, at its boundary; it is written out, so that it cannot move alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.errors import InvalidValueError, LessonNotFoundError, StaleWriteError
from holdfast.lessons import lookup
from holdfast.lessons.ledger import with_retries
from holdfast.lessons.material import Material
from holdfast.lessons.quoting import find_quote
from holdfast.lessons.statement import plain_name
from holdfast.testing.builders import make_event, make_lesson

RULE = "Harbour pilots announce lighthouse beacons before every sunset at quays."


def read(memory: Memory, text: str, rule: str = RULE, **fields: Any) -> bool:
    event: Event = make_event(**{"kind": "tool_result", "tool": "Bash", "trust": "tool", "text": text, **fields})
    return bool(Material(memory.services, memory.location, [event]).holds(rule))


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("harbour pilots announce lighthouse beacons before every sunset", True),
        ("harbour pilots announce", False),
        ("harbour pilots announce\nlighthouse beacons before\nevery sunset at quays", True),
        ("harbour\nx\npilots\nx\nannounce\nx\nlighthouse beacons\nx\nbefore every\nx\nsunset at quays", False),
    ],
)
def test_a_rule_was_read_where_most_of_its_words_stand_in_three_lines(memory: Memory, text: str, is_read: bool) -> None:
    assert read(memory, text) is is_read


@pytest.mark.parametrize(("words", "is_found"), [("tide tables", False), ("tide tables.", True)])
def test_words_of_twelve_characters_are_a_quote(words: str, is_found: bool) -> None:
    event = make_event(kind="reply", text="Read the tide  tables. Then sail.")
    if is_found:
        assert find_quote(words, [event])[1].quote == "tide  tables."
    else:
        with pytest.raises(InvalidValueError, match="too short"):
            find_quote(words, [event])


@pytest.mark.parametrize(("length", "is_repeated"), [(100, True), (101, False)])
def test_a_name_of_a_hundred_characters_is_repeated(length: int, is_repeated: bool) -> None:
    assert (plain_name("n" * length, "it") != "it") is is_repeated


def test_a_rule_of_two_telling_words_is_nowhere(memory: Memory) -> None:
    assert not read(memory, "pilots sleep", rule="Pilots sleep.")
    assert read(memory, "pilots sleep soundly", rule="Pilots sleep soundly.")


def test_what_the_agent_or_the_memory_said_was_not_read(memory: Memory) -> None:
    assert not read(memory, RULE, kind="reply")
    assert not read(memory, RULE, command="holdfast list")
    assert not read(memory, RULE, trust="person")


def test_two_hundred_thousand_bytes_of_a_file_are_read(memory: Memory, project: Path) -> None:
    (project / "README.md").write_text("\n" * 199_000 + RULE)
    assert Material(memory.services, memory.location, ()).holds(RULE) == "README.md"
    (project / "README.md").write_text("\n" * 199_980 + RULE)
    assert Material(memory.services, memory.location, ()).holds(RULE) == ""


def test_the_last_forty_files_of_a_session_are_read(memory: Memory, project: Path) -> None:
    (project / "first.md").write_text(RULE)
    anchor_verdicts = [make_event(kind="tool_result", tool="Read", trust="tool", text="", files=("first.md",))]
    anchor_verdicts += [
        make_event(kind="tool_result", tool="Read", trust="tool", text="", files=(f"{n}.md",)) for n in range(39)
    ]
    assert Material(memory.services, memory.location, anchor_verdicts).holds(RULE) == "first.md"
    anchor_verdicts.append(make_event(kind="tool_result", tool="Read", trust="tool", text="", files=("last.md",)))
    assert Material(memory.services, memory.location, anchor_verdicts).holds(RULE) == ""


def test_a_step_that_loses_its_race_is_tried_five_times() -> None:
    tries: list[int] = []

    def lose() -> None:
        tries.append(1)
        raise StaleWriteError("somebody was first")

    with pytest.raises(StaleWriteError):
        with_retries(lose)
    assert len(tries) == 5


def test_four_characters_of_an_ids_end_are_enough(memory: Memory) -> None:
    lesson = make_lesson(id="0193a1b2-0000-7000-8000-00000000beef", project=memory.location.project.id)
    memory.services.store.put([lesson], {lesson.id: None})
    assert memory.get("beef") == lesson
    with pytest.raises(LessonNotFoundError):
        memory.get("eef")


def test_a_lesson_has_at_most_eight_anchors(memory: Memory, project: Path) -> None:
    names = [f"src/f{number}.py" for number in range(10)]
    for name in names:
        (project / name).write_text("HIGH = 4\n")
    assert len(memory.remember("Keep these together.", files=names).anchors) == 8


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
