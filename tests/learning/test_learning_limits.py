"""How much a store is asked for at each step of learning; each number is written out, so that it cannot move alone."""

from __future__ import annotations

from typing import Any

from holdfast import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.records import replace
from holdfast.learning.associations import associate
from holdfast.learning.distil import prepare
from holdfast.ports.store import EventFilter, LessonFilter
from tests.learning.test_distillation import story
from tests.learning.test_learn import ONE, admitted, make_candidate, say
from tests.recall.test_limits import Recording


def recorded(memory: Memory) -> Recording:
    store = Recording(memory.services.store)
    memory.services = replace(memory.services, store=store)
    return store


def filters(store: Recording, name: str) -> list[Any]:
    return [arguments[0] for called, arguments in store.calls if called == name]


def test_a_find_is_compared_with_the_newest_thousand_lessons(memory: Memory) -> None:
    store = recorded(memory)
    admitted(memory, make_candidate())
    project = memory.location.project.id
    assert LessonFilter(project=project, limit=1_000) in filters(store, "find")


def test_a_session_is_compared_with_a_thousand_open_lessons(memory: Memory) -> None:
    store = recorded(memory)
    prepare(memory.services, memory.location, story())
    where = LessonFilter(project=memory.location.project.id, states=("active", "candidate"), limit=1_000)
    assert where in filters(store, "find")


def test_ten_thousand_events_are_read_at_a_time(memory: Memory) -> None:
    say(memory, ONE, "x")
    store = recorded(memory)
    memory.learn_pending()
    assert EventFilter(after=0, limit=10_000) in filters(store, "find_events")
    store.calls.clear()
    associate(memory.services, memory.location)
    limits = {where.limit for where in filters(store, "find_events")}
    assert limits <= {10_000}


def test_a_session_that_is_unknown_is_asked_for_once(memory: Memory) -> None:
    store = recorded(memory)
    memory.learn(SessionId("never"))
    assert len(filters(store, "find_events")) == 1
