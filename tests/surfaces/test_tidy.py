"""`holdfast tidy`: the proposal as a diff, consent, undo, and a branch for lessons that a team shares."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.bootstrap import Memory
from holdfast.home.runfiles import RunLock
from holdfast.settings import load_settings
from holdfast.surfaces.cli.status import tidying_lines
from holdfast.testing.builders import FixedClock
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json
from tests.surfaces.test_sharing_git import Member, team

__all__ = ["team"]

FLOATS = "Store amounts of money as integer cents in the ledger table, never as floats"
FLOATS_TOO = "Money amounts stay integer cents everywhere in the ledger table and never become floats"
TIDES = "The tide tables are in metres above chart datum"


@pytest.fixture
def folder(home: Path, project: Path) -> str:
    with Memory(str(project)) as memory:
        for insight in (FLOATS, FLOATS_TOO, TIDES):
            memory.remember(insight, trust="agent", quote=insight)
    return str(project)


def insights(folder: str) -> list[str]:
    return sorted(row["insight"] for row in told_json("list", "-C", folder)["lessons"])


def test_a_proposal_is_shown_stored_and_applied_on_request(folder: str) -> None:
    shown = told("tidy", "-C", folder)
    assert "@@ merge (rule): they say the same" in shown
    assert len(insights(folder)) == 3
    assert shown == told("tidy", "--show", "-C", folder)
    assert "tidied: 1 merged; 3 lessons before" in told("tidy", "--apply", "-C", folder)
    assert len(insights(folder)) == 2
    assert "no proposal waits" in run("tidy", "--show", "-C", folder).output


def test_undo_brings_every_lesson_back(folder: str) -> None:
    before = insights(folder)
    told("tidy", "--yes", "-C", folder)
    assert "taken back: 2 lessons as before" in told("tidy", "--undo", "-C", folder)
    assert insights(folder) == before
    undone = run("tidy", "--undo", "-C", folder)
    assert undone.exit_code == 1
    assert "no tidy to undo" in undone.output


@pytest.mark.needs_processes("a person answers a process")
@pytest.mark.parametrize(("typed", "left"), [("y\n", 2), ("n\n", 3)])
def test_on_a_terminal_it_asks(folder: str, typed: str, left: int) -> None:
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    program = [sys.executable, "-m", "holdfast", "tidy", "-C", folder]
    with subprocess.Popen(program, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs, close_fds=True) as process:
        os.close(theirs)
        shown = b""
        while b"Apply it? [y/N]" not in shown:
            shown += os.read(ours, 4096)
        os.write(ours, typed.encode())
        process.wait()
        os.close(ours)
    assert b"comparing 3 lessons" in shown
    assert len(insights(folder)) == left


def test_json_has_every_step(folder: str) -> None:
    proposal = told_json("tidy", "-C", folder)
    assert proposal["living"] == 3
    assert [step["verb"] for step in proposal["steps"]] == ["merge"]
    assert proposal["change"] == ""
    assert told_json("tidy", "--apply", "-C", folder)["change"]
    assert told_json("tidy", "--undo", "-C", folder)["lessons"] == 2


def test_nothing_to_tidy_is_reported(home: Path, project: Path) -> None:
    told("remember", TIDES, "-C", str(project))
    assert told("tidy", "-C", str(project)) == "nothing to tidy among 1 lesson\n"
    assert told("tidy", "--apply", "-C", str(project)) == "nothing to tidy among 1 lesson\n"


def test_steps_about_lessons_that_changed_are_refused_and_named(folder: str) -> None:
    told("tidy", "-C", folder)
    with Memory(folder) as memory:
        lesson = next(lesson for lesson in memory.lessons() if lesson.insight == FLOATS_TOO)
        memory.edit(lesson.id, title="Store money as integer cents, never as floats")
    refused = run("tidy", "--apply", "-C", folder)
    assert refused.exit_code == 1
    assert "the proposal is out of date" in refused.output
    assert "its words changed since it was proposed" in refused.output
    assert "hint: holdfast tidy makes a new proposal" in refused.output
    assert len(insights(folder)) == 3


def test_options_that_exclude_each_other_are_refused(folder: str) -> None:
    assert run("tidy", "--show", "--undo", "-C", folder).exit_code == 2


def test_two_tidyings_do_not_run_at_once(folder: str) -> None:
    with RunLock(load_settings().run_path, "tidy") as ours:
        assert ours
        refused = run("tidy", "-C", folder)
    assert refused.exit_code == 1
    assert "another holdfast process is tidying" in refused.output


def use(code: str) -> None:
    words = json.dumps([sys.executable, "-I", "-c", code])
    told("distil", "use", "agent", f"command={words}", "id=stand-in", "--yes")


def test_the_model_is_queried_only_where_it_reads_sessions_and_not_with_no_model(folder: str) -> None:
    answer: dict[str, Any] = {"retire": [{"lesson": "T2", "reason": "a detail"}]}
    code = f"print({json.dumps(answer)!r})"
    use(code)
    assert {step["by"] for step in told_json("tidy", "-C", folder)["steps"]} == {"rule"}
    told("learn", "--on")
    assert {step["by"] for step in told_json("tidy", "--no-model", "-C", folder)["steps"]} == {"rule"}
    assert {step["by"] for step in told_json("tidy", "-C", folder)["steps"]} == {"rule", "stand-in"}
    assert told_json("learn")["last_24_hours"]["calls"] == 1


def test_a_model_that_fails_is_named_and_the_rules_steps_stand(folder: str) -> None:
    use("import sys; sys.exit(3)")
    told("learn", "--on")
    done = run("tidy", "-C", folder)
    assert done.exit_code == 0
    assert "the model gave no usable answer" in done.stderr
    assert "ended with status 3" in done.stderr
    assert "1 merged" in told("tidy", "--apply", "-C", folder)


# Shared lessons


def share(member: Member, *insights: str) -> None:
    member.enter()
    with Memory(str(member.folder)) as memory:
        for insight in insights:
            memory.remember(insight, trust="agent", quote=insight)
    member.holdfast("share", "--all")
    member.push("share lessons")


@pytest.mark.needs_file("a branch is made of a copy of the store")
def test_a_branch_carries_the_tidying_to_every_member_once_it_is_merged(team: list[Member]) -> None:
    ada, bob = team[:2]
    share(ada, FLOATS, FLOATS_TOO, TIDES)
    bob.pull()
    assert len(bob.lessons()) == 3
    head, status = ada.git("rev-parse", "HEAD"), ada.git("status", "--porcelain")
    text = ada.holdfast("tidy", "--branch", "tidy-memory")
    assert text.startswith("Tidy the memory: 1 merged")
    assert "Memory is reviewed like code" in text
    assert "## Merged" in text
    assert "stays: they say the same. It replaces" in text
    diff = text.partition("```diff\n")[2].splitlines()
    assert [line[0] for line in diff[:3]] == ["@", "-", " "]
    assert all(f"-{line[2:].split()[0]}.md" in ada.git("ls-files", ".holdfast") for line in diff[1:3])
    assert (ada.git("rev-parse", "HEAD"), ada.git("status", "--porcelain")) == (head, status)
    assert ada.git("worktree", "list").count("\n") == 1
    assert len(ada.lessons()) == 3
    changed = ada.git("diff", "--name-only", "main", "tidy-memory").split()
    assert len(changed) == 2
    assert all(path.startswith(".holdfast/lessons/") for path in changed)

    ada.git("merge", "-q", "--no-edit", "tidy-memory")
    ada.git("push", "-q", "origin", "HEAD:main")
    bob.git("pull", "-q", "--no-edit")
    bob.holdfast("sync")
    assert len(bob.lessons()) == 3, "a file alone closes no lesson that is active here"
    bob.holdfast("sync", "--accept")
    ada.holdfast("sync", "--accept")
    assert ada.lessons() == bob.lessons()
    assert len(bob.lessons()) == 2
    ada.enter()
    assert "no proposal waits" in run("tidy", "--show", "-C", str(ada.folder)).output


@pytest.mark.needs_file("a branch is made of a copy of the store")
def test_a_branch_has_no_word_of_lessons_that_are_not_shared(team: list[Member]) -> None:
    ada = team[0]
    share(ada, FLOATS, FLOATS_TOO)
    ada.enter()
    with Memory(str(ada.folder)) as memory:
        memory.remember(f"{FLOATS}, says Zebedee", trust="agent", quote="Zebedee")
    text = ada.holdfast("tidy", "--branch", "tidy-memory")
    assert "Zebedee" not in text + ada.git("show", "tidy-memory")


@pytest.mark.needs_file("a branch is made of a copy of the store")
def test_a_branch_needs_shared_lessons_in_step_with_memory_and_a_free_name(team: list[Member]) -> None:
    ada = team[0]
    ada.enter()
    where = ("-C", str(ada.folder))
    assert "no step of the proposal is about shared lessons" in run("tidy", "--branch", "b", *where).output
    share(ada, FLOATS, FLOATS_TOO, TIDES)
    assert "not a name of a branch" in run("tidy", "--branch", "a..b", *where).output
    assert "there is a branch main already" in run("tidy", "--branch", "main", *where).output
    with Memory(str(ada.folder)) as memory:
        lesson = next(lesson for lesson in memory.lessons() if lesson.insight == TIDES)
        memory.revise(lesson.id, why="the gauge reports metres")
    refused = run("tidy", "--branch", "b", *where)
    assert "the committed lesson files differ from memory" in refused.output
    assert "hint: holdfast sync, then commit .holdfast/lessons" in refused.output
    assert "b" not in ada.git("branch", "--list", "b")
    assert ada.git("worktree", "list").count("\n") == 1


def test_a_folder_without_git_has_no_branch(folder: str) -> None:
    assert run("tidy", "--branch", "b", "-C", folder).exit_code == 1


@pytest.mark.needs_file("a branch is made of a copy of the store")
def test_hooks_and_filters_of_the_repository_are_not_run(code: Codebase, home: Path) -> None:
    folder = str(code.folder)
    with Memory(folder) as memory:
        for insight in (FLOATS, FLOATS_TOO):
            memory.remember(insight, trust="agent", quote=insight)
    told("share", "--all", "-C", folder)
    code.commit("share")
    marker = home.parent / "ran"
    code.git("config", "user.name", "Ada")
    code.git("config", "user.email", "ada@example.com")
    code.git("config", "filter.evil.clean", f"touch {marker}; cat")
    code.git("config", "filter.evil.smudge", f"touch {marker}; cat")
    (code.folder / ".git" / "info" / "attributes").write_text("* filter=evil\n")
    for name in ("pre-commit", "post-checkout", "post-commit"):
        hook = code.folder / ".git" / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
        hook.chmod(0o755)
    told("tidy", "--branch", "tidy-memory", "-C", folder)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("days", "words"),
    [(0, "tidied today: 1 merged"), (1, "tidied yesterday"), (29, "tidied 29 days ago"), (31, "")],
)
def test_the_last_tidying_is_reported_for_a_month(folder: str, days: int, words: str) -> None:
    """`_tidying.RECENT`."""
    told("tidy", "--yes", "-C", folder)
    with Memory(folder) as memory:
        now = memory.services.clock.now() + timedelta(days=days)
        clock = FixedClock(now)
        lines = list(tidying_lines(replace(memory.services, clock=clock), memory.location))
    assert len(lines) == bool(words)
    assert words in "".join(lines)
