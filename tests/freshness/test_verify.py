"""Verifying every lesson, following moves for good, and taking that back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import FRESHNESSES, LessonId
from holdfast.freshness.tuning import SUMMARY_LIMIT
from holdfast.freshness.verify import verify
from holdfast.lean.records import replace
from holdfast.ports.store import Store
from tests.codebase import Codebase


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


def now(memory: Memory) -> Memory:
    """The memory as a process that begins now has it."""
    return memory.at(memory.folder)


def places(lesson: Lesson) -> list[tuple[str, str]]:
    return [(anchor.path, anchor.symbol) for anchor in lesson.anchors]


def moved(memory: Memory, code: Codebase) -> Lesson:
    """A lesson whose definition is in another file now."""
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.move_definition("doubled", "src/store.py", "src/sums.py")
    code.commit("move doubled")
    return lesson


def test_a_move_is_written_down_logged_and_can_be_undone(memory: Memory, code: Codebase) -> None:
    lesson = moved(memory, code)
    report = now(memory).verify()
    assert [(entry.freshness, entry.followed) for entry in report.checked] == [("moved", True)]
    assert report.indexed
    after = memory.get(lesson.id)
    assert places(after) == [("src/sums.py", "doubled")]
    assert now(memory).verdicts([after]) == [("fresh", "")]
    assert report.change is not None
    assert (report.change.verb, report.change.lessons) == ("reanchor", (lesson.id,))
    assert report.change.summary == "src/store.py:doubled -> src/sums.py:doubled"
    assert memory.undo().lessons == (lesson.id,)
    assert places(memory.get(lesson.id)) == [("src/store.py", "doubled")]


def test_what_has_not_moved_is_not_written(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Rows are shared", files=["src/store.py::Store.put"])
    code.edit("src/store.py", "return total * 2", "return total * 3")
    report = now(memory).verify()
    assert (report.change, report.is_stale) == (None, False)
    assert memory.get(lesson.id) == lesson


def test_what_moved_and_changed_is_found_at_its_new_place_and_still_called_changed(
    memory: Memory, code: Codebase
) -> None:
    lesson = memory.remember("Rows are shared", files=["src/store.py::Store.put"])
    code.git("mv", "src/store.py", "src/wal.py")
    code.commit("rename")
    code.edit("src/wal.py", "def put(self, key, value)", "def put(self, key, value, timeout=3)")
    report = now(memory).verify()
    assert [entry.freshness for entry in report.checked] == ["changed"]
    assert places(memory.get(lesson.id)) == [("src/wal.py", "Store.put")]
    again = now(memory).verify()
    assert [(entry.freshness, entry.caveat) for entry in again.checked] == [
        ("changed", "Store.put signature: timeout added")
    ]
    assert again.change is None
    assert again.is_stale


def test_another_branchs_layout_is_not_followed(memory: Memory, code: Codebase) -> None:
    code.git("switch", "-q", "-c", "feature")
    code.write("src/new.py", "def fresh_sum(a, b):\n    total = [a, b, a]\n    return sum(total) + len(total)\n")
    code.commit("new")
    lesson = now(memory).remember("Sums are long", files=["src/new.py::fresh_sum"])
    code.git("switch", "-q", "main")
    code.write("src/elsewhere.py", "def fresh_sum(a, b):\n    total = [a, b, a]\n    return sum(total) + len(total)\n")
    code.commit("the same elsewhere")
    report = now(memory).verify()
    assert report.change is None
    assert places(memory.get(lesson.id)) == [("src/new.py", "fresh_sum")]


def test_every_state_is_counted_and_the_worst_comes_first(memory: Memory, code: Codebase) -> None:
    memory.remember("Rows are shared", files=["src/store.py::Store.put"])
    memory.remember("Reading may give None", files=["src/store.py::Store.get"])
    memory.remember("Answer in British English", scope="user", kind="preference")
    memory.remember("The readme is short", files=["README.md"])
    (code.folder / "README.md").unlink()
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    report = now(memory).verify()
    assert [entry.freshness for entry in report.checked] == ["orphaned", "drifted", "fresh"]
    assert tuple(report.counts) == FRESHNESSES
    assert [report.counts[state] for state in ("fresh", "drifted", "orphaned")] == [1, 1, 1]


def test_waiting_lessons_are_verified_when_asked(memory: Memory, code: Codebase) -> None:
    memory.remember("Rows are shared", files=["src/store.py::Store.put"], trust="repository")
    assert now(memory).verify().checked == ()
    assert len(now(memory).verify(waiting=True).checked) == 1


class Late:
    """A store in which somebody revises each lesson just before it is written."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._store = memory.parts.store

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def put(self, lessons: list[Lesson], expected: dict[LessonId, datetime | None], change: Change) -> None:
        for lesson in lessons:
            stored = self._store.get([lesson.id])[0]
            after = replace(stored, why="measured", recorded_at=self._memory.parts.clock.now())
            self._store.put([after], {stored.id: stored.recorded_at})
        self._store.put(lessons, expected, change)


