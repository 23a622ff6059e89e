"""Verifying every lesson, following moves for good, and taking that back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.records import Change
from holdfast.domain.symbol import IndexReport, Verdict
from holdfast.domain.vocabulary import FRESHNESSES, Freshness, LessonId
from holdfast.errors import StoreFullError
from holdfast.freshness.tuning import SUMMARY_LIMIT
from holdfast.freshness.verify import Checked, VerifyReport, follow_moves, verify
from holdfast.ports.services import Services
from holdfast.ports.store import Store
from holdfast.testing.builders import make_lesson
from tests.codebase import Codebase

DOUBLED = "def doubled(a, b):\n    total = a + b\n    return total * 2\n"


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


def test_waiting_lessons_are_verified_on_request(memory: Memory, code: Codebase) -> None:
    memory.remember("Rows are shared", files=["src/store.py::Store.put"], trust="repository")
    assert now(memory).verify().checked == ()
    assert len(now(memory).verify(waiting=True).checked) == 1


@pytest.mark.parametrize(
    ("state", "waits"),
    [
        ("active", True), ("candidate", True), ("quarantined", True), ("superseded", False),
        ("retired", False), ("forgotten", False),
    ],
)  # fmt: skip
def test_lessons_out_of_use_are_never_verified(memory: Memory, state: Any, waits: bool) -> None:
    lesson = make_lesson(project=memory.location.project.id, path="src/store.py", state=state)
    memory.services.store.put([lesson], {})
    assert [entry.lesson for entry in memory.verify(waiting=True).checked] == ([lesson] if waits else [])
    report = verify(memory.services, memory.location)
    assert [entry.lesson for entry in report.checked] == ([lesson] if state == "active" else [])


def test_only_the_projects_own_lessons_about_files_are_verified(memory: Memory) -> None:
    project = memory.location.project.id
    own = make_lesson(project=project, path="src/store.py")
    others = [
        make_lesson(project=project), make_lesson(project="", level="user", path="src/store.py"),
        make_lesson(project="elsewhere", path="src/store.py"),
    ]  # fmt: skip
    memory.services.store.put([own, *others], {})
    assert [entry.lesson for entry in memory.verify().checked] == [own]


@pytest.mark.parametrize("freshness", FRESHNESSES)
def test_a_report_is_stale_where_code_says_otherwise_than_it_did(freshness: Freshness) -> None:
    report = VerifyReport(checked=(Checked(lesson=make_lesson(), freshness=freshness),))
    assert report.is_stale is (freshness in ("drifted", "changed", "orphaned"))
    assert [entry.followed for entry in report.checked] == [False]
    assert (VerifyReport().is_stale, VerifyReport().indexed) == (False, True)


def test_whether_the_index_was_brought_up_to_date_is_reported(memory: Memory) -> None:
    class Full:
        """A code index that cannot be written, or stops before the end."""

        def __init__(self, complete: bool | None) -> None:
            self.complete = complete

        def refresh(self, place: object, progress: object) -> IndexReport:
            if self.complete is None:
                raise StoreFullError("full", hint="free some space")
            return IndexReport(complete=self.complete)

    def indexed(index: Any) -> bool:
        return verify(replace(memory.services, codeindex=lambda: index), memory.location).indexed

    assert [indexed(index) for index in (Full(True), Full(False), Full(None), None)] == [True, False, False, False]


class Late:
    """A store in which somebody revises each lesson just before it is written."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._store = memory.services.store

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def put(self, lessons: list[Lesson], expected: dict[LessonId, datetime | None], change: Change) -> None:
        for lesson in lessons:
            stored = self._store.get([lesson.id])[0]
            after = replace(stored, why="measured", recorded_at=self._memory.services.clock.now())
            self._store.put([after], {stored.id: stored.recorded_at})
        self._store.put(lessons, expected, change)


def test_a_lesson_somebody_changed_meanwhile_is_left_alone(memory: Memory, code: Codebase) -> None:
    lesson = moved(memory, code)
    late: Store = Late(memory)  # type: ignore[assignment]
    report = verify(replace(memory.services, store=late), now(memory).location)
    assert (report.change, [entry.followed for entry in report.checked]) == (None, [False])
    stored = memory.get(lesson.id)
    assert (stored.why, places(stored)) == ("measured", [("src/store.py", "doubled")])


def test_a_lesson_that_was_purged_meanwhile_is_left_alone(memory: Memory, code: Codebase) -> None:
    lesson = moved(memory, code)
    here = now(memory).location

    class Purged(Late):
        """A store out of which a lesson is purged just before it is read again."""

        def get(self, ids: list[LessonId]) -> list[Lesson]:
            self._store.purge(ids)
            return self._store.get(ids)

    report = verify(replace(memory.services, store=Purged(memory)), here)  # type: ignore[arg-type]
    assert (report.change, [entry.followed for entry in report.checked]) == (None, [False])
    assert memory.lessons() == []
    assert lesson.id == report.checked[0].lesson.id


