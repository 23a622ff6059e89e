"""Real git repositories in a scratch folder, and a workspace that keeps its states in a dictionary."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.domain.statefamilies import StateFamily
from holdfast.wiring import SystemClock
from holdfast.workspace.local import LocalWorkspace


class States(dict[tuple[str, str], str]):
    """What `StateCells` promises, in memory."""

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        return self.get((family.name, owner), "")

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        self[family.name, owner] = value


class Ground:
    """A scratch folder in which repositories are made, moved and asked about."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.states = States()
        self.workspace = LocalWorkspace(self.states, SystemClock(), timeout_scale=20)

    def git(self, folder: Path | str, *arguments: str) -> str:
        ran = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
        return ran.stdout.strip()

    def repository(self, name: str, remote: str = "", commits: int = 1) -> Path:
        made = self.folder / name
        made.mkdir(parents=True)
        self.git(made, "init", "-q", "-b", "main")
        if remote:
            self.git(made, "remote", "add", "origin", remote)
        for number in range(commits):
            (made / f"file{number}.txt").write_text(f"{name} {number}\n")
            self.git(made, "add", "-A")
            self.git(made, "commit", "-q", "-m", f"{name} {number}")
        return made

    def id(self, folder: Path | str) -> str:
        return self.workspace.locate(str(folder)).project.id


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    config = tmp_path / "gitconfig"
    config.write_text('[user]\n name = Ada\n email = ada@example.com\n[protocol "file"]\n allow = always\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    (tmp_path / "ground").mkdir()
    return Ground(tmp_path / "ground")
