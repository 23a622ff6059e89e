"""`holdfast backfill --git` and the offers of `holdfast setup` in a repository."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.settings import load_settings
from tests.surfaces.terminal import run, told, told_json

CAUSE = """fix(cache): flush the tide cache when the port changes

The cache key left out the port, because `TideCache.key()` was written when there was only one.
"""


@pytest.fixture
def folder(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n name = Ada\n email = ada@example.com\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    made = tmp_path / "harbour"
    made.mkdir()
    (made / "tides.py").write_text("x = 1\n")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", CAUSE)):
        subprocess.run(["git", *arguments], cwd=made, check=True)
    return made


def test_it_says_what_it_stored_and_how_to_take_it_back(folder: Path) -> None:
    result = run("-C", str(folder), "backfill", "--git")
    assert result.exit_code == 0, result.output
    assert "1 commit read: stored 1 lesson" in result.stdout
    assert "Flush the tide cache when the port changes" in result.stdout
    assert "to undo this run: holdfast undo" in result.stderr
    facts = told_json("-C", str(folder), "status")
    assert (facts["inbox"], facts["from_commits"]) == (0, 1)
    assert "retired 1 lesson" in told("-C", str(folder), "backfill", "--git", "--undo")
    assert told_json("-C", str(folder), "backfill", "--git", "--undo") == {"retired": 0}


def test_json_tells_everything(folder: Path) -> None:
    facts = told_json("-C", str(folder), "backfill", "--git", "--dry-run")
    assert (facts["commits"], facts["found"], facts["own"], facts["dry_run"]) == (1, 1, True, True)
    (lesson,) = told_json("-C", str(folder), "backfill", "--git")["lessons"]
    assert (lesson["state"], len(lesson["commit"])) == ("candidate", 12)


@pytest.mark.parametrize(
    "options",
    [
        ("--git", "--distil"), ("--git", "--host", "codex"), ("--git", "."), ("--commits", "3"), ("--undo",),
        ("--limit", "3"), ("--yes",), ("--distil", "--accept"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused_by_name(folder: Path, options: tuple[str, ...]) -> None:
    result = run("-C", str(folder), "backfill", *options)
    assert result.exit_code == 1
    assert "error: " in result.stderr
    assert "hint: " in result.stderr


def test_a_folder_without_git_is_a_clear_error(home: Path, tmp_path: Path) -> None:
    result = run("-C", str(tmp_path), "backfill", "--git")
    assert (result.exit_code, "there is no git history here" in result.stderr) == (1, True)


def test_setup_with_yes_reads_the_commits_and_sends_nothing(folder: Path) -> None:
    result = run("-C", str(folder), "setup", "claude-code", "--yes")
    assert "stored 1 lesson" in result.stdout
    assert load_settings().distil_model == ""


@pytest.mark.parametrize("options", [("--no-git", "--yes"), ("--yes", "--dry-run"), ()])
def test_setup_reads_no_commits_unasked(folder: Path, options: tuple[str, ...]) -> None:
    result = run("-C", str(folder), "setup", "claude-code", *options)
    assert result.exit_code == 0, result.output
    assert "commit read" not in result.output
    assert load_settings().distil_model == ""


def test_setup_as_json_stays_json(folder: Path) -> None:
    result = run("-C", str(folder), "setup", "claude-code", "--git", "--json")
    assert json.loads(result.stdout)["host"] == "claude-code"
    with Memory(str(folder)) as memory:
        assert len(memory.lessons(states=("candidate",))) == 1


@pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals")
@pytest.mark.parametrize(("answers", "model"), [("y\nn\nn\n", ""), ("y\n\n\n", ""), ("n\ny\n\n", "claude-code")])
def test_on_a_terminal_setup_asks_for_commits_and_for_consent(
    folder: Path, tmp_path: Path, answers: str, model: str
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\nexit 0\n")
    (programs / "claude").chmod(0o755)
    output = _on_a_terminal(folder, answers, PATH=f"{programs}{os.pathsep}{os.environ['PATH']}")
    assert "Learn from this repository's commits?" in output
    assert "Learn with your own agent (Claude Code, haiku) after each session?" in output
    assert "some 8,000 tokens, and at times your lessons' titles; nothing else is sent [y/N]" in output
    assert "20 calls and $1 a day" in output
    assert ("stored 1 lesson" in output) == answers.startswith("y")
    assert (load_settings().distil_model, load_settings().distil_answered) == (model, True)


def _on_a_terminal(folder: Path, answers: str, **env: str) -> str:
    """What setup writes to a terminal on which those answers are typed."""
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "holdfast", "-C", str(folder), "setup", "claude-code"]
    with subprocess.Popen(
        command, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, **env}
    ) as child:
        os.write(ours, answers.encode() + b"n\n" * 4)  # and no to whatever else is offered
        output, _ = child.communicate(timeout=120)
    os.close(ours)
    os.close(theirs)
    return output.decode()