def test_of_several_moves_those_of_unchanged_lessons_are_followed(memory: Memory, code: Codebase) -> None:
    code.write("src/many.py", "def low(a):\n    return [a, a]\n\n\ndef high(a, b):\n    return {a: b}\n")
    code.commit("many")
    first, second = (now(memory).remember(f"About {name}", files=[f"src/many.py::{name}"]) for name in ("low", "high"))
    code.git("mv", "src/many.py", "src/more.py")
    code.commit("move")

    class Revised(Late):
        """A store in which the first lesson is revised before it is read again."""

        def get(self, ids: list[LessonId]) -> list[Lesson]:
            if ids == [first.id] and not self._store.get(ids)[0].why:
                after = replace(first, why="measured", recorded_at=self._memory.services.clock.now())
                self._store.put([after], {first.id: first.recorded_at})
            return self._store.get(ids)

        def put(self, *arguments: Any) -> None:
            self._store.put(*arguments)

    report = verify(replace(memory.services, store=Revised(memory)), now(memory).location)  # type: ignore[arg-type]
    assert report.change is not None
    assert report.change.lessons == (second.id,)
    assert {entry.lesson.id: entry.followed for entry in report.checked} == {first.id: False, second.id: True}
    assert report.change.summary == "src/many.py:high -> src/more.py:high"


@pytest.mark.parametrize(("length", "is_cut"), [(148, False), (149, True)])
def test_a_summary_has_at_most_three_hundred_characters(
    memory: Memory, code: Codebase, length: int, is_cut: bool
) -> None:
    before, after = "b" * 148, "a" * length
    code.write(before, "the same text\nin both\n")
    code.commit("add")
    now(memory).remember("This file is generated", files=[before])
    code.git("mv", before, after)
    change = now(memory).verify().change
    assert change is not None
    whole = f"{before} -> {after}"
    assert change.summary == (whole[:299] + "…" if is_cut else whole)
    assert len(change.summary) == 300


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
    assert uncommitted.location.commit != changed


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


def test_a_move_that_is_not_committed_is_stored_beside_and_taking_it_back_leaves_no_trace(
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


class Elsewhere:
    """A code index that finds every anchor where and as it is told, and counts how often it is brought up to date."""

    def __init__(self, memory: Memory, freshness: Freshness = "moved", **where: str) -> None:
        self._index = memory.services.codeindex()
        self._freshness, self._where = freshness, where
        self.refreshed = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._index, name)

    def verdict(self, place: object, anchor: Anchor) -> Verdict:
        return Verdict(freshness=self._freshness, reason="moved", anchor=replace(anchor, **self._where))

    def refresh(self, place: object, progress: object) -> IndexReport:
        self.refreshed += 1
        return IndexReport()


def with_index(memory: Memory, index: Elsewhere) -> Services:
    return replace(memory.services, codeindex=lambda: index)  # type: ignore[arg-type, return-value]


@pytest.mark.parametrize(
    ("freshness", "is_followed"),
    [("moved", True), ("drifted", True), ("changed", True), ("unverified", False), ("orphaned", False)],
)
def test_code_is_followed_to_another_place_unless_it_is_gone_or_cannot_be_determined(
    memory: Memory, code: Codebase, freshness: Freshness, is_followed: bool
) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.edit("src/store.py", "total * 2", "total * 3")
    for where in ({"path": "src/sums.py"}, {"symbol": "twofold"}):
        report = verify(with_index(memory, Elsewhere(memory, freshness, **where)), memory.location)
        assert [entry.followed for entry in report.checked] == [is_followed]
    also = ("src/store.py::twofold", "src/sums.py::doubled") if is_followed else ()
    assert memory.get(lesson.id).anchors[0].also == also


def test_code_is_followed_in_the_history_of_what_is_checked_out_only(memory: Memory, code: Codebase) -> None:
    first = code.git("rev-parse", "HEAD")
    code.write("README.md", "# pilots\n")
    head = code.commit("second")
    code.git("switch", "-q", "-c", "side", first)
    code.write("README.md", "# berths\n")
    side = code.commit("side")
    code.git("switch", "-q", "main")
    for commit, is_followed in (("", True), (head, True), (first, True), (side, False), ("0" * 40, False)):
        lesson = now(memory).remember(f"Doubling is on purpose, said {commit}", files=["src/store.py::doubled"])
        code.edit("src/store.py", "total * 2", "total * 3")
        index = Elsewhere(memory, "moved", path="src/sums.py", commit=commit)
        verify(with_index(memory, index), now(memory).location)
        assert bool(memory.get(lesson.id).anchors[0].also) is is_followed, commit
        memory.forget(lesson.id)
        code.edit("src/store.py", "total * 3", "total * 2")


