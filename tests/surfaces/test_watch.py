"""`holdfast watch` and the server's watch as processes, over real files and real git."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.bootstrap import Memory
from holdfast.freshness.notice import load_states
from holdfast.surfaces.mcp import watching
from holdfast.surfaces.mcp.opening import MemoryOnce
from tests.surfaces.hookcalls import Hooks, wait_for

CODE = "def rate(year):\n    table = load(year)\n    return table.rate\n"
SIGNATURE = CODE.replace("(year):", "(year, month=1):")
RULE = "The rate is a share, not a percentage."


class Machine(Hooks):
    """A user's machine whose project is a repository with one lesson about one function."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.env["GIT_CONFIG_GLOBAL"] = os.devnull
        self.running: list[subprocess.Popen[str]] = []
        self.code = self.project / "ledger.py"
        self.code.write_text(CODE)
        self.git("init", "-q", "-b", "main")
        self.commit()
        with self.memory() as memory:
            self.lesson = memory.remember(RULE, files=["ledger.py"], symbols=["rate"]).id

    def git(self, *arguments: str) -> None:
        who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
        subprocess.run(["git", *who, *arguments], cwd=self.project, check=True, capture_output=True, env=self.env)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a step")

    def watch(self, *arguments: str, into: Any = subprocess.PIPE) -> subprocess.Popen[str]:
        """A `holdfast watch` that has begun."""
        running = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "watch", *arguments], cwd=self.project, env=self.env, text=True,
            stdout=into, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        self.running.append(running)
        assert running.stderr is not None
        assert running.stderr.readline().startswith("watching 1 lesson about 1 file in ")
        return running

    def close(self) -> None:
        for running in self.running:
            running.kill()
            running.wait(timeout=120)
            for pipe in (running.stdout, running.stderr):
                if pipe is not None:
                    pipe.close()

    def states(self) -> list[str]:
        with self.memory() as memory:
            return [known.freshness for known in load_states(memory.services, memory.location).values()]

    def by(self) -> list[str]:
        with self.memory() as memory:
            return [known.by for known in load_states(memory.services, memory.location).values()]

    def read(self, session: str = "s1") -> None:
        """Claude Code's hook before a read of the file, which tells its lesson."""
        context = self.call("PreToolUse", session, tool_name="Read", tool_input={"file_path": str(self.code)})
        assert self.lesson[-5:] in context

    def edit(self, text: str, session: str = "s1") -> None:
        """Claude Code's hooks around an edit of the file."""
        tool = {"tool_name": "Write", "tool_input": {"file_path": str(self.code), "content": text}}
        self.call("PreToolUse", session, **tool)
        self.code.write_text(text)
        self.call("PostToolUse", session, **tool, tool_use_id=f"t{len(text)}", tool_response={"type": "update"})


@pytest.fixture
def machine() -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="hf") as folder:  # short enough for a socket's address
        made = Machine(Path(folder))
        yield made
        made.close()


def read(running: subprocess.Popen[str]) -> dict[str, Any]:
    """The next line; the test's own limit ends a wait in vain."""
    assert running.stdout is not None
    report: dict[str, Any] = json.loads(running.stdout.readline())
    return report


def end(running: subprocess.Popen[str], how: int = signal.SIGINT) -> tuple[int, str]:
    running.send_signal(how)
    out, err = running.communicate(timeout=120)
    return running.returncode, out + err


def test_a_line_tells_each_change_and_ctrl_c_ends_it_well(machine: Machine) -> None:
    running = machine.watch("--json")
    machine.code.write_text(SIGNATURE)
    report = read(running)
    assert (report["before"], report["freshness"]) == ("fresh", "changed")
    assert "month" in report["caveat"]
    assert report["lesson"]["insight"] == RULE
    machine.code.write_text(CODE)
    assert read(running)["freshness"] == "fresh"
    assert end(running) == (0, "")


def test_switching_branches_there_and_back_is_reported(machine: Machine) -> None:
    machine.git("switch", "-q", "-c", "feature")
    machine.code.write_text(SIGNATURE)
    machine.commit()
    machine.git("switch", "-q", "main")
    running = machine.watch("--json")
    machine.git("switch", "-q", "feature")
    assert read(running)["freshness"] == "changed"
    machine.git("switch", "-q", "main")
    assert read(running)["freshness"] == "fresh"
    assert end(running)[0] == 0


