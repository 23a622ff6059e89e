"""`holdfast sessions` and `holdfast threads` on a terminal and for programs."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from holdfast import Memory
from tests.stories import Story, play
from tests.surfaces.terminal import run


@pytest.fixture
def folder(memory: Memory) -> str:
    """The folder of a project with three sessions."""
    begin = datetime.now(UTC) - timedelta(days=4)
    stories = [
        Story("11111111-aaaa", start=begin).asked("Mend the late test.").red().red(),
        Story("22222222-bbbb", 1, branch="main", start=begin).asked("Read the README."),
        Story("33333333-bbbc", 2, start=begin).asked("Go on with the late test.").edited("a.go").green(),
    ]
    play(memory, *stories)
    return memory.folder


def test_it_lists_sessions(folder: str) -> None:
    output = run("sessions", "-C", folder).output
    assert output.index("Go on with the late test.") < output.index("Read the README.")
    assert max(map(len, output.splitlines())) <= 80
    answer = json.loads(run("sessions", "-C", folder, "--branch", "work", "--limit", "1", "--json").output)
    assert [line["session"] for line in answer["sessions"]] == ["33333333-bbbc"]
    assert answer["older"]


def test_it_tells_the_last_session_on_a_branch(folder: str) -> None:
    assert "Read the README." in run("sessions", "-C", folder, "--last", "--branch", "main").output
    lost = run("sessions", "-C", folder, "--last", "--branch", "lost")
    assert lost.exit_code == 1
    assert "no session on lost yet" in lost.stderr


def test_it_tells_a_session_by_its_id_or_the_beginning_of_its_short_one(folder: str) -> None:
    for typed in ("11111111-aaaa", "1111"):
        assert "Mend the late test." in run("sessions", "-C", folder, typed).output
    story = json.loads(run("sessions", "-C", folder, "11111111-aaaa", "--json").output)
    assert story["failures"][0]["text"] == "TestLate"
    assert story["counts"]["prompts"]["total"] == 1
    assert run("sessions", "-C", folder, "lost").exit_code == 1
    assert run("sessions", "-C", folder, "11111111-aaaa", "--last").exit_code == 2
    assert "What was" not in run("sessions", "-C", folder, "1111", "--whole", "asked").output


def test_an_id_that_several_sessions_have_is_an_error(memory: Memory) -> None:
    play(memory, Story("abc1").asked("One?"), Story("abc2", 1).asked("Two?"))
    ambiguous = run("sessions", "-C", memory.folder, "abc")
    assert ambiguous.exit_code == 1
    assert "2 sessions" in ambiguous.stderr


def test_it_lists_threads(folder: str) -> None:
    output = run("threads", "-C", folder).output
    assert re.search(r"TestLate: expected 3, got 1", output)
    answer = json.loads(run("threads", "-C", folder, "--json").output)
    assert answer["threads"][0]["runs"] == 2
    assert run("threads", "-C", folder, "--open").exit_code == 0


def test_an_empty_memory_says_what_to_do(memory: Memory) -> None:
    assert "holdfast doctor" in run("sessions", "-C", memory.folder).stderr
    assert "no failure" in run("threads", "-C", memory.folder).stderr
    assert json.loads(run("sessions", "-C", memory.folder, "--json").output) == {"sessions": [], "older": ""}
