"""Which files are tied together by what sessions read and edited."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.records import replace
from holdfast.learning.associations import associate, weigh_pairs
from holdfast.learning.tuning import LOOKED_BACK
from holdfast.testing.builders import START, make_event


class Walk:
    """Events of one session, a second apart."""

    def __init__(self, session: str = "s1", begun: int = 0) -> None:
        self.session = SessionId(session)
        self.events: list[Event] = []
        self._begun = begun

    def add(self, kind: str, path: str = "", **fields: object) -> Walk:
        at = START + timedelta(seconds=self._begun + len(self.events))
        files = (path,) if path else ()
        self.events.append(make_event(session=self.session, kind=kind, files=files, at=at, **fields))
        return self

    def prompt(self) -> Walk:
        return self.add("prompt", trust="person")

    def read(self, *paths: str) -> Walk:
        for path in paths:
            self.add("tool_result", path, tool="Read", text="", trust="tool")
        return self

    def edit(self, path: str) -> Walk:
        return self.add("file_edit", path, tool="Edit", old="a", new="b", text="")


def test_what_was_read_last_before_an_edit_counts_most() -> None:
    walk = Walk().prompt().read("a.py", "b.py", "c.py").edit("c.py")
    assert weigh_pairs(walk.events) == {("b.py", "c.py"): 1.0, ("a.py", "c.py"): pytest.approx(2**-0.5)}


def test_an_edited_file_counts_as_read_before_the_next_edit() -> None:
    assert weigh_pairs(Walk().prompt().edit("a.py").edit("b.py").events) == {("a.py", "b.py"): 1.0}


def test_what_was_read_for_another_prompt_does_not_count() -> None:
    assert weigh_pairs(Walk().prompt().read("a.py").prompt().read("b.py").edit("b.py").events) == {}


def test_reading_alone_ties_nothing_and_many_reads_tie_only_the_last() -> None:
    names = [f"{n}.py" for n in range(30)]
    assert weigh_pairs(Walk().prompt().read(*names).events) == {}
    pairs = weigh_pairs(Walk().prompt().read(*names).edit("x.py").events)
    assert len(pairs) == LOOKED_BACK
    assert pairs["29.py", "x.py"] == 1.0


def observe(memory: Memory, walk: Walk) -> None:
    memory.parts.store.append_events([replace(event, project=memory.place.project.id) for event in walk.events])


def weights(memory: Memory, path: str) -> dict[str, float]:
    index = memory.parts.codeindex()
    assert index is not None
    linked = index.neighbours(memory.place, path)
    return {neighbour.path: round(neighbour.weight, 3) for neighbour in linked if neighbour.relation == "read_before"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    for name in ("a.py", "b.py", "c.py"):
        (folder / name).write_text("")
    return folder


def test_sessions_are_counted_once_however_often_they_are_looked_at(memory: Memory) -> None:
    first = Walk("s1").prompt().read("a.py").edit("b.py")
    observe(memory, first)
    assert associate(memory.parts, memory.place) == 1
    once = weights(memory, "b.py")
    assert once == {"a.py": 0.333}
    assert associate(memory.parts, memory.place) == 0
    observe(memory, Walk("s1", 100).prompt().read("a.py").edit("b.py"))
    associate(memory.parts, memory.place)
    assert weights(memory, "b.py") == once
    observe(memory, Walk("s2", 200).prompt().read("a.py").edit("b.py"))
    associate(memory.parts, memory.place)
    assert weights(memory, "b.py") == {"a.py": 0.5}
    assert weights(memory, "a.py") == {"b.py": 0.5}


def test_pairs_lost_with_the_index_are_counted_again(memory: Memory) -> None:
    observe(memory, Walk("s1").prompt().read("a.py").edit("b.py"))
    associate(memory.parts, memory.place)
    index = memory.parts.codeindex()
    assert index is not None
    index.refresh(memory.place)  # the first one begins by its own rules, with nothing
    assert weights(memory, "b.py") == {}
    assert associate(memory.parts, memory.place) == 1
    assert weights(memory, "b.py") == {"a.py": 0.333}


def test_learning_ties_the_files_of_every_session_it_learns_from(memory: Memory) -> None:
    walk = Walk("s1").prompt().read("a.py").edit("b.py")
    walk.events = [replace(event, cwd=memory.place.root) for event in walk.events]
    observe(memory, walk)
    assert memory.learn_pending().failed == ()
    assert weights(memory, "b.py") == {"a.py": 0.333}


def test_without_a_code_index_nothing_is_tied(memory: Memory) -> None:
    observe(memory, Walk("s1").prompt().read("a.py").edit("b.py"))
    assert associate(replace(memory.parts, codeindex=lambda: None), memory.place) == 0
