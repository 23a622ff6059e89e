"""A user's machine in a scratch folder: a home, a repository with a second work tree, and an installed Holdfast."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

PYTHON = os.environ.get("HOLDFAST_WHEEL_PYTHON", sys.executable)
"""The interpreter that has the built wheel; without it (a quick run) the source tree is tested the same way."""


class Machine:
    """Runs commands as the user, and hooks as Claude Code would: by what its settings file says."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home of ada"
        self.home.mkdir()
        self.env = {
            key: value for key, value in os.environ.items() if not key.startswith(("HOLDFAST", "CLAUDE", "GIT"))
        }
        self.env |= {"HOME": str(self.home), "HOLDFAST_HOME": str(self.home / ".holdfast"), "GIT_CONFIG_NOSYSTEM": "1"}
        self.env["HOLDFAST_HOLDOUT"] = "0"  # what a test expects to be told is not to be withheld by chance
        self.repository = folder / "ledger"
        self.elsewhere = folder / "other work tree"
        shutil.copytree(ROOT / "examples" / "ledger" / "repository", self.repository)
        self._git("init", "-q", "-b", "main")
        self._git("config", "user.name", "Ada")
        self._git("config", "user.email", "ada@example.com")
        self._git("remote", "add", "origin", "git@example.com:ada/ledger.git")
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "Split bills")
        self._git("worktree", "add", "-q", "-b", "second", str(self.elsewhere))

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.repository, env=self.env, check=True)

    def commit_all(self, message: str) -> None:
        """Commit the first work tree and bring the second one up to it."""
        self._git("commit", "-q", "-a", "-m", message)
        subprocess.run(["git", "merge", "-q", "main"], cwd=self.elsewhere, env=self.env, check=True)

    def holdfast(self, *arguments: str, folder: Path | None = None, stdin: str = "", code: int = 0) -> str:
        """What the command prints on stdout; its exit code must be `code`."""
        ran = subprocess.run(
            [PYTHON, "-m", "holdfast", *arguments],
            cwd=folder or self.repository, env=self.env, input=stdin, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == code, f"{arguments}: exit {ran.returncode}\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout

    def json(self, *arguments: str, folder: Path | None = None) -> Any:
        """The command's answer with --json."""
        return json.loads(self.holdfast(*arguments, "--json", folder=folder))

    def learn(self) -> None:
        """Learn from what there is, as the process does that hooks start; ends when it has."""
        command = [PYTHON, "-I", "-m", "holdfast.surfaces.hooks.learner"]
        subprocess.run(command, cwd=self.repository, env=self.env, check=True)

    def hook(self, payload: dict[str, Any]) -> str:
        """What all registered hooks that match the payload add to the agent's context, as the host would run them."""
        contexts = []
        for command in self._registered(payload):
            ran = subprocess.run(
                command, shell=True, cwd=payload["cwd"], env=self.env,
                input=json.dumps(payload), capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert ran.returncode == 0, ran.stderr
            answer = json.loads(ran.stdout or "{}")
            contexts.append(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))
        return "\n".join(filter(None, contexts))

    def _registered(self, payload: dict[str, Any]) -> list[str]:
        settings = json.loads((self.home / ".claude" / "settings.json").read_text())
        subject = payload.get("tool_name") or payload.get("source") or payload.get("trigger") or payload.get("reason")
        groups = settings["hooks"].get(payload["hook_event_name"], [])
        matching = [group for group in groups if _matches(group.get("matcher", ""), subject or "")]
        return [hook["command"] for group in matching for hook in group["hooks"]]


def _matches(matcher: str, subject: str) -> bool:
    return matcher in ("", "*") or subject in matcher.replace(",", "|").split("|")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)
