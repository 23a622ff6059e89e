"""Forgetting leaves a tombstone without words; purging leaves nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import LessonNotFoundError
from holdfast.ports.store import EventFilter
from holdfast.testing.builders import make_delivery

WORDS = "Quixotic zeppelins need ballast"


def test_a_tombstone_keeps_the_id_and_no_word(memory: Memory) -> None:
    lesson = memory.remember(WORDS, why="wind", how="sand", files=["src/tides.py"], tags=["zeppelin"], topic_key="z")
    tombstone = memory.forget(lesson.id)
    assert (tombstone.id, tombstone.kind, tombstone.state) == (lesson.id, lesson.kind, "forgotten")
    assert not any(word in repr(tombstone) for word in ("ballast", "wind", "sand", "tides", "zeppelin"))
    assert memory.lessons(states=()) == []
    assert memory.recall(WORDS).items == ()
    assert memory.forget(lesson.id) == tombstone


def test_the_same_words_can_be_remembered_anew(memory: Memory) -> None:
    lesson = memory.remember(WORDS)
    memory.forget(lesson.id)
    assert memory.remember(WORDS).id != lesson.id


@pytest.mark.needs_file("it looks for words in the file's bytes")
def test_purging_erases_the_words_from_the_file_and_says_how_much(memory: Memory, home: Path) -> None:
    lesson = memory.remember(WORDS)
    memory.remember(WORDS, why="wind")
    memory.forget(lesson.id)
    erased = memory.purge(lesson.id)
    assert erased["lessons"] == 3
    assert [change.verb for change in memory.changes()] == ["purge"]
    with pytest.raises(LessonNotFoundError):
        memory.get(lesson.id)
    memory.close()
    assert b"zeppelin" not in (home / "memory.db").read_bytes()


SECRET = "the quixotic zeppelin is moored at berth nine"
SESSION = SessionId("s1")


def learnt(memory: Memory) -> str:
    """A lesson that a session taught; other events, a checkpoint and a delivery of that session repeat its words."""
    clock = memory.services.clock

    def event(kind: str, session: str = SESSION, **fields: str) -> Event:
        plain: dict[str, Any] = {"id": clock.new_id(), "key": clock.new_id(), "host": "claude-code", "at": clock.now()}
        return Event(session=session, kind=kind, **plain, **fields)

    memory.append(
        [
            event("prompt", text=f"Remember that {SECRET}."),
            event("reply", text=f"Noted: {SECRET}. I go on with the tides."),
            event("tool_use", command="make tides", text="tide table"),
            event("prompt", "s2", text="what about the tides"),
        ]
    )
    memory.learn(SESSION)
    (lesson,) = memory.lessons()
    memory.save_checkpoint(f"Find out why {SECRET}", session=SESSION)
    delivery = make_delivery(
        project=memory.location.project.id, session=SESSION, trigger=f"Remember that {SECRET[:30]}…"
    )
    memory.services.store.record([delivery])
    return lesson.id


def test_purging_follows_a_lesson_to_what_its_session_stated(memory: Memory, home: Path) -> None:
    erased = memory.purge(learnt(memory))
    assert {name: erased[name] for name in ("event_texts", "checkpoint_texts", "delivery_triggers")} == {
        "event_texts": 2, "checkpoint_texts": 1, "delivery_triggers": 1,
    }  # fmt: skip
    texts = [event.text for _, event in memory.services.store.find_events(EventFilter())]
    assert texts == ["", "Noted: [purged]. I go on with the tides.", "tide table", "what about the tides"]
    assert memory.learn(SESSION).admitted == 0
    memory.close()
    assert not [file for file in home.rglob("*") if file.is_file() and b"zeppelin" in file.read_bytes()]


def test_purging_leaves_other_sessions_and_short_words_alone(memory: Memory) -> None:
    lesson = memory.remember("Use tabs")
    clock = memory.services.clock
    prompt = Event(
        id=clock.new_id(), session="s1", host="claude-code", kind="prompt", at=clock.now(), key="k", text="Use tabs?"
    )
    memory.append([prompt])
    assert "event_texts" not in memory.purge(lesson.id)
    assert memory.services.store.find_events(EventFilter())[0][1].text == "Use tabs?"


def test_the_words_of_every_version_are_known_before_a_purge(memory: Memory) -> None:
    lesson = memory.remember("Zeppelins need ballast", title="Use ballast")
    memory.forget(lesson.id)
    assert memory.words_of(lesson.id) == ("Use ballast", "Zeppelins need ballast")