def test_a_lesson_somebody_changed_meanwhile_is_left_alone(memory: Memory, code: Codebase) -> None:
    lesson = moved(memory, code)
    late: Store = Late(memory)  # type: ignore[assignment]
    report = verify(replace(memory.parts, store=late), now(memory).place)
    assert (report.change, [entry.followed for entry in report.checked]) == (None, [False])
    stored = memory.get(lesson.id)
    assert (stored.why, places(stored)) == ("measured", [("src/store.py", "doubled")])


def test_the_summary_of_many_moves_is_cut(memory: Memory, code: Codebase) -> None:
    names = [f"function_number_{number}" for number in range(12)]
    body = "    held = [a, b, {0}]\n    return sum(held) + {0}\n"
    code.write("src/many.py", "\n\n".join(f"def {name}(a, b):\n{body.format(at)}" for at, name in enumerate(names)))
    code.commit("many")
    here = now(memory)
    for name in names:
        here.remember(f"About {name}", files=[f"src/many.py::{name}"])
    code.git("mv", "src/many.py", "src/more.py")
    change = now(memory).verify().change
    assert change is not None
    assert len(change.lessons) == 12
    assert len(change.summary) == SUMMARY_LIMIT


def test_the_background_follows_moves_and_touches_nothing_else(memory: Memory, code: Codebase) -> None:
    assert now(memory).follow_moves() is None
    lesson = moved(memory, code)
    other = memory.remember("Reading may give None", files=["src/store.py::Store.get"])
    change = now(memory).follow_moves()
    assert isinstance(change, Change)
    assert change.lessons == (lesson.id,)
    assert memory.get(other.id) == other
    assert now(memory).follow_moves() is None


