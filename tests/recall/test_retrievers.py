"""Delivery and recall by the symbol in hand and by linked files, about a small indexed project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import fsum, prod
from pathlib import Path
from typing import Any

import pytest

from holdfast import Briefing, Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import StoreCorruptError
from holdfast.recall.deliver import inject
from holdfast.recall.retrieve import RETRIEVERS
from holdfast.testing.builders import make_lesson

STORE = '''"""Where tides are kept."""


class Store:
    """Rows by hour."""

    def put(self, hour, height):
        self.rows[hour] = height

    def close_quietly(self):
        self.rows = {}


def high_water(store):
    return max(store.rows.values())
'''
PILOT = """from harbour.store import Store


def berth(ship):
    kept = Store()
    kept.close_quietly()
    return ship


def moor(ship):
    return ship.rope + 1
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / "harbour").mkdir(parents=True)
    (folder / "harbour" / "__init__.py").write_text("")
    (folder / "harbour" / "store.py").write_text(STORE)
    (folder / "harbour" / "pilot.py").write_text(PILOT)
    (folder / "notes.md").write_text("# notes\n")
    return folder


@pytest.fixture
def indexed(memory: Memory) -> Iterator[Memory]:
    index = memory.services.codeindex()
    assert index is not None
    index.refresh(memory.location)
    return memory


def keep(memory: Memory, insight: str, **fields: Any) -> Lesson:
    lesson = make_lesson(project=memory.location.project.id, insight=insight, **fields)
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


def before(memory: Memory, path: str, session: str = "s1", **fields: Any) -> Briefing:
    """What is delivered before a file is read or, with `edits`, edited."""
    whole = f"{memory.location.root}/{path}"
    call = HookCall(
        host="claude-code", name="PreToolUse", session=SessionId(session), cwd=memory.location.root,
        moment="before_file", paths=(whole,), **fields,
    )  # fmt: skip
    return memory.inject(call)


def shown(briefing: Briefing) -> list[str]:
    return [item.lesson.insight for item in briefing.items]


def keep_five(memory: Memory) -> None:
    """Five lessons about one file, the one about `Store.put` neither the newest nor the surest."""
    keep(memory, "Call put with UTC hours.", path="harbour/store.py", symbol="Store.put")
    keep(memory, "A Store is made once for a harbour.", path="harbour/store.py", symbol="Store", confidence=0.3)
    keep(
        memory, "Rows over a thousand are cut on reading.", path="harbour/store.py", symbol="high_water", trust="person"
    )
    keep(memory, "Quiet closing is for tests alone.", path="harbour/store.py", symbol="Store.close_quietly")
    keep(memory, "Heights are centimetres everywhere.", path="harbour/store.py", trust="person", confidence=0.9)


def test_before_an_edit_the_symbols_own_lessons_come_first_then_its_classs(memory: Memory) -> None:
    keep_five(memory)
    briefing = before(memory, "harbour/store.py", edits=True, excerpts=("        self.rows[hour] = height",))
    assert shown(briefing)[:2] == ["Call put with UTC hours.", "A Store is made once for a harbour."]
    assert {"path", "symbol"} <= {share.lane for share in briefing.items[0].why.shares}


def test_a_read_of_some_lines_is_a_read_of_the_symbols_on_them(memory: Memory) -> None:
    keep_five(memory)
    assert shown(before(memory, "harbour/store.py", lines=(10, 11)))[0] == "Quiet closing is for tests alone."
    later = before(memory, "harbour/store.py", session="s2", lines=(13, 15))
    assert shown(later)[0] == "Rows over a thousand are cut on reading."


def test_a_whole_file_has_no_symbol_in_hand(memory: Memory) -> None:
    keep_five(memory)
    retrievers = {share.lane for item in before(memory, "harbour/store.py").items for share in item.why.shares}
    assert retrievers == {"path"}


