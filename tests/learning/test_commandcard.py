"""The command card: which command tests and lints a project, counted over sessions, one lesson a purpose."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.statefamilies import COMMAND_COUNTS
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.learning.learn import learn
from holdfast.testing.builders import START, make_event, make_id

ONE, TWO = SessionId("session-one"), SessionId("session-two")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    project = tmp_path / "shop"
    project.mkdir()
    return project


@pytest.fixture
def memory(home: Path, folder: Path) -> Iterator[Memory]:
    with Memory(str(folder)) as opened:
        yield opened


def ran(memory: Memory, session: SessionId, *commands: str, trust: str = "tool") -> None:
    """The session ran these commands one after another; one that ends with `!` failed."""
    events = [
        make_event(
            id=EventId(make_id()),
            session=session,
            kind="tool_failure" if command.endswith("!") else "tool_result",
            command=command.removesuffix("!"),
            exit_code=1 if command.endswith("!") else 0,
            text="Error: connection refused" if command.endswith("!") else "done",
            tool="Bash",
            trust=trust,
            project="",
            cwd=memory.folder,
            key=make_id(),
            at=START,
        )
        for command in commands
    ]
    memory.append(events)
    learn(memory.parts, memory.place, session)


def cards(memory: Memory) -> dict[str, Lesson]:
    return {lesson.topic_key: lesson for lesson in memory.lessons() if lesson.topic_key.startswith("commands/")}


def test_a_command_that_passed_twice_is_the_way_here(memory: Memory) -> None:
    ran(memory, ONE, "mise run test", "mise run lint", "mise run test")

    assert list(cards(memory)) == ["commands/test"]
    card = cards(memory)["commands/test"]
    assert (card.title, card.how, card.state) == ("Tests: `mise run test`", "mise run test", "active")
    assert card.insight == "Tests run here with `mise run test` (2 of 2 runs passed)."


def test_two_sessions_are_one_lesson_with_both_counted(memory: Memory) -> None:
    ran(memory, ONE, "mise run test")
    ran(memory, TWO, "mise run test!", "mise run test")

    card = cards(memory)["commands/test"]
    assert card.insight == "Tests run here with `mise run test` (2 of 3 runs passed, in 2 sessions)."
    ran(memory, SessionId("session-three"), "mise run test")
    assert [lesson.id for lesson in memory.lessons()] == [card.id]


def test_a_session_that_is_read_twice_counts_once(memory: Memory) -> None:
    ran(memory, ONE, "mise run test", "mise run test")
    before = cards(memory)
    learn(memory.parts, memory.place, ONE)

    assert cards(memory) == before
    assert memory.parts.store.get_state(COMMAND_COUNTS, memory.place.project.id).count("[2,0,0,0]") == 1


def test_a_script_of_the_project_goes_before_the_tool_behind_it(memory: Memory) -> None:
    ran(memory, ONE, *["go test ./..."] * 5, *["mise run test"] * 4)

    card = cards(memory)["commands/test"]
    assert card.how == "mise run test"
    assert card.snippets == ("mise run test", "go test ./...")


def test_a_step_without_which_it_failed_is_told_first(memory: Memory) -> None:
    ran(memory, ONE, "make migrate!", "docker compose up -d db && make migrate", "make migrate")

    card = cards(memory)["commands/migrate"]
    assert card.how == "docker compose up -d db && make migrate"
    assert "run `docker compose up -d db` first" in card.insight


def test_one_test_one_file_and_one_machine_stay_out_of_the_card(memory: Memory) -> None:
    ran(memory, ONE, *["uv run pytest tests/test_cart.py::test_total -x"] * 2, *["pytest /tmp/probe/test_x.py"] * 2)
    ran(memory, TWO, *["npx eslint src/cart.ts"] * 3, *["API_TOKEN=abc make lint"] * 2)

    assert {card.how for card in cards(memory).values()} == {"uv run pytest"}


def test_a_person_s_revision_is_left_alone(memory: Memory) -> None:
    ran(memory, ONE, "mise run test", "mise run test")
    card = cards(memory)["commands/test"]
    memory.revise(card.id, insight="Tests run with `mise run test:ci` alone.")
    ran(memory, TWO, "mise run test")

    assert [lesson.insight for lesson in memory.lessons()] == ["Tests run with `mise run test:ci` alone."]


def test_a_forgotten_card_does_not_come_back(memory: Memory) -> None:
    ran(memory, ONE, "mise run test", "mise run test")
    memory.forget(cards(memory)["commands/test"].id)
    ran(memory, TWO, "mise run test", "mise run test")

    assert cards(memory) == {}


def test_a_damaged_count_is_counted_anew(memory: Memory) -> None:
    ran(memory, ONE, "mise run test", "mise run test")
    memory.parts.store.set_state(COMMAND_COUNTS, memory.place.project.id, '{"x": [1], "y": {"z": ["a"]}}')
    ran(memory, TWO, "mise run test", "mise run test", "mise run test")

    assert cards(memory)["commands/test"].insight == "Tests run here with `mise run test` (3 of 3 runs passed)."


def test_a_transcript_in_the_repository_counts_for_nothing(memory: Memory) -> None:
    ran(memory, ONE, "mise run test", "mise run test", trust="repository")

    assert cards(memory) == {}
