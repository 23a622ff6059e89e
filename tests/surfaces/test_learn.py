"""`holdfast learn`: on, off, now and status; what is chosen, what is refused, what stays."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.bootstrap import Memory
from holdfast.settings import load_settings
from holdfast.surfaces.cli.main import cli
from holdfast.surfaces.hooks import learner
from holdfast.testing.builders import make_event
from tests.surfaces.hookcalls import wait_for

QUOTE = "never use floats for money"
ANSWER = {
    "lessons": [
        {"lesson": "Amounts of money are whole cents, never floats.", "kind": "constraint", "quote": QUOTE, "line": 0}
    ]
}
GOOD = f"import json; print(json.dumps({ANSWER!r}))"


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    project = tmp_path / "app"
    project.mkdir()
    return project


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(cli, ["learn", *arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def facts() -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(run("--json").stdout)
    return plain


def use(code: str) -> None:
    words = json.dumps([sys.executable, "-I", "-c", code])
    done = CliRunner().invoke(cli, ["distil", "use", "agent", f"command={words}", "id=stand-in", "--yes"])
    assert done.exit_code == 0, done.output


def work(folder: Path, session: str) -> None:
    """A session with real work that has ended."""
    where: dict[str, Any] = {"session": session, "project": "", "cwd": str(folder)}
    with Memory(str(folder)) as memory:
        now = memory.services.clock.now()
        memory.append([
            make_event(**where, key="p", kind="prompt", trust="person", text=f"Please {QUOTE} in {session}.", at=now),
            *(make_event(**where, key=f"r{n}", kind="reply", text=f"Step {n} is done.", at=now) for n in range(2)),
            make_event(**where, key="e", kind="file_edit", files=("a.py",), at=now),
            make_event(**where, key="end", kind="session_end", at=now),
        ])  # fmt: skip


def program(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program of that name on the PATH, and nothing else of the machine's agents."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\nexit 0\n")
    (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")


def test_bare_it_prints_the_state_and_how_to_switch_it_on(folder: Path) -> None:
    result = run()
    assert "off: nothing is sent after sessions" in result.stdout
    assert "to switch it on: holdfast learn --on" in result.stderr
    assert run("--status").stdout == result.stdout
    assert facts()["after_sessions"] is False


def test_without_an_agent_it_stays_off_and_names_the_endpoint(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    result = run("--on", code=1)
    assert "no agent on this machine can answer without a terminal" in result.stderr
    assert "holdfast distil use" in result.stderr
    assert facts()["after_sessions"] is False


def test_on_takes_the_agent_that_names_its_cheapest_model(folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    for name in ("codex", "claude"):
        program(tmp_path / "programs", name, monkeypatch)
    result = run("--on")
    assert "on: haiku@claude-code reads each session after its end" in result.stdout
    assert "at most 20 calls and $1 a day" in result.stderr
    assert "on: codex reads each session" in run("--on", "codex").stdout
    assert "on: codex reads each session" in run("--on").stdout  # the chosen one stays


def test_an_agent_that_is_set_up_comes_first(folder: Path, tmp_path: Path, monkeypatch: Any) -> None:
    for name in ("codex", "claude"):
        program(tmp_path / "programs", name, monkeypatch)
    assert CliRunner().invoke(cli, ["setup", "codex", "--no-git"]).exit_code == 0
    assert "on: codex reads each session" in run("--on").stdout


@pytest.mark.parametrize("name", ["nothing-like-it", "vscode", "ollama"])
def test_a_name_that_cannot_be_used_changes_nothing(folder: Path, home: Path, name: str) -> None:
    assert "hint: " in run("--on", name, code=1).stderr
    assert not (home / "config.toml").exists()


def test_off_keeps_the_model_its_options_and_the_limits(folder: Path, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("retention_days = 30\n\n[distil]\ncalls_a_day = 3\n")
    use(GOOD)
    run("--on")
    run("--off")
    settings = load_settings()
    assert (settings.distil_model, settings.learns_after_sessions, settings.distil_answered) == ("agent", False, True)
    assert (settings.distil_calls_a_day, settings.retention_days) == (3, 30)
    assert "on: stand-in reads each session" in run("--on").stdout


def test_options_exclude_each_other(folder: Path) -> None:
    assert "use one of --on, --off, --now and --status" in run("--off", "--now", code=2).stderr


def test_now_is_refused_while_it_is_off(folder: Path) -> None:
    use(GOOD)
    result = run("--now", code=1)
    assert "is off, so nothing was sent" in result.stderr
    assert "hint: holdfast learn --on" in result.stderr


def test_now_reads_what_waits_and_counts_it(folder: Path) -> None:
    use(GOOD)
    run("--on")
    work(folder, "s1")
    work(folder, "s2")
    result = run("--now")
    assert "2 sessions read: 1 lesson" in result.stdout.replace("2 lessons", "1 lesson")
    assert "1/2 s1: 1 lesson active" in result.stderr
    assert json.loads(run("--now", "--json").stdout) == {
        "sessions": [], "left": 0, "limit_reached": "", "interrupted": False,
    }  # fmt: skip
    assert (facts()["last_24_hours"]["calls"], facts()["waiting"]) == (2, 0)


def test_now_tries_at_once_what_failed_a_moment_ago(folder: Path) -> None:
    use("import sys; sys.exit(3)")
    run("--on")
    work(folder, "s1")
    assert "failed: stand-in ended with status 3" in run("--now", code=1).stderr
    assert facts()["trouble"] == "could not learn from the last session: stand-in ended with status 3"
    use(GOOD)
    assert facts()["trouble"] == ""
    assert "1 session read" in run("--now").stdout


def test_now_says_why_the_rest_stays(folder: Path, home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("[distil]\ncalls_a_day = 1\n")
    use(GOOD)
    run("--on")
    work(folder, "s1")
    work(folder, "s2")
    assert "1 session left: 1 call within 24 hours" in run("--now").stderr
    assert "the limit is calls_a_day = 1" in run("--now", code=1).stderr
    assert "learns no more today" in run().stdout


def test_a_learner_of_ten_minutes_begins_no_further_call(folder: Path) -> None:
    """`learner.DISTILLING_S`."""
    assert learner.DISTILLING_S == 600.0
    use(GOOD)
    run("--on")
    work(folder, "s1")
    assert learner.distil_all(load_settings(), until_s=0.0) == 0
    assert facts()["waiting"] == 1
    assert learner.distil_all(load_settings(), until_s=float("inf")) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_the_agent_too_and_the_session_stays(folder: Path, home: Path, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    use(f"import os, pathlib, time; pathlib.Path({str(mark)!r}).write_text(str(os.getpid())); time.sleep(600)")
    run("--on")
    work(folder, "s1")
    command = [sys.executable, "-m", "holdfast", "learn", "--now"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        wait_for(lambda: mark.exists() and mark.read_text(), "the agent is asked")
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=120)
    assert (running.returncode, "0 sessions read" in output, "1 session left" in errors) == (130, True, True)
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)
