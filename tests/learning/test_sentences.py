"""What older versions picked by its words is retired once, in one change that can be undone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.hookcall import parse_errand
from holdfast.domain.lesson import Lesson, Provenance
from holdfast.domain.vocabulary import STATES
from holdfast.surfaces.hooks import learner
from holdfast.testing.builders import make_lesson


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Any:
    (tmp_path / "app").mkdir()
    with Memory(str(tmp_path / "app")) as opened:
        yield opened


def keep(memory: Memory, insight: str, detector: str = "statements/3", **fields: Any) -> Lesson:
    fields = {"state": "candidate", "trust": "agent", "provenance": Provenance(detector=detector), **fields}
    lesson = make_lesson(**{"project": memory.location.project.id, "insight": insight, **fields})
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({}, "retired"),
        ({"trust": "person"}, "retired"),
        ({"detector": "statements/1"}, "retired"),
        ({"detector": "code_comment/1"}, "retired"),
        ({"detector": "answers/1"}, "retired"),
        ({"detector": "fail_fix/2"}, "candidate"),
        ({"detector": "correction/2"}, "candidate"),
        ({"state": "active"}, "active"),
        ({"state": "quarantined"}, "quarantined"),
        ({"pinned": True}, "candidate"),
        ({"level": "user", "project": ""}, "candidate"),
    ],
)
def test_only_what_was_picked_by_its_words_and_confirmed_by_nobody_is_retired(
    memory: Memory, fields: dict[str, Any], state: str
) -> None:
    lesson = keep(memory, "We cache the tides because reading them is slow", **fields)
    assert memory.retire_sentences() == (state == "retired")
    assert memory.get(lesson.id).state == state


def test_what_a_person_edited_stays(memory: Memory) -> None:
    lesson = keep(memory, "We cache the tides because reading them is slow")
    memory.edit(lesson.id, title="We cache the tides because reading is slow")
    assert memory.retire_sentences() == 0


def test_ten_thousand_waiting_sentences_are_one_change_that_undo_reverts_and_that_does_not_come_again(
    memory: Memory,
) -> None:
    sentences = [
        make_lesson(
            project=memory.location.project.id, insight=f"Berth {number} is closed in winter", state="candidate",
            trust="agent", provenance=Provenance(detector="statements/3"),
        )
        for number in range(10_000)
    ]  # fmt: skip
    memory.services.store.put(sentences, {lesson.id: None for lesson in sentences})
    learner.learn_all(memory.settings, parse_errand(f"{memory.folder}\n"))
    memory.retire_sentences()
    assert memory.inbox() == []
    assert len(memory.changes()) == 1
    assert len(memory.undo().lessons) == 10_000
    assert memory.retire_sentences() == 0
    assert {lesson.state for lesson in memory.lessons(states=STATES, limit=20_000)} == {"candidate"}
