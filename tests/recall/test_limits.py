"""How much a store is asked for at each step of recall; each number is written out, so that it cannot move alone."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.records import replace
from holdfast.ports.store import Store
from holdfast.recall.ask import ask
from holdfast.recall.inject import inject
from holdfast.recall.moments.end import before_end
from holdfast.recall.question import question
from holdfast.recall.retrieve import PARTICULAR, retrieve
from tests.recall.test_moments import happened, keep
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


def test_a_start_collects_six_hundred_lessons_a_hook_two_hundred_and_prepared_lines_need_a_hundred(
    memory: Memory, recording: Recording
) -> None:
    start = call(memory, "session_start")
    inject(memory.services, memory.location, start)
    assert recording.limits("list_recent") == {600}
    assert recording.limits("list_pinned") == {40}
    assert recording.limits("match_occasions") == {80}
    recording.calls.clear()
    inject(replace(memory.services, low_latency=True), memory.location, start)
    assert recording.limits("list_recent") == {200}
    memory.prepare_brief()
    recording.calls.clear()
    inject(memory.services, memory.location, start)
    assert recording.limits("list_recent") == {100}
    assert recording.limits("list_pinned") == recording.limits("match_occasions") == set()


def test_at_the_act_twenty_triggers_and_forty_lessons_of_a_place_are_read(memory: Memory, recording: Recording) -> None:
    path = f"{memory.location.root}/src/tides.py"
    inject(memory.services, memory.location, call(memory, "before_file", paths=(path,), edits=True, writes=("x",)))
    assert recording.limits("match_triggers") == {20}
    assert recording.limits("match_paths") == {40}
    assert recording.limits("match_text") == set()
    recording.calls.clear()
    inject(memory.services, memory.location, call(memory, "before_command", command="git commit -m x"))
    assert recording.limits("match_triggers") == {20}
    assert recording.limits("match_occasions") == {80}


def test_a_prompt_reads_forty_lessons(memory: Memory, recording: Recording) -> None:
    inject(memory.services, memory.location, call(memory, "prompt", prompt="when are tides read?"))
    assert recording.limits("match_text") == {40}


def test_the_last_four_hundred_edits_and_commands_are_looked_at_before_the_end(
    memory: Memory, recording: Recording
) -> None:
    happened(memory, "file_edit", files=("src/tides.py",))
    before_end(turn_of(memory, "before_command"))
    assert {arguments[0].last for name, arguments in recording.calls if name == "find_events"} == {400}


def test_a_thousand_deliveries_of_a_session_are_read(memory: Memory, recording: Recording) -> None:
    inject(memory.services, memory.location, call(memory, "prompt", prompt="when are tides read?"))
    reads = [arguments[1].limit for name, arguments in recording.calls if name == "find_records"]
    assert 1_000 in reads
