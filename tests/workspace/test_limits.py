"""The edges of the workspace, in real repositories: what is just inside, and what is not."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.wiring import SystemClock
from holdfast.workspace.authorship import TRACKED, repository_texts
from holdfast.workspace.gitrun import Git
from holdfast.workspace.history import LocalBranches
from tests.workspace.conftest import Ground


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """The first words of all questions to git with the seconds each may take; git answers them all the same."""
    recorded: list[tuple[str, float]] = []
    ask_git, collect = Git.ask, Git.collect
    words = {"now": ""}

    def ask(git: Git, folder: str, arguments: Sequence[str], timeout_s: float, trusted: bool = False) -> Any:
        words["now"] = next(word for word in arguments if not word.startswith("-"))
        return ask_git(git, folder, arguments, timeout_s, trusted)

    def record(git: Git, running: tuple[int, int], timeout_s: float) -> Any:
        recorded.append((words["now"], timeout_s))
        return collect(git, running, timeout_s)

    monkeypatch.setattr(Git, "ask", ask)
    monkeypatch.setattr(Git, "collect", record)
    return recorded


def git() -> Git:
    return Git(SystemClock(), 20.0)


def imported(ground: Ground, commits: int = 1, files: int = 1, message: str = "work") -> Path:
    """A repository with so many commits, of which each changes those files."""
    root = ground.repository("imported", commits=0)
    text = ""
    for number in range(commits):
        data = f"{number}\n"
        text += f"commit refs/heads/main\ncommitter Ada <ada@example.com> {1_750_000_000 + number} +0000\n"
        text += f"data {len(message)}\n{message}\n"
        text += "".join(f"M 644 inline f{file:04}.txt\ndata {len(data)}\n{data}\n" for file in range(files))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=text.encode(), check=True)
    ground.git(root, "reset", "-q", "--hard", "main")
    return root


# How long git may take


@pytest.mark.parametrize(("size", "is_read"), [(4_000_000, True), (4_000_001, False)])
def test_an_answer_of_more_than_four_megabytes_is_not_taken(ground: Ground, size: int, is_read: bool) -> None:
    """`gitrun.OUTPUT_LIMIT`."""
    root = ground.repository("tides")
    (root / "large").write_bytes(b"#" * size)
    blob = ground.git(root, "hash-object", "-w", "large")
    answer = git().ask(str(root), ["cat-file", "blob", blob], 60.0)
    assert (answer is not None and len(answer) == size) is is_read


# How much is asked and taken of git


@pytest.mark.parametrize(("files", "count"), [(200, 1), (201, 2)])
def test_two_hundred_paths_are_queried_at_once(
    ground: Ground, questions: list[tuple[str, float]], files: int, count: int
) -> None:
    """`authorship.ASKED`."""
    root = imported(ground, files=files)
    texts = repository_texts(git(), [str(root / f"f{number:04}.txt") for number in range(files)])
    assert {why for why, _ in texts.values()} == {TRACKED}
    assert len(texts) == files
    assert len(questions) == count


@pytest.mark.parametrize(("files", "count"), [(500, 1), (501, 2)])
def test_five_hundred_paths_of_a_commit_are_queried_at_once(
    ground: Ground, questions: list[tuple[str, float]], files: int, count: int
) -> None:
    """`branches.COMMITS_LIMIT`."""
    root = imported(ground, files=files)
    names = [f"f{number:04}.txt" for number in range(files)]
    blobs = LocalBranches(git(), str(root)).blobs(ground.git(root, "rev-parse", "HEAD"), names)
    assert blobs is not None
    assert len(blobs) == files
    assert len(questions) == count
