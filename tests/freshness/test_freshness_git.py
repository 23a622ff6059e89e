"""What a lesson about code says of itself after the code has changed: on real repositories."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Lesson
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.tuning import LOW_LATENCY_COMPARISONS
from holdfast.ports.codeindex import CodeIndex
from holdfast.ports.services import Clock
from tests.codebase import Codebase


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


def judge(memory: Memory, lesson: Lesson) -> tuple[str, str]:
    """As a process that begins now would."""
    return memory.at(memory.folder).verdicts([lesson])[0]


@pytest.fixture
def about_put(memory: Memory) -> Lesson:
    return memory.remember("Rows are kept as they are given", files=["src/store.py::Store.put"])


def test_an_edit_elsewhere_in_the_file_leaves_a_lesson_about_a_definition_fresh(
    memory: Memory, code: Codebase, about_put: Lesson
) -> None:
    code.edit("src/store.py", "return total * 2", "return total * 3")
    code.edit("src/store.py", "self.rows.get(key)", "self.rows[key]")
    assert judge(memory, about_put) == ("fresh", "")


def test_a_formatter_a_comment_and_a_docstring_leave_it_fresh(
    memory: Memory, code: Codebase, about_put: Lesson
) -> None:
    code.edit(
        "src/store.py", "def put(self, key, value):", "def put(\n        self,\n        key,\n        value,\n    ):"
    )
    code.edit("src/store.py", "Keep a value.", "Keep one value under a key.")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = value  # by reference")
    assert judge(memory, about_put) == ("fresh", "")


def test_a_changed_body_and_a_changed_head_are_distinguished_in_words(
    memory: Memory, code: Codebase, about_put: Lesson
) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    assert judge(memory, about_put) == ("drifted", "Store.put body changed (2 of 27 tokens)")
    code.git("checkout", "-q", "src/store.py")
    code.edit("src/store.py", "def put(self, key, value)", "def put(self, key, value, timeout=3)")
    assert judge(memory, about_put) == ("changed", "Store.put signature: timeout added")


def test_a_definition_in_another_file_is_followed(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.move_definition("doubled", "src/store.py", "src/sums.py")
    memory.services.codeindex().refresh(memory.location)  # type: ignore[union-attr]
    assert judge(memory, lesson) == ("moved", "doubled moved to src/sums.py")


def test_a_deleted_definition_is_an_orphan_and_its_commit_is_named(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.move_definition("doubled", "src/store.py", "gone.txt")
    (code.folder / "gone.txt").unlink()
    deleted = code.commit("drop it")
    freshness, caveat = judge(memory, lesson)
    assert freshness == "orphaned"
    assert deleted[:7] in caveat


def test_what_another_branch_looks_like_is_not_called_stale(memory: Memory, code: Codebase) -> None:
    code.git("switch", "-q", "-c", "feature/lists")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    code.commit("lists")
    there = memory.at(memory.folder).remember("Values are lists", files=["src/store.py::Store.put"])
    code.git("switch", "-q", "main")
    freshness, caveat = judge(memory, there)
    assert freshness == "unverified"
    assert "another branch (feature/lists)" in caveat
    code.git("switch", "-q", "feature/lists")
    assert judge(memory, there) == ("fresh", "")
    code.git("switch", "-q", "main")
    code.git("merge", "-q", "feature/lists")
    assert judge(memory, there) == ("fresh", "")


def test_a_detached_head_is_a_checkout_like_any_other(memory: Memory, code: Codebase, about_put: Lesson) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    code.commit("lists")
    code.git("checkout", "-q", "--detach", "HEAD")
    assert judge(memory, about_put)[0] == "drifted"
    code.git("checkout", "-q", "HEAD~1")
    assert judge(memory, about_put) == ("fresh", "")


def test_a_clone_without_the_commit_cannot_tell_and_says_so(
    memory: Memory, code: Codebase, about_put: Lesson, tmp_path: Path
) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    code.commit("lists")
    shallow = tmp_path / "shallow"
    code.git("clone", "-q", "--depth", "1", f"file://{code.folder}", str(shallow))
    with Memory(str(shallow)) as there:
        lesson = replace(about_put, scope=replace(about_put.scope, project=there.location.project.id))
        freshness, caveat = judge(there, lesson)
    assert freshness == "unverified"
    assert "git does not know commit" in caveat


def test_without_git_the_content_tells(home: Path, tmp_path: Path) -> None:
    plain = Codebase(tmp_path / "plain", git=False)
    with Memory(str(plain.folder)) as memory:
        lesson = memory.remember("Rows are kept as they are given", files=["src/store.py::Store.put"])
        plain.edit("src/store.py", "return total * 2", "return total * 3")
        assert judge(memory, lesson) == ("fresh", "")
        plain.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
        assert judge(memory, lesson)[0] == "drifted"


def test_a_folder_in_the_files_place_is_unverified(memory: Memory, code: Codebase, about_put: Lesson) -> None:
    (code.folder / "src" / "store.py").unlink()
    (code.folder / "src" / "store.py").mkdir()
    assert judge(memory, about_put) == ("unverified", "not verified: src/store.py cannot be read as a file")


def test_a_project_that_is_gone_says_nothing_about_its_lessons(
    memory: Memory, code: Codebase, about_put: Lesson
) -> None:
    here = memory.at(memory.folder)
    assert here.location
    shutil.rmtree(code.folder)
    freshness, caveat = here.verdicts([about_put])[0]
    assert freshness == "unverified"
    assert "the project's folder does not exist" in caveat


@pytest.mark.parametrize("rubbish", [b"\xff\xfe\x00", b"def put(:\n" * 50, b"<<<<<<< ours\n", b"x" * 3_000_000, b""])
def test_odd_content_never_raises(memory: Memory, code: Codebase, about_put: Lesson, rubbish: bytes) -> None:
    (code.folder / "src" / "store.py").write_bytes(rubbish)
    freshness, caveat = judge(memory, about_put)
    assert freshness in ("unverified", "orphaned")
    assert caveat


class Broken:
    """A code index that fails whatever it is asked."""

    def __getattr__(self, name: str) -> object:
        raise RuntimeError("the parser is broken")


def test_a_broken_code_index_costs_the_verdict_and_not_the_lesson(
    memory: Memory, code: Codebase, about_put: Lesson
) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    broken: CodeIndex = Broken()  # type: ignore[assignment]
    services = replace(memory.services, codeindex=lambda: broken)
    freshness, caveat = FreshnessCheck(services, memory.location).judge(about_put)
    assert freshness == "unverified"
    assert "could not be compared: the parser is broken" in caveat


def test_an_untouched_file_never_asks_the_code_index(memory: Memory, about_put: Lesson) -> None:
    broken: CodeIndex = Broken()  # type: ignore[assignment]
    services = replace(memory.services, codeindex=lambda: broken)
    assert FreshnessCheck(services, memory.location).judge(about_put) == ("fresh", "")


def test_the_second_read_parses_nothing(
    memory: Memory, code: Codebase, about_put: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    first = judge(memory, about_put)
    for name in [name for name in sys.modules if name.startswith(("tree_sitter", "holdfast.codeindex"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tree_sitter", None)  # importing it is an error from now on
    with Memory(str(code.folder)) as later:
        assert judge(later, about_put) == first == ("drifted", "Store.put body changed (2 of 27 tokens)")


def test_a_hook_looks_closely_only_at_what_it_may_show(
    memory: Memory, code: Codebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.freshness.check.LOW_LATENCY_S", 3600)  # the count is what is tested, not the machine
    lessons = [memory.remember(f"Rule {number} of rows", files=["src/store.py::Store.put"]) for number in range(9)]
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    check = FreshnessCheck(replace(memory.services, low_latency=True), memory.location)
    assert {check.quick_check(lesson) for lesson in lessons} == {
        ("unverified", "not verified: src/store.py changed since")
    }
    looked = []
    while lesson := check.next_to_verify(lessons):
        looked.append(check.judge(lesson)[0])
    assert looked == ["drifted"] * LOW_LATENCY_COMPARISONS


def test_what_is_recalled_says_what_changed_and_ranks_lower(memory: Memory, code: Codebase, about_put: Lesson) -> None:
    fresh = memory.recall("how are rows kept").items[0]
    code.edit("src/store.py", "def put(self, key, value)", "def put(self, key, value, timeout=3)")
    briefing = memory.at(memory.folder).recall("how are rows kept")
    assert briefing.items[0].lesson.id == about_put.id
    assert briefing.items[0].score < fresh.score
    assert "Store.put signature: timeout added" in briefing.text


class Slow:
    """A clock that a second passes on at every look."""

    def __init__(self, memory: Memory) -> None:
        self._clock = memory.services.clock
        self._seconds = 0.0

    def __getattr__(self, name: str) -> object:
        return getattr(self._clock, name)

    def elapsed_s(self) -> float:
        self._seconds += 1
        return self._seconds


def test_who_waits_is_not_left_waiting_for_many_close_looks(memory: Memory, code: Codebase) -> None:
    files = [f"src/part{number}.py" for number in range(8)]
    for file in files:
        code.write(file, "def part(a):\n    return a\n")
    lessons = [memory.remember(f"About {file}", files=[f"{file}::part"]) for file in files]
    for file in files:
        code.edit(file, "return a", "return -a")
    slow: Clock = Slow(memory)  # type: ignore[assignment]
    check = FreshnessCheck(replace(memory.services, clock=slow), memory.location)
    judged = [check.judge(lesson) for lesson in lessons]
    assert [freshness for freshness, _ in judged] == ["drifted"] * 5 + ["unverified"] * 3
    assert judged[-1][1] == "not verified: src/part7.py changed since; there was no time to look closer"


def test_a_servers_hooks_wait_no_longer_than_a_cold_one(memory: Memory) -> None:
    low_latency = memory.for_hooks()
    assert low_latency.services.low_latency
    assert low_latency.services.codeindex() is not memory.services.codeindex()
    assert low_latency.services.store is memory.services.store


def test_another_branchs_lesson_is_not_compared_at_every_read(
    memory: Memory, code: Codebase, monkeypatch: pytest.MonkeyPatch
) -> None:
    code.git("switch", "-q", "-c", "feature/lists")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    code.commit("lists")
    there = memory.at(memory.folder).remember("Values are lists", files=["src/store.py::Store.put"])
    code.git("switch", "-q", "main")
    first = judge(memory, there)
    for name in [name for name in sys.modules if name.startswith(("tree_sitter", "holdfast.codeindex"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "tree_sitter", None)  # importing it is an error from now on
    with Memory(str(code.folder)) as later:
        assert judge(later, there) == first
    assert "another branch" in first[1]


def test_an_anchor_without_any_fingerprint_never_asks_the_code_index(memory: Memory) -> None:
    lesson = memory.remember("Written before its file", files=["src/later.py"])
    broken: CodeIndex = Broken()  # type: ignore[assignment]
    services = replace(memory.services, codeindex=lambda: broken)
    assert FreshnessCheck(services, memory.location).judge(lesson) == (
        "unverified", "not verified: how src/later.py was when this was learnt is not known"
    )  # fmt: skip
