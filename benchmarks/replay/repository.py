"""The team's repository: its git objects hold the transcripts, and a clone shows the code of each day."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from benchmarks.recall.cases import MissingSetError

MAIN = "origin/HEAD"


@dataclass(frozen=True)
class Repository:
    """A repository, bare or not, with the objects of the transcripts."""

    path: Path

    def transcript(self, blob: str) -> str:
        """The text of a transcript; raises MissingSetError when the repository lacks its object."""
        ran = subprocess.run(["git", "-C", str(self.path), "cat-file", "blob", blob], capture_output=True)
        if ran.returncode:
            raise MissingSetError(f"{self.path} has no transcript {blob}: clone it with all branches")
        return ran.stdout.decode("utf-8", "replace")

    def clone(self, folder: Path) -> WorkTree:
        """A clone without files yet; raises MissingSetError when this is no repository."""
        ran = subprocess.run(
            ["git", "clone", "-q", "--no-checkout", str(self.path), str(folder)], capture_output=True, text=True
        )
        if ran.returncode:
            raise MissingSetError(f"{self.path} cannot be cloned (--repository PATH): {ran.stderr.strip()}")
        return WorkTree(folder)


@dataclass(frozen=True)
class WorkTree:
    """The clone in which the sessions are played."""

    folder: Path

    def check_out_before(self, at: datetime) -> None:
        """Show the main branch as it was at that time; what is there stays when nothing is so old."""
        commit = self._git("rev-list", "-1", f"--before={at.isoformat()}", MAIN).stdout.strip()
        if commit:
            self._git("checkout", "-q", "--force", "--detach", commit)

    def work_as(self, person: str) -> None:
        """Make that person the one who works in the clone, as git's configuration says it."""
        self._git("config", "user.name", person)
        self._git("config", "user.email", f"{person}@team.example")

    def name_branch(self, branch: str) -> None:
        """Call what is checked out by a session's branch; a name that git refuses leaves it without one."""
        self._git("checkout", "-q", "-B", branch, check=False)

    def _git(self, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["git", "-C", str(self.folder), *arguments], capture_output=True, text=True, check=check)