def test_for_people_a_line_has_the_time_the_state_the_lesson_and_what_changed(machine: Machine) -> None:
    running = machine.watch()
    machine.code.unlink()
    assert running.stdout is not None
    columns = running.stdout.readline().split("  ")
    assert columns[1:4] == ["orphaned", machine.lesson[-8:], RULE.removesuffix(".")]
    assert columns[4] == "ledger.py"
    assert "deleted" in columns[5]
    assert end(running)[0] == 0


def test_a_second_watch_of_the_same_work_tree_is_refused(machine: Machine) -> None:
    running = machine.watch()
    again = subprocess.run(
        [sys.executable, "-m", "holdfast", "watch"], cwd=machine.project, env=machine.env, text=True,
        capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert again.returncode == 1
    assert again.stderr.startswith(f"error: {machine.project} is already being watched\nhint: ")
    assert end(running)[0] == 0
    assert end(machine.watch())[0] == 0


def test_it_ends_when_nobody_reads_any_more(machine: Machine) -> None:
    running = machine.watch()
    assert running.stdout is not None
    running.stdout.close()
    assert running.wait(timeout=120) == 0


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs pseudo-terminals")
def test_it_ends_when_its_terminal_goes(machine: Machine) -> None:
    ours, theirs = os.openpty()
    running = machine.watch(into=theirs)
    os.close(theirs)
    os.close(ours)
    assert running.wait(timeout=120) in (0, -signal.SIGHUP)


def test_it_ends_with_the_program_that_started_it(machine: Machine) -> None:
    starter = (
        "import subprocess, sys; "
        "p = subprocess.Popen([sys.executable, '-m', 'holdfast', 'watch'], stdout=open('out', 'w'), stderr=-1); "
        "p.stderr.readline(); print(p.pid)"
    )
    begun = subprocess.run(
        [sys.executable, "-c", starter], cwd=machine.project, env=machine.env, text=True, capture_output=True,
        check=True, timeout=120,
    )  # fmt: skip
    watcher = Path(f"/proc/{int(begun.stdout)}/cmdline")
    wait_for(lambda: not watcher.exists() or not watcher.read_bytes(), "the watch ended")


def test_the_server_marks_what_changes_and_the_next_hook_tells_it(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "SETTLE_S", 0.0)
    machine.read()
    with machine.memory() as memory:
        ended = watching.start(_Opened(memory))
        lock = Path(machine.settings.run_path)
        wait_for(lambda: list(lock.glob("watcher-*.lock")), "the server watches")
        wait_for(lambda: _change(machine), "the change is marked")
        ended.set()
    context = machine.call("PreToolUse", tool_name="Bash", tool_input={"command": "make tests"})
    assert "has just changed" in context
    assert machine.log == ""


def _change(machine: Machine) -> list[str]:
    """Write until it is seen: the first look may come after the first write."""
    if machine.code.read_text() == CODE:
        machine.code.write_text(SIGNATURE)
    states = machine.states()
    if states and machine.by() == [""]:
        machine.code.write_text(CODE)
    return [state for state in states if machine.by() == ["watch"]]


class _Opened(MemoryOnce):
    """A server's memory that is open already."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory.folder)
        self._memory = memory


@pytest.mark.parametrize("watched", [False, True])
def test_cold_hooks_tell_the_session_of_its_own_edit(machine: Machine, watched: bool) -> None:
    running = machine.watch("--json") if watched else None
    machine.edit(SIGNATURE)
    if running:
        assert read(running)["freshness"] == "changed"
    context = machine.call("PreToolUse", tool_name="Bash", tool_input={"command": "make tests"})
    assert "rate signature: month added" in context
    assert context.count(machine.lesson[-8:]) == 1
    assert "has just changed" not in machine.call("PreToolUse", tool_name="Bash", tool_input={"command": "make tests"})
    assert machine.call("PreToolUse", "s2", tool_name="Bash", tool_input={"command": "make tests"}) == ""
    assert machine.log == ""
    if running:
        assert end(running)[0] == 0


def test_a_command_that_edits_is_reported_when_somebody_watches(machine: Machine) -> None:
    machine.read()
    running = machine.watch("--json")
    machine.code.write_text(SIGNATURE)  # as `sed -i` would
    assert read(running)["freshness"] == "changed"
    assert "has just changed" in machine.call("UserPromptSubmit", prompt="go on")
    assert end(running)[0] == 0
