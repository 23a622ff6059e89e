"""Learning with the user's own agent, end to end: one consent, then each session's lessons reach the next session.

`claude` is a program on the PATH that speaks Claude Code's headless protocol; only the model's words are scripted. It
answers as its mode says, and writes down what it was sent and with which environment.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from player import Player, load_story

from holdfast import Memory
from holdfast.home.runfiles import RunLock
from holdfast.settings import load_settings
from tests.e2e.conftest import PYTHON, ROOT, Machine
from tests.e2e.test_story import _is_quiet, _running_mcp
from tests.surfaces.hookcalls import wait_for

STORY = load_story(str(ROOT / "examples" / "ledger"))
QUOTE = "a dinner for three loses a cent"
LESSON = "Rounding each share alone makes a bill lose cents"
ANSWER = {"lessons": [{"lesson": LESSON, "title": LESSON, "kind": "constraint", "quote": QUOTE, "line": 0}]}
SECRET = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
PROGRAM = """\
import json, os, pathlib, sys, time
if "--version" in sys.argv:
    sys.exit(print("2.1.300 (Claude Code)"))
home = pathlib.Path({home!r})
prompt = sys.stdin.read()
mode = (home / "mode").read_text()
call = {{"prompt": prompt, "arguments": sys.argv[1:], "files": os.listdir("."), "environment": dict(os.environ)}}
name = "call-" + str(time.time_ns()) + ".json"
(home / ("." + name)).write_text(json.dumps(call))
os.rename(home / ("." + name), home / name)
if "CLAUDECODE" in os.environ:
    sys.exit("Claude Code cannot be launched inside another Claude Code session")
result, error = json.dumps({answer!r}), False
if mode == "no login":
    result, error = "Invalid API key \\u00b7 Please run /login", True
elif mode == "no network":
    result, error = "API Error: Connection error. (ECONNREFUSED)", True
elif mode == "hang":
    time.sleep(600)
elif mode == "invented":
    lesson = {{"lesson": "Deploy by hand.", "kind": "constraint", "quote": "nobody ever said so", "line": 0}}
    result = json.dumps({{"lessons": [lesson]}})
elif mode == "no json":
    result = "I would rather write a poem."
elif mode == "large":
    result = "x" * 1_100_000
usage = {{"input_tokens": 7000, "output_tokens": 300}}
print(json.dumps({{"type": "result", "is_error": error, "result": result, "total_cost_usd": 0.004, "usage": usage}}))
sys.exit(1 if error else 0)
"""
LATER = """\
import sys
from datetime import timedelta
from holdfast.surfaces.hooks import learner
from holdfast.wiring import SystemClock
now = SystemClock.now
SystemClock.now = lambda clock: now(clock) + timedelta(minutes=float(sys.argv[1]))
learner.main()
"""
"""A learner that starts so many minutes later: the hooks and the events are real, only its clock is moved."""


class Agent:
    """The user's own agent on the PATH of the machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.home = machine.home / "agent"
        self.home.mkdir()
        self.program = self.home / "bin" / "claude"
        self.program.parent.mkdir()
        code = PROGRAM.format(home=str(self.home), answer=ANSWER)
        (self.home / "program.py").write_text(code)
        self.program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{self.home}/program.py" "$@"\n')
        self.program.chmod(0o755)
        machine.env["PATH"] = f"{self.program.parent}{os.pathsep}{machine.env['PATH']}"
        machine.env["CLAUDECODE"] = "1"  # as in every process that Claude Code starts
        self.mode = "works"

    @property
    def mode(self) -> str:
        """What it does when it is asked."""
        return (self.home / "mode").read_text()

    @mode.setter
    def mode(self, mode: str) -> None:
        (self.home / "mode").write_text(mode)

    def calls(self) -> list[dict[str, Any]]:
        """What it was asked, oldest first."""
        return [json.loads(file.read_text()) for file in sorted(self.home.glob("call-*.json"))]

    def rows(self) -> list[dict[str, Any]]:
        """The record of what was sent."""
        path = self.machine.home / ".holdfast" / "distil.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def agent(machine: Machine) -> Agent:
    return Agent(machine)