def test_the_background_brings_the_index_up_before_it_calls_code_gone(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    now(memory).verify()  # the code index is as it was before the move
    code.move_definition("doubled", "src/store.py", "src/sums.py")
    code.commit("move doubled")
    change = now(memory).follow_moves()
    assert change is not None
    assert change.lessons == (lesson.id,)


def test_why_tells_the_commit_that_changed_the_code(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Rows are shared", files=["src/store.py::Store.put"], why="callers rely on it")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    assert [subject.commit for subject in now(memory).explain(lesson.id).subjects] == [""]
    uncommitted = now(memory)
    changed = code.commit("lists")
    code.edit("src/store.py", "return total * 2", "return total * 3")
    code.commit("unrelated")
    explanation = now(memory).explain(lesson.id)
    assert (explanation.freshness, explanation.caveat) == ("drifted", "Store.put body changed (2 of 27 tokens)")
    assert [subject.commit for subject in explanation.subjects] == [changed]
    assert [change.verb for change in explanation.history.changes] == ["remember"]
    code.edit("src/store.py", "self.rows[key] = [value]", "self.rows[key] = (value,)")
    assert [subject.commit for subject in now(memory).explain(lesson.id).subjects] == ["-"]
    assert uncommitted.place.commit != changed


def test_the_code_then_and_now_is_the_definitions_own(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Rows are shared", files=["src/store.py::Store.put"])
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    code.edit("src/store.py", "return total * 2", "return total * 3")
    compared, (comparison,) = now(memory).compare(lesson.id)
    assert compared.id == lesson.id
    assert [line for line in comparison.unified() if line[:1] in "+-" and line[:3] not in ("+++", "---")] == [
        "-        self.rows[key] = value",
        "+        self.rows[key] = [value]",
    ]
    assert comparison.note == ""


def test_code_that_was_never_committed_is_not_made_up(memory: Memory, code: Codebase) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = {key: value}")
    lesson = memory.remember("Rows are shared", files=["src/store.py::Store.put"])
    code.edit("src/store.py", "self.rows[key] = {key: value}", "self.rows[key] = [value]")
    _, (comparison,) = now(memory).compare(lesson.id)
    assert comparison.then is not None
    assert "self.rows[key] = value" in comparison.then
    assert "as committed in" in comparison.note
    code.write("src/new.py", "def loose():\n    return 1\n")
    loose = memory.remember("Loose", files=["src/new.py::loose"])
    code.write("src/new.py", "def loose():\n    return 2\n")
    _, (other,) = now(memory).compare(loose.id)
    assert (other.then, other.unified()) == (None, [])
    assert "git does not know that version" in other.note


def test_what_is_gone_is_compared_with_nothing(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.edit("src/store.py", "def doubled(a, b):\n    total = a + b\n    return total * 2\n", "")
    _, (comparison,) = now(memory).compare(lesson.id)
    assert comparison.now == ""
    assert "-def doubled(a, b):" in comparison.unified()


def test_a_move_that_is_not_committed_is_kept_beside_and_taking_it_back_leaves_no_trace(
    memory: Memory, code: Codebase
) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.move_definition("doubled", "src/store.py", "src/sums.py")
    assert [entry.freshness for entry in now(memory).verify().checked] == ["moved"]
    stored = memory.get(lesson.id)
    assert (places(stored), stored.anchors[0].also) == ([("src/store.py", "doubled")], ("src/sums.py::doubled",))
    assert [entry.id for entry in memory.lessons(path="src/sums.py")] == [lesson.id]
    assert now(memory).verify().change is None
    code.git("reset", "-q", "--hard")
    (code.folder / "src/sums.py").unlink(missing_ok=True)
    assert now(memory).verdicts([memory.get(lesson.id)]) == [("fresh", "")]


def test_a_move_on_a_branch_does_not_move_it_for_the_main_line(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Rows are shared", files=["src/store.py::Store.put"])
    code.git("switch", "-q", "-c", "wal")
    code.git("mv", "src/store.py", "src/wal.py")
    code.commit("rename")
    now(memory).verify()
    assert [entry.id for entry in memory.lessons(path="src/wal.py")] == [lesson.id]
    code.git("switch", "-q", "-")
    assert now(memory).verdicts([memory.get(lesson.id)]) == [("fresh", "")]
    code.git("merge", "-q", "wal")
    now(memory).verify()
    assert places(memory.get(lesson.id)) == [("src/wal.py", "Store.put")]
    assert memory.get(lesson.id).anchors[0].also == ("src/store.py::Store.put",)


def test_a_squash_merge_leaves_a_lesson_that_can_drift(memory: Memory, code: Codebase) -> None:
    code.git("switch", "-q", "-c", "feat")
    code.edit("src/store.py", "return total * 2", "return total * 4")
    code.commit("quadruple")
    lesson = memory.remember("Doubling quadruples, ask Ann", files=["src/store.py::doubled"])
    code.git("switch", "-q", "-")
    code.git("merge", "-q", "--squash", "feat")
    code.commit("squashed")
    code.git("branch", "-q", "-D", "feat")
    assert now(memory).verdicts([lesson]) == [("fresh", "")]
    code.edit("src/store.py", "return total * 4", "return total * 5")
    code.commit("five")
    assert now(memory).verdicts([lesson])[0][0] == "drifted"
    assert now(memory).verify().is_stale


def test_a_rebase_leaves_a_lesson_that_can_drift_and_verify_writes_its_new_commit(
    memory: Memory, code: Codebase
) -> None:
    code.git("switch", "-q", "-c", "feat")
    code.edit("src/store.py", "return total * 2", "return total * 4")
    code.commit("quadruple")
    lesson = memory.remember("Doubling quadruples, ask Ann", files=["src/store.py::doubled"])
    code.git("commit", "-q", "--amend", "-m", "rebased")
    code.edit("src/store.py", "Keep a value.", "Keep one value.")
    code.commit("words")
    report = now(memory).verify()
    assert [entry.freshness for entry in report.checked] == ["fresh"]
    assert memory.get(lesson.id).anchors[0].commit == code.git("rev-parse", "HEAD")
    code.edit("src/store.py", "return total * 4", "return total * 5")
    assert now(memory).verdicts([memory.get(lesson.id)])[0][0] == "drifted"


def test_what_was_anchored_before_it_was_committed_is_followed(memory: Memory, code: Codebase) -> None:
    body = "    parts = [one.strip() for one in text.split(sep) if one.strip()]\n    return dict(enumerate(parts))\n"
    code.write("src/heads.py", f"def parse_header(text, sep):\n{body}")
    lesson = memory.remember("Headers are read lazily", files=["src/heads.py::parse_header"])
    code.commit("add")
    code.git("mv", "src/heads.py", "src/lines.py")
    code.edit("src/lines.py", "parse_header", "parse_field")
    code.commit("rename")
    assert now(memory).verdicts([lesson]) == [("moved", "parse_header renamed to parse_field, moved to src/lines.py")]


def test_a_whole_file_that_is_moved_and_not_committed_is_not_gone(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("This file is generated", files=["src/store.py"])
    code.git("mv", "src/store.py", "src/wal.py")
    assert now(memory).verdicts([lesson])[0][0] == "moved"
    code.commit("move")
    code.edit("src/wal.py", "self.rows[key] = value", "self.rows[key] = value  # by reference")
    assert now(memory).verdicts([lesson])[0][0] == "moved"
