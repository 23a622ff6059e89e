"""The code a lesson is about, then and now: which version, which lines, and what is said where one cannot be had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.symbol import Verdict
from holdfast.freshness.compare import Comparison, changing_commit, compare, name_of, spans_of
from holdfast.testing.builders import make_lesson
from tests.codebase import Codebase

PUT = '''    def put(self, key, value):
        """Keep a value."""
        self.rows[key] = value
        return self.rows[key]'''
DOUBLED = "def doubled(a, b):\n    total = a + b\n    return total * 2"


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


def compared(memory: Memory, lesson: Lesson) -> tuple[Comparison, ...]:
    """What a process that begins now makes of it."""
    return memory.at(memory.folder).compare(lesson.id)[1]


def keep(memory: Memory, *anchors: Anchor, **fields: object) -> Lesson:
    lesson = make_lesson(**{"project": memory.location.project.id, "anchors": anchors, **fields})
    memory.services.store.put([lesson], {})
    return lesson


def anchor_of(memory: Memory, name: str, path: str = "src/store.py") -> Anchor:
    index = memory.services.codeindex()
    assert index is not None
    [anchor] = index.anchors(memory.location, path, [name], None)
    return anchor


class OnAnotherBranch:
    """A code index that finds every anchor in another file, on another branch."""

    def __init__(self, memory: Memory) -> None:
        self.index = memory.services.codeindex()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.index, name)

    def verdict(self, place: object, anchor: Anchor) -> Verdict:
        return Verdict(freshness="unverified", reason="other_branch", anchor=replace(anchor, path="README.md"))


# The difference


def comparison(then: str | None, now: str | None, commit: str = "", symbol: str = "put") -> Comparison:
    anchor = Anchor(path="src/a.py", symbol=symbol, commit=commit)
    moved = Verdict(freshness="moved", reason="moved", anchor=replace(anchor, path="src/b.py"))
    return Comparison(anchor=anchor, verdict=moved, then=then, now=now)


def test_a_difference_names_both_places_and_the_commit_of_then() -> None:
    assert comparison("a\n", "b\n", commit="0123456789abcdef").unified() == [
        "--- src/a.py:put\tthen (0123456789)", "+++ src/b.py:put\tnow", "@@ -1 +1 @@", "-a", "+b",
    ]  # fmt: skip
    assert comparison("a", "b", symbol="").unified()[:2] == ["--- src/a.py\tthen", "+++ src/b.py\tnow"]


def test_there_is_no_difference_where_a_side_is_missing_or_both_are_alike() -> None:
    assert comparison(None, "b").unified() == []
    assert comparison("a", None).unified() == []
    assert comparison("a\nb", "a\nb\n").unified() == []
    assert [line for line in comparison("a", "").unified() if line[0] == "-"][1:] == ["-a"]


def test_an_anchor_is_named_by_its_file_and_its_definition() -> None:
    assert name_of(Anchor(path="src/a.py", symbol="Store.put")) == "src/a.py:Store.put"
    assert name_of(Anchor(path="src/a.py")) == "src/a.py"


# Whose code is compared


def test_the_users_own_lesson_is_compared_and_another_projects_is_not(memory: Memory) -> None:
    anchor = anchor_of(memory, "doubled")
    own = keep(memory, anchor, project="", level="user")
    other = keep(memory, anchor, project="elsewhere")
    assert [entry.now for entry in compare(memory.services, memory.location, own.id)[1]] == [DOUBLED]
    assert compare(memory.services, memory.location, other.id) == (other, ())


def test_each_anchor_is_compared_by_itself_in_the_order_of_the_lesson(memory: Memory, code: Codebase) -> None:
    lesson = keep(memory, anchor_of(memory, "doubled"), Anchor(path="README.md", blob="git1:" + "0" * 40))
    code.edit("src/store.py", "total * 2", "total * 3")
    both = compared(memory, lesson)
    assert [name_of(entry.anchor) for entry in both] == ["src/store.py:doubled", "README.md"]
    assert [entry.now for entry in both] == [DOUBLED.replace("* 2", "* 3"), "# harbour\n"]


# The code of then


def test_without_git_an_untouched_files_code_is_that_of_then(home: Path, tmp_path: Path) -> None:
    plain = Codebase(tmp_path / "plain", git=False)
    with Memory(str(plain.folder)) as memory:
        lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
        [same] = compared(memory, lesson)
        assert (same.then, same.now, same.note) == (DOUBLED, DOUBLED, "")
        plain.edit("src/store.py", "total * 2", "total * 3")
        [changed] = compared(memory, lesson)
        assert (changed.then, changed.now) == (None, DOUBLED.replace("* 2", "* 3"))
        assert changed.note == "src/store.py:doubled as it was then cannot be shown: there is no git here"


def test_a_version_that_git_has_is_shown_although_the_file_is_another_one_now(memory: Memory, code: Codebase) -> None:
    anchor = anchor_of(memory, "doubled")
    lesson = keep(memory, replace(anchor, commit=""))
    code.edit("src/store.py", "total * 2", "total * 3")
    [entry] = compared(memory, lesson)
    assert (entry.then, entry.note) == (DOUBLED, "")


def test_a_version_that_git_has_not_is_shown_as_it_was_committed_or_not_at_all(memory: Memory, code: Codebase) -> None:
    anchor = replace(anchor_of(memory, "doubled"), blob="git1:" + "0" * 40)
    commit = code.git("rev-parse", "HEAD")
    committed, unknown = keep(memory, replace(anchor, commit=commit)), keep(memory, replace(anchor, commit=""))
    [entry] = compared(memory, committed)
    assert (entry.then, entry.note) == (
        DOUBLED, f"then: as committed in {commit[:10]}; uncommitted changes of that time are lost",
    )  # fmt: skip
    [entry] = compared(memory, unknown)
    assert (entry.then, entry.note) == (
        None, "src/store.py:doubled as it was then cannot be shown: git does not know that version",
    )  # fmt: skip
    [entry] = compared(memory, keep(memory, replace(anchor, blob="", commit=commit)))
    assert entry.then == DOUBLED


def test_a_definition_that_had_another_name_then_is_shown_by_its_body(memory: Memory, code: Codebase) -> None:
    lesson = keep(memory, replace(anchor_of(memory, "doubled"), symbol="twofold"))
    code.edit("src/store.py", "total * 2", "total * 3")
    assert compared(memory, lesson)[0].then == DOUBLED


def test_the_whole_file_is_shown_for_an_anchor_without_a_definitions_fingerprint(
    memory: Memory, code: Codebase
) -> None:
    text = (code.folder / "src/store.py").read_text()
    anchor = anchor_of(memory, "doubled")
    for whole in (replace(anchor, symbol=""), replace(anchor, body_hash="")):
        [entry] = compared(memory, keep(memory, whole))
        assert (entry.then, entry.now) == (text, text)
    without = replace(memory.services, codeindex=lambda: None)
    _, [entry] = compare(without, memory.location, keep(memory, anchor).id)
    assert entry.now == text


def test_all_definitions_of_a_name_are_shown_where_all_were_anchored(memory: Memory, code: Codebase) -> None:
    first, second = "def level(a):\n    return a", "def level(a, b):\n    return a + b"
    code.write("src/tides.py", f"{first}\n{second}\n")
    group = anchor_of(memory, "level", "src/tides.py")
    assert group.symbol_kind == "group"
    single = replace(group, symbol="level", symbol_kind="function")
    assert [compared(memory, keep(memory, anchor))[0].now for anchor in (group, single)] == [
        f"{first}\n{second}", first,
    ]  # fmt: skip


# The code of now


def test_what_moved_is_shown_at_its_new_place_and_what_cannot_be_determined_at_its_own(
    memory: Memory, code: Codebase
) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.move_definition("doubled", "src/store.py", "src/sums.py")
    memory.services.codeindex().refresh(memory.location)  # type: ignore[union-attr]
    [entry] = compared(memory, lesson)
    assert (entry.verdict.anchor.path, entry.now) == ("src/sums.py", DOUBLED)
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    unverified = keep(memory, anchor_of(memory, "Store.put"))
    code.edit("src/store.py", "self.rows[key] = [value]", "self.rows[key] = value")
    services = replace(memory.services, codeindex=lambda: OnAnotherBranch(memory))  # type: ignore[arg-type, return-value]
    _, [entry] = compare(services, memory.location, unverified.id)
    assert (entry.verdict.freshness, entry.verdict.anchor.path) == ("unverified", "README.md")
    assert entry.now == PUT


def test_what_is_not_in_the_file_any_more_and_a_file_that_is_gone_are_nothing_now(
    memory: Memory, code: Codebase
) -> None:
    lesson = memory.remember("Doubling is on purpose", files=["src/store.py::doubled"])
    code.edit("src/store.py", DOUBLED, "")
    assert compared(memory, lesson)[0].now == ""
    (code.folder / "src/store.py").unlink()
    [entry] = compared(memory, lesson)
    assert (entry.then, entry.now) == (DOUBLED, "")


# Lines of definitions

TWINS = """
    def high():
        return 4


    def low():
        return 4


    def level(a):
        return a
    def level(a, b):
        return b
