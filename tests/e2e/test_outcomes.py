"""Through the hooks and the learner: a wrong lesson is put in doubt, and a missed one moves up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.hookcall import parse_errand
from holdfast.domain.records import Outcome
from holdfast.domain.vocabulary import SessionId
from holdfast.outcomes.standing import order_evidence, order_factors
from holdfast.surfaces.hooks import learner

WRONG = "Use `decimal_round` for ledger amounts in ledger.py, never `round_half_even`."
RIGHT = "unparam: remove parameters of ledger functions that nobody uses, the linter rejects them."


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


def test_a_wrong_lesson_is_put_in_doubt_and_moves_down(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        wrong = memory.remember(WRONG, files=["ledger.py"], trust="agent")
        for session in ("one", "two", "three"):
            agent = Agent(memory, session)
            assert "decimal_round" in agent.edit("rate = 2")
            agent.edit("rate = round_half_even(1)")
            agent.end()
        assert memory.get(wrong.id).state == "active"
        assert order_factors(memory.services.store, memory.location.project.id) == {wrong.id: 0.5}
        assert [(lesson.id, words) for lesson, words in memory.for_review()] == [(wrong.id, "3 overridden")]
        sums = memory.session_sums()
        assert sums is not None
        assert sums.words == "told 1 (1 overridden), missed 0, learnt 0"
        assert memory.explain(wrong.id).standing.estimate == "told 3 times, heeded 0"


def test_the_edit_before_which_a_lesson_is_delivered_is_not_counted_against_it(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        lesson = memory.remember(WRONG, files=["ledger.py"], trust="agent")
        agent = Agent(memory, "one")
        assert "decimal_round" in agent.edit("rate = round_half_even(1)")
        agent.edit("rate = decimal_round(1)")
        agent.end()
        assert memory.explain(lesson.id).standing.heeded == 1


def test_a_missed_lesson_is_needed_and_moves_up(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        missed = memory.remember(RIGHT, files=["ledger.py"], trust="agent", kind="tooling")
        for session in ("one", "two", "three"):
            agent = Agent(memory, session)
            agent.hook("UserPromptSubmit", prompt="please go on")
            agent.fail("make lint", "ledger.py:3:1: `cents` is unused (unparam)")
            agent.end()
        evidence = order_evidence(memory.services.store, memory.location.project.id)
        assert (dict(evidence.factors), dict(evidence.needed)) == ({missed.id: 2.0}, {missed.id: 3})


def test_a_correction_that_memory_has_is_missed_each_time_it_is_repeated(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        lesson = memory.remember("Round ledger amounts half to even before they are summed.", trust="agent")
        for session in ("one", "two", "three", "four"):
            agent = Agent(memory, session)
            agent.edit("rate = 2")
            agent.hook("UserPromptSubmit", prompt="no, always round ledger amounts half to even before they are summed")
            agent.end()
        standing = memory.explain(lesson.id).standing
        assert (standing.missed + standing.failed, standing.heeded) == (4, 0)


def test_stats_and_log_say_it_on_the_command_line(folder: Path) -> None:
    from tests.surfaces.terminal import told, told_json

    with Memory(str(folder)) as memory:
        memory.remember(WRONG, files=["ledger.py"], trust="agent")
        agent = Agent(memory, "one")
        agent.edit("rate = 2")
        agent.edit("rate = round_half_even(1)")
        agent.end()
    where = ("-C", str(folder))
    assert "1 delivery in 1 session" in told("stats", *where)
    assert "no difference to give: 0 of 10 withheld lessons judged" in told("stats", *where)
    assert "minute" not in told("stats", *where, "--all-projects")
    (stats,) = told_json("stats", *where)["projects"]
    assert (stats["overridden"]["count"], stats["overridden"]["of"], stats["effect_on_heeding"]) == (1, 1, None)
    assert "session one: told 1 (1 overridden), missed 0, learnt 0" in told("log", *where, "--session")
    assert told_json("log", "--session", "one", *where)["session"]["overridden"] == 1
    assert "told 1 (1 overridden)" in told("status", *where)
    assert json.loads(json.dumps(stats)) == stats


def test_a_report_of_harm_is_shown_where_a_person_looks(folder: Path) -> None:
    from tests.surfaces.terminal import told, told_json

    where = ("-C", str(folder))
    with Memory(str(folder)) as memory:
        lesson = memory.remember(WRONG, files=["ledger.py"])
    told("feedback", lesson.id, "hurt", *where)
    named = f"{lesson.id[-8:]}  {lesson.title}"
    assert named in told(*where)
    assert f"in doubt  {named}: 1 hurt" in told("review", "--list", *where)
    assert [doubt["reason"] for doubt in told_json("review", "--list", *where)["in_doubt"]] == ["1 hurt"]
    assert "in doubt" in told("stats", *where)
    assert "later in the order: x 0.25" in told("why", lesson.id, *where)


def test_a_withheld_line_is_marked_in_the_log(folder: Path) -> None:
    from tests.surfaces.terminal import told, told_json

    where = ("-C", str(folder))
    with Memory(str(folder)) as memory:
        lesson = memory.remember(WRONG, files=["ledger.py"])
        withheld = Outcome(
            id="w", at=lesson.recorded_at, project=memory.location.project.id, session=SessionId("one"),
            lesson=lesson.id, verdict="withheld", judge="holdout/1", moment="session_start", withheld=True,
        )  # fmt: skip
        memory.services.store.record([withheld])
    assert "session_start (withheld)" in told("log", *where)
    assert "withheld 1" in told("log", "--session", "one", *where)
    assert [entry["lesson"] for entry in told_json("log", *where)["withheld"]] == [lesson.id]
    assert "withheld" not in told("log", "--session", "two", *where).replace("(withheld)", "withheld")
