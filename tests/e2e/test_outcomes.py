"""Through the hooks and the learner: a wrong lesson retires itself, and a missed one is told the next time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.hookcall import parse_errand
from holdfast.surfaces.hooks import learner

WRONG = "Use `decimal_round` for ledger amounts in ledger.py, never `round_half_even`."
RIGHT = "unparam: remove parameters of ledger functions that nobody uses, the linter rejects them."
OTHER = "Amounts in the ledger are whole cents and never floats: functions return them as such."
WORK = "cents, floats, parameters = functions"


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    made = tmp_path / "ledger"
    made.mkdir()
    (made / "ledger.py").write_text("rate = 1\n")
    return made


class Agent:
    """Claude Code as far as its hooks go, each answered in this process."""

    def __init__(self, memory: Memory, session: str) -> None:
        self.memory, self.session, self.calls = memory, session, 0

    def hook(self, name: str, **fields: Any) -> str:
        payload = {"session_id": self.session, "cwd": self.memory.folder, "hook_event_name": name, **fields}
        return self.memory.answer_hook("claude-code", payload)

    def edit(self, new: str) -> str:
        """Edit the file as the host reports it, before and after; what was told before it."""
        self.calls += 1
        call = {
            "tool_name": "Edit", "tool_use_id": f"{self.session}-{self.calls}",
            "tool_input": {"file_path": f"{self.memory.folder}/ledger.py", "old_string": "rate = 1", "new_string": new},
        }  # fmt: skip
        context = self.hook("PreToolUse", **call)
        self.hook("PostToolUse", tool_response={"success": True}, **call)
        return context

    def fail(self, command: str, output: str) -> None:
        self.calls += 1
        self.hook(
            "PostToolUseFailure", tool_name="Bash", tool_use_id=f"{self.session}-{self.calls}",
            tool_input={"command": command}, error=f"Exit code 1\n{output}",
        )  # fmt: skip

    def end(self) -> None:
        self.hook("SessionEnd", reason="exit")
        learner.learn_all(self.memory.settings, parse_errand(""))


def test_a_wrong_lesson_retires_itself(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        wrong = memory.remember(WRONG, files=["ledger.py"], trust="agent")
        for session in ("one", "two"):
            agent = Agent(memory, session)
            assert "decimal_round" in agent.edit("rate = round_half_even(1)")
            agent.end()
        assert memory.get(wrong.id).state == "retired"
        assert Agent(memory, "three").edit("rate = 2") in ("", "{}")
        bill = memory.bill()
        assert bill is not None
        assert bill.words == "told 1 (1 overridden), missed 0, learnt 0"
        explained = memory.explain(wrong.id)
        assert explained.standing.words == "2 overridden"
        assert explained.history.changes[0].summary == "retired: 2 overridden"


def test_a_missed_lesson_is_told_the_next_time(folder: Path) -> None:
    """Its factor turns the order round: before, another lesson about the file was told in its place."""
    with Memory(str(folder)) as memory:
        missed = memory.remember(RIGHT, files=["ledger.py"], trust="agent", kind="tooling")
        memory.remember(OTHER, files=["ledger.py"])
        assert "whole cents" in Agent(memory, "before").edit(WORK)
        for session in ("one", "two", "three"):
            agent = Agent(memory, session)
            agent.hook("UserPromptSubmit", prompt="please go on")
            agent.fail("make lint", "ledger.py:3:1: `cents` is unused (unparam)")
            agent.end()
        assert dict(memory.explain(missed.id).factors)[""] == 2.0
        assert "unparam" in Agent(memory, "after").edit(WORK)


def test_stats_and_log_tell_it_on_the_command_line(folder: Path) -> None:
    from tests.surfaces.terminal import told, told_json

    with Memory(str(folder)) as memory:
        memory.remember(WRONG, files=["ledger.py"], trust="agent")
        agent = Agent(memory, "one")
        agent.edit("rate = round_half_even(1)")
        agent.end()
    where = ("-C", str(folder))
    assert "1 delivery in 1 session" in told("stats", *where)
    assert "█" in told("stats", "--plot", "--all-projects", *where)
    (stats,) = told_json("stats", *where)["projects"]
    assert (stats["overridden"]["count"], stats["overridden"]["of"], stats["weeks"][0]["told"]) == (1, 1, 1)
    assert "session one: told 1 (1 overridden), missed 0, learnt 0" in told("log", *where, "--session")
    assert told_json("log", "--session", "one", *where)["bill"]["overridden"] == 1
    assert "told 1 (1 overridden)" in told("status", *where)
    assert json.loads(json.dumps(stats)) == stats
