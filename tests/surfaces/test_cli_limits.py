"""The edges of the command line: what is just inside, and what is not."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click
import pytest
from click.testing import CliRunner

from holdfast import Memory
from holdfast.lean.texts import short_id
from holdfast.settings import load_settings
from holdfast.surfaces.cli import (
    hostcheck,
    main,
    proof,
)
from holdfast.surfaces.cli.hostcheck import version_of
from holdfast.surfaces.cli.main import cli
from holdfast.surfaces.cli.proof import _Story, start_server
from holdfast.testing.builders import make_event
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told
from tests.surfaces.test_backfill_distil import use


@pytest.fixture
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder we are in."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def remember(count: int, **fields: Any) -> list[str]:
    """Short ids of new lessons, oldest first."""
    with Memory(os.getcwd()) as memory:
        return [
            short_id(memory.remember(f"Count tide number {number} of the harbour in whole hours", **fields).id)
            for number in range(count)
        ]


# Exit codes


def failing(error: BaseException) -> click.Command:
    def fail() -> None:
        raise error

    return click.Command("status", callback=fail)


@pytest.mark.parametrize(
    ("error", "code"),
    [(OSError("gone"), 1), (click.UsageError("which?"), 2), (ZeroDivisionError(), 70), (KeyboardInterrupt(), 130)],
    ids=["EXIT_FAILED", "EXIT_USAGE", "EXIT_BUG", "EXIT_INTERRUPTED"],
)
def test_the_exit_code_says_what_went_wrong(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    monkeypatch.setattr(main.Holdfast, "get_command", lambda *_: failing(error))
    assert CliRunner().invoke(cli, ["status"]).exit_code == code


def test_stale_lessons_make_a_check_exit_with_one(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify.EXIT_STALE`."""
    monkeypatch.chdir(code.folder)
    (code.folder / "quay.txt").write_text("depth 4\n")
    told("remember", "The quay is four fathoms deep", "--file", "quay.txt")
    assert run("verify", "--check").exit_code == 0
    (code.folder / "quay.txt").unlink()
    assert run("verify", "--check").exit_code == 1
    assert run("verify").exit_code == 0


# Hosts, logs and backfills


def script(folder: Path, name: str, text: str) -> Path:
    program = folder / name
    program.write_text(f"#!{sys.executable}\n{text}\n")
    program.chmod(0o755)
    return program


@pytest.mark.skipif(sys.platform == "win32", reason="the slow program is a script")
@pytest.mark.parametrize(("seconds", "number"), [(0.05, ""), (60.0, "1.2.3")])
def test_a_host_that_does_not_tell_its_version_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, number: str
) -> None:
    """`hostcheck.VERSION_TIMEOUT_S`."""
    script(tmp_path, "slowhost", "import time; time.sleep(1); print('slowhost 1.2.3')")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(hostcheck, "VERSION_TIMEOUT_S", seconds)
    profile = SimpleNamespace(headless=SimpleNamespace(program="slowhost"))
    version, error = version_of(cast("Any", profile))
    assert (version, "timed out" in error) == (number, not number)


@pytest.mark.parametrize(("seconds", "answer"), [(0.05, "no answer in 0 s"), (60.0, "")])
def test_a_server_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, answer: str
) -> None:
    """`proof.START_TIMEOUT_S`."""
    monkeypatch.setattr(proof, "START_TIMEOUT_S", seconds)
    late = "import time; time.sleep(1); print('{\"serverInfo\": {}}')"
    assert start_server([sys.executable, "-c", late], str(tmp_path)) == answer


@pytest.mark.parametrize(("seconds", "learns"), [(0.05, False), (60.0, True)])
def test_the_proof_waits_for_its_learner(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, learns: bool
) -> None:
    """`proof.LEARN_TIMEOUT_S`."""
    monkeypatch.setattr(proof, "LEARN_TIMEOUT_S", seconds)
    story = _Story(str(tmp_path))

    def learn() -> None:
        with Memory(story.folder, settings=load_settings(story.environment)) as memory:
            memory.remember(f"The {proof.MARK} is counted in whole hours")

    if learns:
        late = threading.Timer(0.3, learn)
        late.start()
        assert story.wait_for_learner() == "the rule became a lesson"
        late.join()
    else:
        with pytest.raises(ValueError, match="no lesson was learnt"):
            story.wait_for_learner()


@pytest.mark.parametrize("seconds", [0.001, 60.0])
def test_the_proof_ends_a_program_that_takes_too_long(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """`proof.STEP_TIMEOUT_S`."""
    monkeypatch.setattr(proof, "STEP_TIMEOUT_S", seconds)
    story = _Story(str(tmp_path))
    command = [sys.executable, "-c", "import time; time.sleep(0.3); print('answered')"]
    if seconds < 1:
        with pytest.raises(proof.subprocess.TimeoutExpired):
            story._run(command, "")
    else:
        assert story._run(command, "") == "answered\n"


def test_three_failures_in_a_row_end_a_distillation(project: Path) -> None:
    """`_distilbackfill.FAILURES_IN_A_ROW`."""
    with Memory(os.getcwd()) as memory:
        for session in ("s1", "s2", "s3", "s4"):
            where: dict[str, Any] = {"session": session, "project": "", "cwd": str(project)}
            memory.append([
                make_event(**where, key="p", trust="person", text=f"Please never use floats for money in {session}."),
                *(make_event(**where, key=f"r{n}", kind="reply", text=f"Step {n} is done.") for n in range(3)),
                make_event(**where, key="e", kind="file_edit", files=("a.py",)),
            ])  # fmt: skip
    use(project, "raise SystemExit(1)")
    result = CliRunner().invoke(cli, ["-C", str(project), "backfill", "--distil", "--yes", "--json"])
    assert "stopped: 3 failures in a row" in result.stderr
    assert len([row for row in json.loads(result.stdout)["sessions"] if "failed" in row]) == 3