@pytest.mark.parametrize("excerpt", ["not in the file", "", "\n\n", "store", "\0"])
def test_an_excerpt_that_is_not_there_just_once_says_nothing(memory: Memory, excerpt: str) -> None:
    keep_five(memory)
    briefing = before(memory, "harbour/store.py", edits=True, excerpts=(excerpt,))
    assert {share.lane for item in briefing.items for share in item.why.shares} == {"path"}


class OneLink:
    """A code index that knows of one link."""

    def __init__(self, weight: float) -> None:
        self._weight = weight

    def neighbours(self, location: Location, path: str) -> list[Neighbour]:
        return [Neighbour(path="harbour/store.py", relation="edited_together", weight=self._weight)]


def test_asking_about_a_file_brings_the_lessons_of_linked_files_after_its_own(memory: Memory) -> None:
    keep(memory, "Heights are centimetres everywhere.", path="harbour/store.py")
    keep(memory, "Berths are numbered from the sea.", path="harbour/pilot.py")
    keep(memory, "Notes are kept in English.", path="notes.md")
    close = Memory.at(memory, memory.folder)
    close.services = replace(memory.services, codeindex=lambda: OneLink(0.9))
    briefing = close.recall(paths=["harbour/pilot.py"])
    assert shown(briefing)[:2] == ["Berths are numbered from the sea.", "Heights are centimetres everywhere."]
    linked = briefing.items[1]
    assert "graph" in [share.lane for share in linked.why.shares]
    assert linked.why.words == "about harbour/store.py, often edited with it"
    for item in briefing.items:
        parts = fsum(share.share for share in item.why.shares) * prod(factor for _, factor in item.why.multipliers)
        assert parts == pytest.approx(item.score, rel=1e-12)


def test_a_question_in_words_is_not_answered_with_whatever_is_linked(memory: Memory) -> None:
    keep(memory, "Heights are centimetres everywhere.", path="harbour/store.py")
    close = Memory.at(memory, memory.folder)
    close.services = replace(memory.services, codeindex=lambda: OneLink(0.9))
    assert shown(close.recall(paths=["notes.md"])) == ["Heights are centimetres everywhere."]
    assert shown(close.recall("who numbers berths according to notes.md?")) == []


class BrokenIndex:
    """A code index whose file is damaged."""

    def neighbours(self, location: Location, path: str) -> list[Neighbour]:
        raise StoreCorruptError("the file is not a database")


@pytest.mark.parametrize("index", [None, BrokenIndex()])
def test_without_a_code_index_the_other_lanes_answer(memory: Memory, index: object) -> None:
    keep(memory, "Berths are numbered from the sea.", path="harbour/pilot.py")
    bare = Memory.at(memory, memory.folder)
    bare.services = replace(memory.services, codeindex=lambda: index)
    assert shown(bare.recall(paths=["harbour/pilot.py"])) == ["Berths are numbered from the sea."]
    assert shown(before(bare, "harbour/pilot.py", edits=True)) == ["Berths are numbered from the sea."]


def test_what_was_found_on_the_way_is_delivered_on_the_same_way_only(memory: Memory) -> None:
    dead_end = "The tide tables are not made in harbour/store.py: they come from notes.md."
    keep(memory, dead_end, kind="exploration", path="harbour/store.py")
    words = "where are the tide tables of harbour/store.py made?"
    call = HookCall(host="claude-code", name="Hook", session=SessionId("s1"), cwd=memory.location.root)
    assert inject(memory.services, memory.location, replace(call, moment="prompt", prompt=words)).items == ()
    assert shown(before(memory, "notes.md")) == []
    assert shown(before(memory, "harbour/pilot.py", edits=True)) == []
    assert shown(before(memory, "harbour/store.py")) == [dead_end]
    assert shown(memory.recall(words)) == [dead_end]


def test_vectors_are_not_compared_with_a_question_that_has_none(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(memory, "Notes are written in English.", path="notes.md")
    monkeypatch.setitem(RETRIEVERS, "vector", lambda *_: pytest.fail("there is no vector to compare"))
    assert shown(memory.recall(paths=["notes.md"])) == ["Notes are written in English."]
