"""Whose commit a lesson's file was last, as real git tells it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from holdfast.wiring import SystemClock
from holdfast.workspace.gitrun import Git
from holdfast.workspace.lessonfiles import LocalLessonFiles


def commit(root: Path, name: str, address: str) -> None:
    file = root / ".holdfast" / "lessons" / "fix" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(file.read_text() + "more\n" if file.exists() else "one\n")
    subprocess.run(["git", "-C", str(root), "add", "."], check=True)
    author = f"Somebody <{address}>"
    subprocess.run(["git", "-C", str(root), "commit", "-qm", "x", "--author", author], check=True)


def test_the_last_commit_of_a_file_tells_whose_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, config = tmp_path / "repository", tmp_path / "gitconfig"
    config.write_text("[user]\n\tname = Ada\n\temail = Ada@example.org\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    commit(root, "mine.md", "ada@example.org")
    commit(root, "theirs.md", "ada@example.org")
    commit(root, "nameless.md", "")
    commit(root, "theirs.md", "bob@example.org")
    commit(root, "other.md", "ada@example.org")
    files = LocalLessonFiles(str(root), Git(SystemClock(), 20.0))
    assert files.by_user() == {"fix/mine.md", "fix/other.md"}
    subprocess.run(["git", "-C", str(root), "config", "user.email", "bob@example.org"], check=True)
    assert files.by_user() == {"fix/mine.md", "fix/other.md"}
