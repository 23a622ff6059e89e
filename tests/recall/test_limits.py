"""How much a store is asked for at each step of recall; each number is written out, so that it cannot move alone."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.records import Outcome
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.records import replace
from holdfast.ports.store import Store
from holdfast.recall.ask import ask
from holdfast.recall.inject import inject
from holdfast.recall.moments.context import MomentContext
from holdfast.recall.question import question
from holdfast.recall.retrieve import PARTICULAR, retrieve
from tests.recall.test_moments import TESTS, happened, keep
from tests.recall.test_turn import turn_of


class Recording:
    """The real store, which also notes what each of its methods is asked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not callable(method):
            return method

        def noted(*arguments: Any) -> Any:
            self.calls.append((name, arguments))
            return method(*arguments)

        return noted

    def limits(self, name: str) -> set[int]:
        """The limits that the method was given, as its second argument."""
        return {arguments[1] for called, arguments in self.calls if called == name}


@pytest.fixture
def recording(memory: Memory) -> Recording:
    store = Recording(memory.services.store)
    memory.services = replace(memory.services, store=store)
    return store


ABOUT = {"kind": "constraint", "trust": "agent"}


def test_each_retriever_is_asked_for_thirty_and_places_for_a_hundred_where_words_choose(
    memory: Memory, recording: Recording
) -> None:
    keep(memory, "Tides are read at noon.", **ABOUT)
    query = question(memory.services, memory.location, "tides", paths=["src/tides.py"], error="KeyError: 'x'")
    retrieve(memory.services, query, PARTICULAR)
    assert recording.limits("match_text") == {30}
    assert recording.limits("match_paths") == recording.limits("match_symbols") == {100}
    assert recording.limits("match_errors") == {20}
    recording.calls.clear()
    retrieve(memory.services, replace(query, text=""), PARTICULAR)
    retrieve(memory.services, query, ("path",))
    assert recording.limits("match_paths") == {30}
    recording.calls.clear()
    retrieve(memory.services, query, PARTICULAR, pool=60)
    assert recording.limits("match_text") == {60}
    recording.calls.clear()
    retrieve(memory.services, query, PARTICULAR, pool=200)
    assert recording.limits("match_paths") == {200}


@pytest.mark.parametrize(("limit", "pool"), [(6, 30), (20, 40), (300, 400)])
def test_what_a_moment_would_be_given_is_drawn_from_twice_its_limit_up_to_four_hundred(
    memory: Memory, recording: Recording, limit: int, pool: int
) -> None:
    query = question(memory.services, memory.location, "tides")
    ask(memory.services, memory.location, query, limit=limit, budget_tokens=900, moment="prompt")
    assert recording.limits("match_text") == {pool}


@pytest.mark.parametrize(("limit", "pools"), [(60, {60}), (61, {60, 400})])
def test_who_wants_more_than_sixty_is_answered_from_four_hundred(
    memory: Memory, recording: Recording, limit: int, pools: set[int]
) -> None:
    query = question(memory.services, memory.location, "tides")
    ask(memory.services, memory.location, query, limit=limit, budget_tokens=900)
    assert recording.limits("match_text") == pools


def call(memory: Memory, moment: Any, **fields: Any) -> HookCall:
    plain = {"host": "claude-code", "name": "Hook", "session": SessionId("s1"), "cwd": memory.folder, "moment": moment}
    return HookCall(**{**plain, **fields})


def test_a_session_start_reads_eighty_rules_four_pinned_ones_and_two_thousand_outcomes_and_counts_a_hundred(
    memory: Memory, recording: Recording
) -> None:
    keep(memory, TESTS)
    inject(memory.services, memory.location, call(memory, "session_start"))
    assert recording.limits("list_recent") == {100}
    assert recording.limits("list_pinned") == {4}
    assert recording.limits("match_occasions") == {80}
    reads = [arguments for name, arguments in recording.calls if name == "find_records" and arguments[0] is Outcome]
    assert 2_000 in {where.limit for _, where in reads}


def test_before_a_commit_four_hundred_rules_and_events_are_read(memory: Memory, recording: Recording) -> None:
    keep(memory, TESTS)
    inject(memory.services, memory.location, call(memory, "session_start"))
    recording.calls.clear()
    inject(memory.services, memory.location, call(memory, "before_command", command="git commit -m x"))
    assert recording.limits("match_occasions") == {80, 400}
    assert recording.limits("match_triggers") == {10}
    last = {arguments[0].last for name, arguments in recording.calls if name == "find_events"}
    assert 400 in last


def test_before_a_file_one_place_is_looked_for_before_words_are_and_ten_triggers(
    memory: Memory, recording: Recording
) -> None:
    path = f"{memory.location.root}/src/tides.py"
    edit = call(memory, "before_file", paths=(path,), edits=True, writes=("x",))
    inject(memory.services, memory.location, edit)
    assert recording.limits("match_triggers") == {10}
    assert recording.limits("match_paths") == {1}
    assert recording.limits("match_text") == set()
    recording.calls.clear()
    keep(memory, "Tides are read at noon.", path="src/tides.py", **ABOUT)
    inject(memory.services, memory.location, edit)
    assert recording.limits("match_paths") == {1, 100}


def test_three_thousand_characters_of_an_edit_and_the_session_say_what_it_is_about(memory: Memory) -> None:
    happened(memory, "prompt", text="anchors")
    edit = {"excerpts": ("beacons",), "writes": (f"{'cranes':2987}docks ebbs",)}
    context: MomentContext = turn_of(memory, "before_file", **edit)
    assert _subject(context) == "anchors beacons cranes docks"
