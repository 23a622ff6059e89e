"""Which files are tied together by what sessions read and edited."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.vocabulary import SessionId
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
    memory.services.store.append_events([replace(event, project=memory.location.project.id) for event in walk.events])


def weights(memory: Memory, path: str) -> dict[str, float]:
    index = memory.services.codeindex()
    assert index is not None
    linked = index.neighbours(memory.location, path)
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
    assert associate(memory.services, memory.location) == 1
    once = weights(memory, "b.py")
    assert once == {"a.py": 0.333}
    assert associate(memory.services, memory.location) == 0
    observe(memory, Walk("s1", 100).prompt().read("a.py").edit("b.py"))
    associate(memory.services, memory.location)
    assert weights(memory, "b.py") == once
    observe(memory, Walk("s2", 200).prompt().read("a.py").edit("b.py"))
    associate(memory.services, memory.location)
    assert weights(memory, "b.py") == {"a.py": 0.5}
    assert weights(memory, "a.py") == {"b.py": 0.5}


def test_pairs_lost_with_the_index_are_counted_again(memory: Memory) -> None:
    observe(memory, Walk("s1").prompt().read("a.py").edit("b.py"))
    associate(memory.services, memory.location)
    index = memory.services.codeindex()
    assert index is not None
    index.refresh(memory.location)  # the first one begins by its own rules, with nothing
    assert weights(memory, "b.py") == {}
    assert associate(memory.services, memory.location) == 1
    assert weights(memory, "b.py") == {"a.py": 0.333}


def test_learning_ties_the_files_of_every_session_it_learns_from(memory: Memory) -> None:
    walk = Walk("s1").prompt().read("a.py").edit("b.py")
    walk.events = [replace(event, cwd=memory.location.root) for event in walk.events]
    observe(memory, walk)
    assert memory.learn_pending().failed == ()
    assert weights(memory, "b.py") == {"a.py": 0.333}


def test_without_a_code_index_nothing_is_tied(memory: Memory) -> None:
    observe(memory, Walk("s1").prompt().read("a.py").edit("b.py"))
    assert associate(replace(memory.services, codeindex=lambda: None), memory.location) == 0


# What counts as a look, and which events are read


@pytest.mark.parametrize(
    ("kind", "tool", "is_look"),
    [("tool_result", "Read", True), ("tool_result", "Grep", False), ("tool_failure", "Read", False),
     ("tool_use", "Read", False)],
)  # fmt: skip
def test_a_file_was_looked_at_when_a_read_of_it_came_back(kind: str, tool: str, is_look: bool) -> None:
    walk = Walk().prompt().add(kind, "a.py", tool=tool, text="", trust="tool").edit("b.py")
    assert weigh_pairs(walk.events) == ({("a.py", "b.py"): 1.0} if is_look else {})


def test_every_file_of_a_read_counts_and_the_first_of_an_edit() -> None:
    walk = Walk().prompt()
    walk.add("tool_result", tool="Read", text="", trust="tool")
    walk.events[-1] = replace(walk.events[-1], files=("a.py", "b.py"))
    walk.add("file_edit", tool="Edit", old="a", new="b", text="")
    walk.edit("c.py")
    walk.events[-1] = replace(walk.events[-1], files=("c.py", "d.py"))
    assert weigh_pairs(walk.events) == {("b.py", "c.py"): 1.0, ("a.py", "c.py"): pytest.approx(2**-0.5)}


def test_the_nearest_look_of_several_counts_and_one_that_was_repeated_is_the_last(memory: Memory) -> None:
    walk = Walk().prompt().read("a.py", "b.py", "a.py").edit("c.py").read("b.py").edit("c.py")
    assert weigh_pairs(walk.events) == {("a.py", "c.py"): 1.0, ("b.py", "c.py"): 1.0}


def test_events_are_weighed_in_the_order_in_which_they_happened() -> None:
    walk = Walk().prompt().read("a.py").edit("b.py")
    assert weigh_pairs(reversed(walk.events)) == {("a.py", "b.py"): 1.0}


class Pairs:
    """A code index that keeps what it is given."""

    def __init__(self, upto: str = "", is_kept: bool = True) -> None:
        self.upto, self.is_kept = upto, is_kept
        self.calls: list[tuple[str, dict[tuple[str, str], float], str]] = []

    def pairs_upto(self, place: object, relation: str) -> str:
        return self.upto

    def add_pairs(
        self, place: object, relation: str, pairs: dict[tuple[str, str], float], since: str, upto: str
    ) -> bool:
        self.calls.append(("add", pairs, upto))
        return self.is_kept

    def put_pairs(self, place: object, relation: str, pairs: dict[tuple[str, str], float], upto: str) -> bool:
        self.calls.append(("put", pairs, upto))
        return self.is_kept


def counted(memory: Memory, index: Pairs) -> int:
    return associate(replace(memory.services, codeindex=lambda: index), memory.location)


@pytest.mark.parametrize("upto", ["", "damage"])
def test_an_index_without_pairs_is_given_all_of_them_and_one_with_pairs_the_new_ones(memory: Memory, upto: str) -> None:
    observe(memory, Walk("s1").prompt().read("a.py").edit("b.py"))
    first = Pairs(upto)
    assert counted(memory, first) == 1
    [(verb, pairs, newest)] = first.calls
    assert (verb, pairs) == ("put", {("a.py", "b.py"): 1.0})
    observe(memory, Walk("s1", 100).prompt().read("a.py").edit("b.py").read("c.py").edit("b.py"))
    observe(memory, Walk("s2", 200).prompt().read("a.py").edit("b.py"))
    second = Pairs(newest)
    assert counted(memory, second) == 2
    assert second.calls[0][:2] == ("add", {("c.py", "b.py"): 1.0, ("a.py", "b.py"): 1.0})
    assert int(second.calls[0][2]) > int(newest)
    third = Pairs(second.calls[0][2])
    assert (counted(memory, third), third.calls) == (0, [])


def test_pairs_of_a_session_grow_by_the_difference_alone(memory: Memory) -> None:
    observe(memory, Walk("s1").prompt().read("a.py", "c.py").edit("b.py"))
    first = Pairs()
    counted(memory, first)
    observe(memory, Walk("s1", 100).prompt().read("a.py").edit("b.py"))
    second = Pairs(first.calls[0][2])
    assert counted(memory, second) == 1
    assert second.calls[0][1] == {("a.py", "b.py"): pytest.approx(1 - 2**-0.5)}


def test_what_another_process_counted_first_is_not_reported(memory: Memory) -> None:
    observe(memory, Walk("s1").prompt().read("a.py").edit("b.py"))
    assert counted(memory, Pairs(is_kept=False)) == 0


def test_more_events_than_a_page_are_all_read(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.learning.associations.EVENTS_A_READ", 2)
    observe(memory, Walk("s1").prompt().read("a.py", "c.py").edit("b.py").prompt().read("d.py").edit("e.py"))
    index = Pairs()
    assert counted(memory, index) == 3
    assert set(index.calls[0][1]) == {("a.py", "b.py"), ("c.py", "b.py"), ("d.py", "e.py")}
