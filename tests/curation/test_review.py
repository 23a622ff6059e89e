"""The inbox holds what waits; a person's word moves it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast import Memory
from holdfast.errors import IllegalTransitionError
from holdfast.testing.builders import make_lesson


def put(memory: Memory, **over) -> str:  # type: ignore[no-untyped-def]
    lesson = make_lesson(project=memory.location.project.id, **{"state": "candidate", **over})
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson.id


def test_the_most_promising_comes_first_and_quarantined_ones_last(memory: Memory) -> None:
    low = put(memory, insight="low", confidence=0.3)
    high = put(memory, insight="high", confidence=0.9, salience=0.8)
    odd = put(memory, insight="odd", confidence=1.0, salience=1.0, state="quarantined")
    put(memory, insight="known", state="active")
    assert [lesson.id for lesson in memory.inbox()] == [high, low, odd]


def test_an_accepted_lesson_has_a_persons_trust(memory: Memory) -> None:
    accepted = memory.accept(put(memory, trust="tool", confidence=0.2), author="ada")
    assert (accepted.state, accepted.trust, accepted.confidence) == ("active", "person", 0.9)
    assert accepted.provenance.author == "ada"
    assert [(change.verb, change.actor) for change in memory.changes()] == [("accept", "ada")]


@pytest.mark.parametrize("state", ["candidate", "quarantined"])
def test_a_rejected_lesson_is_retired_and_can_be_accepted_after_all(memory: Memory, state: str) -> None:
    rejected = memory.reject(put(memory, state=state))
    assert rejected.state == "retired"
    assert memory.inbox() == []
    assert memory.accept(rejected.id).state == "active"


def test_only_what_waits_can_be_accepted_or_rejected(memory: Memory) -> None:
    active = put(memory, state="active")
    with pytest.raises(IllegalTransitionError, match="it is active"):
        memory.accept(active)
    with pytest.raises(IllegalTransitionError) as caught:
        memory.reject(active)
    assert "forget" in caught.value.hint
    superseded = put(memory, insight="old", state="superseded")
    with pytest.raises(IllegalTransitionError):
        memory.accept(superseded)


def test_accepting_keeps_the_evidence(memory: Memory) -> None:
    lesson = make_lesson(project=memory.location.project.id, state="candidate")
    lesson = replace(lesson, provenance=replace(lesson.provenance, host="claude-code", detector="fail_fix/1"))
    memory.services.store.put([lesson], {lesson.id: None})
    accepted = memory.accept(lesson.id)
    assert (accepted.provenance.host, accepted.provenance.detector) == ("claude-code", "fail_fix/1")