def set_up(machine: Machine, answer: str = "y") -> str:
    """What `holdfast setup` says on a terminal on which its questions are answered; the commits are left out."""
    ours, theirs = os.openpty()
    command = [PYTHON, "-m", "holdfast", "setup", "claude-code", "--no-git"]
    with subprocess.Popen(
        command, cwd=machine.repository, env=machine.env, stdin=theirs, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
    ) as running:  # fmt: skip
        os.write(ours, f"{answer}\n".encode() + b"n\n" * 4)
        output, _ = running.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    assert running.returncode == 0, output
    return output


def play(machine: Machine, number: int, *, ends: bool = True, prompt: str = "", works: bool = True) -> str:
    """Play a session with Claude Code's hooks; return its id. Without `ends` it is killed after its last turn."""
    session = f"5d0c2f7e-0000-4000-8000-{number:012d}"
    transcript = machine.home / f"{session}.jsonl"
    player = Player(session, str(machine.repository), str(transcript))
    steps: list[dict[str, Any]] = [
        {"prompt": prompt or f"In the ledger {QUOTE}. Why?"},
        {"reply": "Every share is rounded on its own."},
    ]
    if works:
        steps += [{"bash": "python -c 'raise SystemExit(3)'"}, {"prompt": "Go on."}, {"reply": "The test fails."}]
    for payload in chain(player.start(), player.play(steps), player.end() if ends else ()):
        machine.hook(payload)
    return session


def started(machine: Machine, number: int, tries: int = 40) -> str:
    """What a new session in the other work tree is told at its start; a busy machine may miss a hook's deadline."""
    for again in range(tries):
        player = Player(f"9a4e1b52-0000-4000-8000-{number:06d}{again:06d}", str(machine.elsewhere))
        if context := "".join(machine.hook(payload) for payload in player.start()):
            return context
    return ""


def learn_later(machine: Machine, minutes: int) -> None:
    """Run a learner whose clock is so many minutes ahead."""
    command = [PYTHON, "-I", "-c", LATER, str(minutes)]
    subprocess.run(command, cwd=machine.repository, env=machine.env, check=True)


def wait_until_done(machine: Machine) -> None:
    """Wait until no learner has anything left to do."""
    settings = load_settings(machine.env)
    wait_for(lambda: _is_quiet(settings), "all is learnt")


def is_read(agent: Agent, session: str) -> bool:
    return any(row.get("session") == session and "lessons" in row for row in agent.rows())


def lessons(machine: Machine) -> list[dict[str, Any]]:
    return [lesson for lesson in machine.json("list")["lessons"] if lesson["insight"] == LESSON]


def test_one_yes_and_every_session_teaches_the_next(machine: Machine, agent: Agent) -> None:
    output = set_up(machine)
    assert "Learn with your own agent (Claude Code, haiku) after each session?" in output
    assert "some 8,000 tokens, and at times your lessons' titles; nothing else is sent" in output
    session = play(machine, 1)
    wait_for(lambda: is_read(agent, session), "the session is read")
    wait_until_done(machine)
    assert [lesson["state"] for lesson in lessons(machine)] == ["active"]
    assert LESSON in started(machine, 1)
    (call,) = agent.calls()
    assert QUOTE in call["prompt"]
    assert call["files"] == []
    assert call["environment"]["HOLDFAST_OFF"] == "1"
    assert call["arguments"][-2:] == ["--model", "haiku"]
    status = machine.json("status")["distil"]
    assert (status["last_24_hours"]["calls"], status["last_24_hours"]["cost_usd"]) == (1, 0.004)
    assert "1 call within 24 hours ($0.00)" in machine.holdfast("status")


