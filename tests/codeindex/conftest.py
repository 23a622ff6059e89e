"""Work trees written as tables, and an index beside them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from holdfast.stores.sqlite.indexfile import SqliteIndex, make_index
from tests.codeindex.mutations import Ground, environment


class WorkTree:
    """A scratch folder that may become a git repository; times of commits grow by an hour each."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.commits = self.writes = 0
        root.mkdir()

    def write(self, files: Mapping[str, str | bytes], *, old: bool = True) -> None:
        """Write files; `old` ones were changed an hour ago, each at a second of its own, so that a look is sure."""
        for path, content in files.items():
            whole = self.root / path
            whole.parent.mkdir(parents=True, exist_ok=True)
            whole.write_bytes(content.encode() if isinstance(content, str) else content)
            if old:
                self.writes += 1
                at = whole.stat().st_mtime_ns - (3600 - self.writes) * 1_000_000_000
                os.utime(whole, ns=(at, at))

    def remove(self, *paths: str) -> None:
        """Delete files."""
        for path in paths:
            (self.root / path).unlink()

    def git(self, *arguments: str, at: str = "") -> str:
        """Run git in the folder."""
        dates = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at} if at else {}
        command = ["git", "-C", str(self.root), *arguments]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, env={**os.environ, **dates}
        ).stdout.strip()

    def commit(self, files: Mapping[str, str | bytes] | None = None) -> str:
        """Write files and commit all there is; returns the commit."""
        self.write(files or {})
        self.commits += 1
        self.git("add", "-A")
        self.git(
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            f"change {self.commits}",
            at=f"{1_750_000_000 + 3600 * self.commits} +0000",
        )
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WorkTree:
    """An empty folder without git."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    config = tmp_path / "gitconfig"
    config.write_text("[user]\n name = Ada\n email = ada@example.com\n[init]\n defaultBranch = main\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return WorkTree(tmp_path / "tree")


@pytest.fixture
def repository(tree: WorkTree) -> WorkTree:
    """An empty folder with git."""
    tree.git("init", "-q")
    return tree


@pytest.fixture
def index(tmp_path: Path) -> Iterator[SqliteIndex]:
    """An open, empty index."""
    with make_index({"path": str(tmp_path / "index" / "project.db")}) as opened:
        yield opened


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    """An empty repository with the real workspace."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    (tmp_path / "ground").mkdir()
    return Ground(tmp_path / "ground")
