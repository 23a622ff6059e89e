"""Confirming a lesson: it holds for the code as it is now."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Lesson
from holdfast.errors import IllegalTransitionError, InvalidValueError
from holdfast.lean.plain import field_names
from tests.codebase import Codebase


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


@pytest.fixture
def about_put(memory: Memory) -> Lesson:
    return memory.remember("Rows are shared", files=["src/store.py::Store.put"], why="callers rely on it")


def freshness(memory: Memory, lesson: Lesson) -> str:
    return memory.at(memory.folder).verdicts([lesson])[0][0]


def test_a_confirmed_lesson_is_fresh_again_and_otherwise_the_same(
    memory: Memory, code: Codebase, about_put: Lesson
) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    commit = code.commit("lists")
    assert freshness(memory, about_put) == "drifted"
    after = memory.at(memory.folder).confirm(about_put.id[-8:])
    assert freshness(memory, after) == "fresh"
    assert after.anchors[0].commit == commit
    changed = {name for name in field_names(Lesson) if getattr(after, name) != getattr(about_put, name)}
    assert changed == {"anchors", "recorded_at"}
    assert memory.changes(1)[0].verb == "confirm"
    assert memory.get(about_put.id) == after


def test_confirming_can_be_undone(memory: Memory, code: Codebase, about_put: Lesson) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    memory.at(memory.folder).confirm(about_put.id)
    memory.undo()
    assert memory.get(about_put.id).anchors == about_put.anchors
    assert freshness(memory, memory.get(about_put.id)) == "drifted"


def test_a_moved_definition_is_followed(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.git("mv", "src/store.py", "src/sums.py")
    code.commit("rename")
    after = memory.at(memory.folder).confirm(lesson.id)
    assert [(anchor.path, anchor.symbol) for anchor in after.anchors] == [("src/sums.py", "doubled")]


def test_a_definition_that_is_gone_leaves_its_file(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.edit("src/store.py", "def doubled(a, b):\n    total = a + b\n    return total * 2\n", "")
    after = memory.at(memory.folder).confirm(lesson.id)
    assert [(anchor.path, anchor.symbol) for anchor in after.anchors] == [("src/store.py", "")]
    assert freshness(memory, after) == "fresh"


def test_a_lesson_about_nothing_that_is_left_is_not_confirmed(
    memory: Memory, code: Codebase, about_put: Lesson
) -> None:
    (code.folder / "src" / "store.py").unlink()
    code.commit("gone")
    with pytest.raises(InvalidValueError, match=r"the code of lesson .* no longer exists: src/store.py"):
        memory.at(memory.folder).confirm(about_put.id)


def test_a_lesson_about_no_file_can_be_confirmed(memory: Memory) -> None:
    lesson = memory.remember("Answer in British English", kind="preference")
    assert memory.confirm(lesson.id).recorded_at > lesson.recorded_at


def test_what_is_out_of_use_is_not_confirmed(memory: Memory, about_put: Lesson) -> None:
    memory.revise(about_put.id, insight="Rows are copied")
    with pytest.raises(IllegalTransitionError, match="is superseded"):
        memory.confirm(about_put.id)


def test_another_projects_lesson_is_confirmed_there(memory: Memory, about_put: Lesson, tmp_path: Path) -> None:
    other = Codebase(tmp_path / "other", git=False)
    with pytest.raises(InvalidValueError, match="another project"):
        memory.at(str(other.folder)).confirm(about_put.id)