@pytest.mark.parametrize(
    ("freshness", "recorded", "found_at", "written"),
    [
        ("fresh", "side", "first", "first"), ("fresh", "side", "side", "side"), ("fresh", "first", "first", "first"),
        ("fresh", "first", "side", "first"), ("changed", "side", "first", "side"),
    ],
)  # fmt: skip
def test_a_commit_moves_on_where_the_same_text_is_in_this_history(
    memory: Memory, code: Codebase, freshness: Freshness, recorded: str, found_at: str, written: str
) -> None:
    commits = {"first": code.git("rev-parse", "HEAD")}
    code.git("switch", "-q", "-c", "side")
    code.write("README.md", "# berths\n")
    commits["side"] = code.commit("side")
    code.git("switch", "-q", "main")
    anchor = Anchor(path="src/store.py", symbol="doubled", blob="git1:" + "0" * 40, commit=commits[recorded])
    lesson = make_lesson(project=memory.location.project.id, anchors=(anchor,))
    memory.services.store.put([lesson], {})
    verify(with_index(memory, Elsewhere(memory, freshness, commit=commits[found_at])), now(memory).location)
    assert memory.get(lesson.id).anchors[0].commit == commits[written]


def test_the_background_brings_the_index_up_only_where_code_seems_gone(memory: Memory, code: Codebase) -> None:
    memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.edit("src/store.py", "total * 2", "total * 3")
    states: tuple[Freshness, ...] = ("fresh", "moved", "unverified", "drifted", "changed", "orphaned")
    for freshness in states:
        index = Elsewhere(memory, freshness)
        follow_moves(with_index(memory, index), memory.location)
        assert index.refreshed == (freshness == "orphaned"), freshness


@pytest.mark.parametrize(
    ("committed", "path"),
    [
        (("src/store.py", "src/sums.py"), "src/store.py"),
        (("src/store.py",), "src/store.py"),
        ((), "src/store.py"),
        (("src/sums.py",), "src/sums.py"),
    ],
)
def test_a_move_counts_for_all_once_the_main_line_has_it_at_its_new_place_alone(
    memory: Memory, code: Codebase, committed: tuple[str, ...], path: str
) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    for name in ("src/store.py", "src/sums.py"):
        code.write(name, DOUBLED + "# here\n" if name in committed else "def halved(a):\n    return a / 2\n")
    code.commit("so it is")
    here = now(memory).location
    verify(with_index(memory, Elsewhere(memory, "moved", path="src/sums.py")), here)
    stored = memory.get(lesson.id)
    other = "src/sums.py" if path == "src/store.py" else "src/store.py"
    assert (places(stored), stored.anchors[0].also) == ([(path, "doubled")], (f"{other}::doubled",))


def test_four_other_places_are_stored_the_newest_first(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("This file is generated", files=["src/store.py"])
    for number in range(6):
        code.git("mv", "src/store.py" if number == 0 else f"src/at{number - 1}.py", f"src/at{number}.py")
        code.commit(f"move {number}")
        now(memory).verify()
    [anchor] = memory.get(lesson.id).anchors
    assert anchor.path == "src/at5.py"
    assert anchor.also == ("src/at4.py", "src/at3.py", "src/at2.py", "src/at1.py")


def test_a_file_that_is_moved_back_is_not_stored_beside_itself(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("This file is generated", files=["src/store.py"])
    for before, after in (("src/store.py", "src/wal.py"), ("src/wal.py", "src/store.py")):
        code.git("mv", before, after)
        code.commit("move")
        now(memory).verify()
    [anchor] = memory.get(lesson.id).anchors
    assert (anchor.path, anchor.also) == ("src/store.py", ("src/wal.py",))
    assert anchor.commit == code.git("rev-parse", "HEAD")


def test_an_anchor_that_moves_to_where_another_is_becomes_one_with_it(memory: Memory, code: Codebase) -> None:
    code.write("src/sums.py", "def halved(a):\n    rest = a - a / 2\n    return rest + 0\n")
    code.commit("sums")
    lesson = now(memory).remember("Sums are exact", files=["src/store.py::doubled", "src/sums.py::halved"])
    code.edit("src/store.py", DOUBLED, "")
    code.edit("src/sums.py", "def halved", f"{DOUBLED}\ndef halved")
    code.commit("together")
    report = now(memory).verify()
    assert report.change is not None
    assert places(memory.get(lesson.id)) == [("src/sums.py", "doubled"), ("src/sums.py", "halved")]
    assert report.change.summary == "src/store.py:doubled -> src/sums.py:doubled"


def test_without_git_a_move_is_stored_beside(home: Path, tmp_path: Path) -> None:
    plain = Codebase(tmp_path / "plain", git=False)
    with Memory(str(plain.folder)) as memory:
        lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
        plain.move_definition("doubled", "src/store.py", "src/sums.py")
        report = now(memory).verify()
        assert [(entry.freshness, entry.followed) for entry in report.checked] == [("moved", True)]
        assert places(memory.get(lesson.id)) == [("src/store.py", "doubled")]
        assert memory.get(lesson.id).anchors[0].also == ("src/sums.py::doubled",)


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
    assert [(entry.freshness, entry.followed) for entry in report.checked] == [("fresh", True)]
    assert report.change is not None
    assert report.change.summary == "src/store.py:doubled seen here"
    assert now(memory).verify().change is None, "it is settled"
    settled = memory.get(lesson.id).anchors[0]
    assert (settled.commit, settled.branch) == (code.git("rev-parse", "HEAD"), "feat")
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
