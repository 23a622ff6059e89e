"""Forgetting leaves a tombstone without words; purging leaves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.errors import LessonNotFoundError

WORDS = "Quixotic zeppelins need ballast"


def test_a_tombstone_keeps_the_id_and_no_word(memory: Memory) -> None:
    lesson = memory.remember(WORDS, why="wind", how="sand", files=["src/tides.py"], tags=["zeppelin"], topic_key="z")
    tombstone = memory.forget(lesson.id)
    assert (tombstone.id, tombstone.kind, tombstone.state) == (lesson.id, lesson.kind, "forgotten")
    assert not any(word in repr(tombstone) for word in ("ballast", "wind", "sand", "tides", "zeppelin"))
    assert memory.lessons(states=()) == []
    assert memory.recall(WORDS).items == ()
    assert memory.forget(lesson.id) == tombstone


def test_the_same_words_can_be_remembered_anew(memory: Memory) -> None:
    lesson = memory.remember(WORDS)
    memory.forget(lesson.id)
    assert memory.remember(WORDS).id != lesson.id


def test_purging_erases_the_words_from_the_file_and_says_how_much(memory: Memory, home: Path) -> None:
    lesson = memory.remember(WORDS)
    memory.remember(WORDS, why="wind")
    memory.forget(lesson.id)
    erased = memory.purge(lesson.id)
    assert erased["lessons"] == 3
    assert [change.verb for change in memory.changes()] == ["purge"]
    with pytest.raises(LessonNotFoundError):
        memory.get(lesson.id)
    memory.close()
    assert b"zeppelin" not in (home / "memory.db").read_bytes()