"""


def test_a_definition_of_another_name_is_found_by_head_and_body_the_first_of_equals(
    memory: Memory, code: Codebase
) -> None:
    code.write("src/tides.py", TWINS)
    high = anchor_of(memory, "high", "src/tides.py")
    renamed = replace(high, symbol="tide")
    assert spans_of(memory.services, memory.location, replace(high, symbol="low")) == [(5, 6)]
    assert spans_of(memory.services, memory.location, renamed) == [(1, 2)]
    assert spans_of(memory.services, memory.location, replace(renamed, body_hash="b1:x")) == [(0, 0)]
    assert spans_of(memory.services, memory.location, replace(renamed, signature_hash="s1:x")) == [(0, 0)]


def test_a_group_has_the_lines_of_its_definitions_and_no_lines_of_its_own(memory: Memory, code: Codebase) -> None:
    code.write("src/tides.py", TWINS)
    group = anchor_of(memory, "level", "src/tides.py")
    assert spans_of(memory.services, memory.location, group) == [(9, 10), (11, 12)]
    assert spans_of(memory.services, memory.location, replace(group, symbol_kind="function")) == [(9, 10)]
    assert spans_of(memory.services, memory.location, replace(group, symbol="gone")) == [(0, 0)]


# The commit that changed it


def test_the_commit_is_unknown_without_a_recorded_one_and_the_newest_for_a_whole_file(
    memory: Memory, code: Codebase
) -> None:
    anchor = replace(anchor_of(memory, "doubled"), commit=code.git("rev-parse", "HEAD"))
    verdict = Verdict(freshness="drifted", reason="body", anchor=anchor)

    def commit_of(anchor: Anchor) -> str:
        return changing_commit(memory.services, memory.location, anchor, verdict)

    assert commit_of(anchor) == "", "no commit touched the file since"
    code.edit("src/store.py", "total * 2", "total * 3")
    three = code.commit("three")
    code.edit("src/store.py", "LIMIT = 3", "LIMIT = 4")
    limit = code.commit("limit")
    assert commit_of(anchor) == three
    assert commit_of(replace(anchor, symbol="")) == limit
    assert commit_of(replace(anchor, commit="")) == ""
    code.edit("src/store.py", "total * 3", "total * 4")
    assert commit_of(anchor) == "-"


def test_the_commit_that_deleted_a_definition_is_the_oldest_without_it(memory: Memory, code: Codebase) -> None:
    anchor = replace(anchor_of(memory, "doubled"), commit=code.git("rev-parse", "HEAD"))
    code.edit("src/store.py", "LIMIT = 3", "LIMIT = 4")
    code.commit("limit")
    code.edit("src/store.py", DOUBLED, "")
    deleted = code.commit("delete")
    code.edit("src/store.py", "LIMIT = 4", "LIMIT = 5")
    code.commit("limit again")
    verdict = Verdict(freshness="orphaned", reason="gone", anchor=anchor)
    assert changing_commit(memory.services, memory.location, anchor, verdict) == deleted
