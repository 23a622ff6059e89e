"""The edges of installing: what is just inside, and what is not."""

from __future__ import annotations

import os
import stat
import subprocess
import zipfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from holdfast.bootstrap import Memory
from holdfast.errors import HoldfastError
from holdfast.installing import githooks
from holdfast.installing.copies import find_copies
from holdfast.installing.githooks import run_git
from holdfast.installing.rulesync import open_rules_planner
from holdfast.installing.setup import set_up_git
from holdfast.lean.files import FileLock
from holdfast.publishing.sync import Syncing
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli.team import sync_lessons
from tests.surfaces.terminal import told

TEXT = "Count the tides in whole hours, never in minutes, whatever a pilot says"


@pytest.fixture
def settings(home: Path) -> Settings:
    home.mkdir()
    return load_settings()


# Copies of a lesson's words


def copies(settings: Settings, content: bytes, words: str, name: str = "notes.txt") -> bool:
    Path(settings.home, name).write_bytes(content)
    return bool(find_copies(settings, [words]))


@pytest.mark.parametrize("before", [0, 2**20 - 59, 2**20 - 1, 2**20])
def test_a_packed_file_is_searched_across_its_pieces(settings: Settings, before: int) -> None:
    """`copies.ZIP_PIECE`."""
    with zipfile.ZipFile(Path(settings.home, "export.zip"), "w") as archive:
        archive.writestr("lessons.md", " " * before + TEXT)
    assert [Path(copy.path).name for copy in find_copies(settings, [TEXT])] == ["export.zip"]


# Files, turns and git


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_files_that_people_share_can_be_read_by_all(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`hostfiles.SHARED_MODE`."""
    root = tmp_path / "shop"
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    before = os.umask(0o022)
    try:
        changed = set_up_git(settings, str(root))
        monkeypatch.chdir(root)
        told("remember", "Count the tides in whole hours", "--kind", "constraint", "--pin")
        told("rules", "sync", "--host", "codex")
    finally:
        os.umask(before)
    made = [Path(change.file) for change in changed if change.held is None]
    assert made
    assert {mode_of(path) for path in (*made, root / "AGENTS.md")} == {0o644}


def sync(memory: Memory) -> object:
    return sync_lessons(memory, Syncing(dry=True))


def change_rules(memory: Memory) -> object:
    desk: AbstractContextManager[object] = open_rules_planner(memory)
    with desk as opened:
        return opened


@pytest.mark.parametrize(
    ("name", "use"),
    [("sharing", sync), ("hostfiles", change_rules)],
    ids=["team.LOCK_WAIT_S", "rulesync.LOCK_WAIT_S"],
)
def test_another_process_is_waited_for_ten_seconds(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    use: Callable[[Memory], object],
) -> None:
    (tmp_path / "app").mkdir()
    Path(settings.run_path).mkdir(parents=True)
    slept = [0.0]

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    other = FileLock(str(Path(settings.run_path) / f"{name}.lock"))
    assert other.take(0.0, 0.0)
    with Memory(str(tmp_path / "app")) as memory:
        with monkeypatch.context() as patched:
            patched.setattr("time.monotonic", lambda: slept[0])
            patched.setattr("time.sleep", sleep)
            with pytest.raises(HoldfastError, match="another holdfast process is"):
                use(memory)
        other.close()
        use(memory)
    assert 10.0 <= slept[0] < 10.051


@pytest.mark.skipif(os.name != "posix", reason="the slow git is a shell script")
@pytest.mark.parametrize(("seconds", "answer"), [(0.1, ""), (60, "true")])
def test_a_git_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, answer: str
) -> None:
    """`githooks.GIT_TIMEOUT_S`."""
    subprocess.run(["git", "init", "-q", str(tmp_path / "shop")], check=True)
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(f'#!/bin/sh\nPATH="{os.environ["PATH"]}"\nsleep 1\nexec git "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(githooks, "GIT_TIMEOUT_S", seconds)
    assert run_git(str(tmp_path / "shop"), "rev-parse", "--is-inside-work-tree") == answer
