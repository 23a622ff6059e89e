"""Sessions that teach nothing are counted, and raise an alarm where a person looks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.statefamilies import BARREN_SESSIONS
from holdfast.domain.vocabulary import SessionId
from holdfast.learning.tuning import BARREN_KEPT, CALLS_OF_WORK
from holdfast.surfaces.cli.hostcheck import BARREN_ALARM
from holdfast.testing.builders import make_event, make_lesson
from tests.surfaces.terminal import run, told


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "harbour"
    folder.mkdir()
    with Memory(str(folder)) as opened:
        yield opened


def works(memory: Memory, number: int, calls: int = CALLS_OF_WORK) -> SessionId:
    """A session with that many calls, from which nothing can be learnt."""
    session = SessionId(f"session-{number}")
    common = {"session": session, "project": "", "cwd": memory.folder, "at": memory.services.clock.now()}
    memory.append([make_event(kind="tool_result", command="ls", exit_code=0, **common) for _ in range(calls)])
    memory.learn(session)
    return session


def test_sessions_with_work_and_without_a_lesson_are_counted_once_each(memory: Memory) -> None:
    for number in (1, 2, 2, 3):
        works(memory, number)
    works(memory, 4, calls=CALLS_OF_WORK - 1)
    assert memory.barren_sessions() == 3


def test_a_session_that_teaches_ends_the_row(memory: Memory) -> None:
    works(memory, 1)
    session = SessionId("session-2")
    prompt = make_event(session=session, text="remember that tides are read at noon", trust="person", project="",
                      cwd=memory.folder, at=memory.services.clock.now())  # fmt: skip
    memory.append([prompt])
    assert memory.learn(session).active
    assert memory.barren_sessions() == 0
    works(memory, 3)
    assert memory.barren_sessions() == 1


def test_a_session_whose_lesson_came_later_ends_the_row_too(memory: Memory) -> None:
    sessions = [works(memory, number) for number in range(4)]
    lesson = make_lesson(project=memory.location.project.id)
    taught = replace(lesson, provenance=replace(lesson.provenance, session=sessions[1]))
    memory.services.store.put([taught], {taught.id: None})
    assert memory.barren_sessions() == 2
    card = replace(make_lesson(project=memory.location.project.id, topic_key="commands/test"),
                   sessions_seen=(sessions[3],))  # fmt: skip
    memory.services.store.put([card], {card.id: None})
    assert memory.barren_sessions() == 2  # the card counts every session


def test_fifty_sessions_are_stored(memory: Memory) -> None:
    sessions = " ".join(f"earlier-{number}" for number in range(BARREN_KEPT))
    memory.services.store.set_state(BARREN_SESSIONS, memory.location.project.id, sessions)
    works(memory, 1)
    assert memory.barren_sessions() == BARREN_KEPT == 50


@pytest.mark.needs_processes("a screen without a command looks for the file of the memory")
def test_twelve_in_a_row_raise_an_alarm_that_says_what_to_do(memory: Memory) -> None:
    for number in range(BARREN_ALARM - 1):
        works(memory, number)
    screens = [("status",), (), ("doctor",)]
    for words in screens:
        assert "taught no lesson" not in run("-C", memory.folder, *words).stdout
    works(memory, BARREN_ALARM)
    for words in screens:
        screen = run("-C", memory.folder, *words).stdout
        assert "the last 12 sessions with real work taught no lesson" in " ".join(screen.split())
        assert "holdfast learn --on" in screen
    assert BARREN_ALARM == 12


@pytest.mark.needs_processes("a screen without a command looks for the file of the memory")
def test_every_screen_counts_the_same_lessons(memory: Memory) -> None:
    project = memory.location.project.id
    lessons = [make_lesson(project=project, state=state) for state in ("active", "active", "candidate", "quarantined")]
    lessons += [make_lesson(project=project, state=state) for state in ("retired", "superseded")]
    memory.services.store.put(lessons, dict.fromkeys((lesson.id for lesson in lessons), None))
    assert memory.counts().words == "2 confirmed, 2 unconfirmed"
    for words in (("status",), ()):
        assert "2 confirmed, 2 unconfirmed" in run("-C", memory.folder, *words).stdout
    assert "2 of 2 confirmed, 2 unconfirmed" in run("-C", memory.folder, "list").stderr
    assert "2 waiting" in run("-C", memory.folder, "review", "--list").stderr
    assert len(told("-C", memory.folder, "list", "--state", "candidate").splitlines()) == 1