def test_the_same_beside_a_running_mcp_server(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    with _running_mcp(machine, machine.repository):
        session = play(machine, 1)
        wait_for(lambda: is_read(agent, session), "the session is read")
    assert len(agent.calls()) == 1
    with _running_mcp(machine, machine.elsewhere):
        assert LESSON in started(machine, 1)


@pytest.mark.parametrize("answer", ["y", "n"])
def test_the_question_is_put_once_and_the_answer_stays(machine: Machine, agent: Agent, answer: str) -> None:
    assert "Learn with your own agent" in set_up(machine, answer)
    assert "Learn with your own agent" not in set_up(machine, answer)
    assert machine.json("learn")["after_sessions"] is (answer == "y")


def test_after_a_no_and_without_a_terminal_nothing_is_sent(machine: Machine, agent: Agent) -> None:
    machine.holdfast("setup", "claude-code")
    assert machine.json("learn")["after_sessions"] is False
    play(machine, 1)
    wait_until_done(machine)
    set_up(machine, "n")
    play(machine, 2)
    wait_until_done(machine)
    machine.learn()
    assert (agent.calls(), agent.rows()) == ([], [])


def test_sessions_from_before_the_yes_stay_unread(machine: Machine, agent: Agent) -> None:
    machine.holdfast("setup", "claude-code")
    play(machine, 1)
    wait_until_done(machine)
    machine.holdfast("learn", "--on")
    machine.learn()
    learn_later(machine, 600)
    assert agent.calls() == []


def test_a_session_without_real_work_is_not_sent(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    session = play(machine, 1, works=False)
    wait_for(lambda: any("skipped" in row for row in agent.rows()), "the session is looked at")
    assert [(row["session"], row["skipped"]) for row in agent.rows() if "skipped" in row] == [(session, "no real work")]
    assert agent.calls() == []


def test_a_session_that_was_killed_is_read_half_an_hour_later(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    session = play(machine, 1, ends=False)
    learn_later(machine, 29)
    assert agent.calls() == []
    learn_later(machine, 31)
    assert is_read(agent, session)
    learn_later(machine, 600)
    assert len(agent.calls()) == 1
    assert LESSON in started(machine, 1)


def test_a_session_that_was_killed_beside_its_server_is_read_too(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    with _running_mcp(machine, machine.repository):
        session = play(machine, 1, ends=False)
    learn_later(machine, 31)
    assert is_read(agent, session)


def test_a_session_that_goes_on_is_read_once(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    session = play(machine, 1)
    wait_for(lambda: is_read(agent, session), "the session is read")
    play(machine, 1, prompt="Once more about the ledger.")
    wait_until_done(machine)
    machine.learn()
    learn_later(machine, 600)
    assert len(agent.calls()) == 1


def test_at_todays_limit_the_others_wait_and_one_line_says_so(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    config = machine.home / ".holdfast" / "config.toml"
    config.write_text(config.read_text() + "calls_a_day = 1\n")
    first = play(machine, 1)
    wait_for(lambda: is_read(agent, first), "the first session is read")
    play(machine, 2)
    wait_for(lambda: machine.json("learn")["waiting"] == 1, "the second session waits")
    machine.learn()
    assert len(agent.calls()) == 1
    line = "learns no more today: 1 call within 24 hours: the limit is calls_a_day = 1"
    assert line in machine.holdfast("doctor", "--no-proof")
    assert line in machine.holdfast()
    learn_later(machine, 25 * 60)
    assert len(agent.calls()) == 2


@pytest.mark.parametrize(
    ("mode", "reason"), [("no login", "claude asks for a login"), ("no network", "claude cannot reach its service")]
)
def test_three_failures_are_reported_at_the_next_start_until_a_session_is_read_again(
    machine: Machine, agent: Agent, mode: str, reason: str
) -> None:
    set_up(machine)
    agent.mode = mode
    for number in (1, 2, 3):
        assert "could not learn" not in started(machine, number, 1)
        session = play(machine, number)
        wait_for(lambda ended=session: _has_failed(agent, ended), "the call fails")  # type: ignore[misc]
        wait_until_done(machine)
    assert f"could not learn from the last 3 sessions: {reason}" in started(machine, 4)
    assert f"could not learn from the last 3 sessions: {reason}" in machine.holdfast()
    assert f"could not learn from the last 3 sessions: {reason}" in machine.holdfast("doctor", "--no-proof", code=1)
    agent.mode = "works"
    learn_later(machine, 61)
    assert machine.json("learn")["waiting"] == 0
    assert len([row for row in agent.rows() if "lessons" in row]) == 3
    assert "could not learn" not in started(machine, 5)
    assert "could not learn" not in machine.holdfast()


def test_a_program_that_is_gone_is_reported_and_nothing_is_lost(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    away = agent.program.with_name("moved away")
    agent.program.rename(away)
    session = play(machine, 1)
    wait_for(lambda: _has_failed(agent, session), "the program is missed")
    assert "claude is not on the PATH" in machine.holdfast("doctor", "--no-proof", code=1)
    away.rename(agent.program)
    machine.holdfast("learn", "--now")
    assert is_read(agent, session)


def test_an_endpoint_that_refuses_is_reported_and_queried_again(machine: Machine, agent: Agent) -> None:
    machine.holdfast("setup", "claude-code")
    machine.holdfast("distil", "use", "openai-compatible", "url=http://127.0.0.1:9/v1", "model=m", "--yes")
    machine.holdfast("learn", "--on")
    session = play(machine, 1)
    wait_for(lambda: _has_failed(agent, session), "the endpoint refuses")
    assert "127.0.0.1:9 cannot be asked" in machine.holdfast("learn")
    assert machine.json("learn")["waiting"] == 1
    assert agent.calls() == []


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_learner_that_is_killed_leaves_its_queue(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    agent.mode = "hang"
    sessions = [play(machine, number) for number in (1, 2)]
    wait_for(lambda: len(agent.calls()) == 2, "both calls have begun")
    for process in _processes(machine):
        os.kill(process, signal.SIGKILL)
    agent.mode = "works"
    machine.learn()
    assert len(agent.calls()) == 2  # they may still be under way
    assert machine.json("learn")["waiting"] == 2
    learn_later(machine, 61)
    assert all(is_read(agent, session) for session in sessions)
    assert len(agent.calls()) == 4


def test_two_learners_at_once_send_each_session_once(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    with RunLock(str(machine.home / ".holdfast" / "run"), "distil") as ours:  # nothing is sent meanwhile
        assert ours
        for number in (1, 2, 3):
            play(machine, number, ends=False)
        command = [PYTHON, "-I", "-c", LATER, "31"]
        running = [subprocess.Popen(command, cwd=machine.repository, env=machine.env) for _ in range(2)]
        wait_for(lambda: len([row for row in agent.rows() if row.get("queued")]) == 3, "the sessions are queued")
    for learner in running:
        assert learner.wait(timeout=300) == 0
    learn_later(machine, 32)
    assert len(agent.calls()) == 3
    assert sorted(row["session"] for row in agent.rows() if row.get("sent")) == sorted(
        row["session"] for row in agent.rows() if "lessons" in row
    )


@pytest.mark.parametrize("mode", ["invented", "no json", "large"])
def test_an_answer_that_cannot_be_used_makes_no_lesson(machine: Machine, agent: Agent, mode: str) -> None:
    set_up(machine)
    agent.mode = mode
    session = play(machine, 1)
    wait_for(lambda: _has_failed(agent, session) or is_read(agent, session), "the answer is read")
    wait_until_done(machine)
    assert machine.json("list", "--state", "all")["lessons"] == [] or not lessons(machine)


def test_a_secret_is_never_sent(machine: Machine, agent: Agent) -> None:
    set_up(machine)
    session = play(machine, 1, prompt=f"{QUOTE}, and the token is {SECRET}. Why?")
    wait_for(lambda: is_read(agent, session), "the session is read")
    (call,) = agent.calls()
    assert QUOTE in call["prompt"]
    assert SECRET not in json.dumps(call)


def _has_failed(agent: Agent, session: str) -> bool:
    return any(row.get("session") == session and row.get("failed") for row in agent.rows())


def _processes(machine: Machine) -> Iterator[int]:
    """The processes that the machine's hooks have started and that still run."""
    mark = f"HOLDFAST_HOME={machine.home / '.holdfast'}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes():
                yield int(folder.name)
        except OSError:
            continue  # it has ended, or is another user's


def test_the_events_are_what_the_hooks_delivered(machine: Machine, agent: Agent) -> None:
    """The agent's own call leaves no session behind: our hooks are off in it."""
    set_up(machine)
    session = play(machine, 1)
    wait_for(lambda: is_read(agent, session), "the session is read")
    with Memory(str(machine.repository), settings=load_settings(machine.env)) as memory:
        assert {event.session for event in memory.newest_events()} == {session}
