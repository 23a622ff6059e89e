"""An agent in Python reports its session: it is told what is known, and the next session knows what this one taught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import open_memory
from holdfast.bootstrap import Memory
from holdfast.client.session import Calls
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HoldfastError
from holdfast.ports.store import EventFilter

RULE = "Amounts in money.py are whole cents, never floats"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    project = tmp_path / "bills"
    project.mkdir()
    (project / "money.py").write_text("share = total / people\n")
    with open_memory(str(project), home=str(tmp_path / "home")) as opened:
        yield opened


def test_a_session_is_told_what_is_known_at_its_start_and_before_an_edit(memory: Memory) -> None:
    memory.remember(RULE, files=["money.py"], kind="constraint")
    with memory.session(model="a-model") as session:
        assert RULE in session.start
    with memory.session() as following:
        assert RULE in following.start
        assert following.id != session.id


def test_a_prompt_gets_the_whole_rule_that_it_is_about(memory: Memory) -> None:
    memory.remember(RULE, files=["money.py"], kind="constraint", why="a rounded share loses a cent")
    with memory.session() as session:
        assert "loses a cent" in session.prompt("Round the shares in money.py to two digits")


def test_what_a_person_asks_to_remember_is_known_to_the_next_session(memory: Memory) -> None:
    with memory.session() as session:
        session.prompt("Remember that reports are sorted by date, newest first.")
        session.reply("I will.")
    with memory.session() as following:
        assert "sorted by date" in following.start


def test_every_step_is_an_event_of_the_session(memory: Memory) -> None:
    with memory.session("build-7") as session:
        session.prompt("Fix the rounding")
        session.before_read("money.py")
        session.before_edit("money.py", old="total / people", new="total // people")
        session.edited("money.py", old="total / people", new="total // people")
        session.edited("notes.md", new="# Notes\n")
        session.before_command("pytest -q")
        session.command("pytest -q", "1 failed\nAssertionError: 3 != 4", exit_code=1)
        session.command("pytest -q", "1 passed")
        session.tool("lookup_rate", {"currency": "EUR"}, "1.08")
        session.tool("lookup_rate", {"currency": "XXX"}, error="no such currency")
        session.compact()
        session.reply("Fixed.")
    events = memory.services.store.find_events(_of("build-7"))
    kinds = [event.kind for _, event in events]
    assert kinds.count("file_edit") == 2
    assert kinds.count("tool_failure") == 2
    assert kinds[0] == "session_start"
    assert kinds[-1] == "session_end"
    assert {"prompt", "reply", "tool_result", "compaction"} <= set(kinds)
    failed = next(event for _, event in events if event.kind == "tool_failure" and event.command)
    assert (failed.exit_code, "3 != 4" in failed.text) == (1, True)
    assert {event.host for _, event in events} == {"own-agent"}


def test_a_session_that_has_ended_takes_no_more(memory: Memory) -> None:
    with memory.session() as session:
        pass
    session.close()
    with pytest.raises(HoldfastError, match="has ended"):
        session.prompt("more")


def test_a_failing_agent_still_ends_its_session(memory: Memory) -> None:
    def work() -> None:
        with memory.session("broken") as session:
            session.prompt("Remember that the port of the test server is 8431.")
            raise RuntimeError("the model is gone")

    with pytest.raises(RuntimeError, match="the model is gone"):
        work()
    assert any("8431" in lesson.insight for lesson in memory.lessons())


def test_secrets_of_a_session_do_not_reach_the_store(memory: Memory) -> None:
    secret = "ghp_" + "k3Jd82mQpZx71LrTv0aWsYc5NbUe9HfGi4Xo"
    with memory.session("secret") as session:
        session.prompt(f"Use the token {secret} to push")
    events = memory.services.store.find_events(_of("secret"))
    assert not any(secret in event.text for _, event in events)


def test_a_call_has_no_empty_old_text_where_a_file_is_written_whole() -> None:
    call = Calls("s", "/w", "").before_edit("a.py", new="x = 1\n")
    assert call["tool_input"] == {"file_path": "a.py", "content": "x = 1\n"}


def _of(session: str) -> EventFilter:
    return EventFilter(session=SessionId(session))
