"""Show what Holdfast learns from an example session, and what later sessions receive.

    make demo

Everything happens in a scratch home and a scratch copy of the example repository. Your own files are not touched.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from player import Player, load_story

import holdfast

EXAMPLE = Path(__file__).resolve().parent / "ledger"
PACKAGE = Path(holdfast.__file__).parent
WAITING = """
import runpy, sys
sys.path.insert(0, sys.argv[1])
from holdfast.lean.deadline import Deadline
Deadline.answer_by = Deadline.late_by = property(lambda deadline: deadline.began_s + 20)
sys.argv[:] = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Start a hook whose host waits until it has ended, so that a busy machine shows the same output."""


BEFORE_IT = {"GIT_AUTHOR_DATE": "2026-03-01T09:00:00Z", "GIT_COMMITTER_DATE": "2026-03-01T09:00:00Z"}
"""The code was committed before the recorded session, so that its lessons are about that code."""


class Demo:
    """A scratch home that contains the example repository."""

    def __init__(self, scratch: Path) -> None:
        self.folder = scratch / "ledger"
        shutil.copytree(EXAMPLE / "repository", self.folder)
        list(Player("", str(self.folder)).play([step for step in load_story(str(EXAMPLE))["first"] if "edit" in step]))
        hidden = {"HOLDFAST_HOME": str(scratch / "holdfast"), "HOME": str(scratch), "PYTHONDONTWRITEBYTECODE": "1"}
        self._env = {**os.environ, **hidden, "HOLDFAST_HOLDOUT": "0"}
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Split bills"]):
            author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
            subprocess.run(["git", *author, *command], cwd=self.folder, env=self._env | BEFORE_IT, check=True)

    def say(self, title: str) -> None:
        """Print a heading."""
        print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n== {title}")

    def run(self, *arguments: str) -> None:
        """Run one holdfast command and show its output."""
        print(f"$ holdfast {' '.join(arguments)}", flush=True)
        subprocess.run([sys.executable, "-m", "holdfast", *arguments], cwd=self.folder, env=self._env, check=True)

    def accept(self) -> None:
        """Accept, as a person would, every lesson that waits."""
        listing = [sys.executable, "-m", "holdfast", "review", "--list", "--json"]
        ran = subprocess.run(listing, cwd=self.folder, env=self._env, check=True, capture_output=True, text=True)
        for lesson in json.loads(ran.stdout)["lessons"]:
            self.run("review", "--accept", lesson["id"][-8:])

    def hook(self, what: str, payload: dict[str, object]) -> None:
        """Call one hook as the host would, and show what the agent receives."""
        entry = PACKAGE / "surfaces" / "hooks" / "entry.py"
        called = [sys.executable, "-I", "-S", "-c", WAITING, str(PACKAGE.parent), str(entry), "claude-code"]
        ran = subprocess.run(
            called,
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self._env,
            check=True,
        )
        context = json.loads(ran.stdout).get("hookSpecificOutput", {}).get("additionalContext", "")
        print(f"\n{what}\n  → " + (context.replace("\n", "\n    ") if context else "nothing"))


def main() -> None:
    """Play the demo in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-", ignore_cleanup_errors=True) as scratch:
        play(Demo(Path(scratch)))


def play(demo: Demo) -> None:
    """Show capture, lessons, review, and what later sessions receive."""
    demo.say("1. Holdfast reads a session that is already on disk; it calls no model")
    demo.run("backfill", str(EXAMPLE / "session.jsonl"), "--project", str(demo.folder), "--accept")
    demo.say("2. What the session taught: confirmed lessons, and one that waits until a person accepts it")
    demo.run("list")
    demo.run("review", "--list")
    demo.accept()
    demo.say("3. Later sessions receive the lessons that matter, when they matter")
    for what, payload in later_sessions(demo.folder):
        demo.hook(what, payload)
    demo.say("4. The log: what was shown, when and why")
    demo.run("log")


def later_sessions(folder: Path) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield one hook of each kind, with a name. Each has its own session: a session receives no lesson twice."""
    plan = load_story(str(EXAMPLE))["second"]
    sessions = (Player(f"9a4e1b52-0000-4000-8000-{number:012d}", str(folder)) for number in count(2))
    yield "the session starts", next(next(sessions).start())
    for key in ("unrelated_prompt", "related_prompt"):
        yield f"prompt: {plan[key]}", next(next(sessions).step({"prompt": plan[key]}))
    yield f"about to read {plan['edit']}", next(next(sessions).step({"read": plan["edit"]}))
    yield f"about to run: {plan['command']}", next(next(sessions).step({"bash": plan["command"]}))
    list(next(sessions).step(plan["failing_change"]))
    *_, failure = next(sessions).step({"bash": plan["failing_command"]})
    yield f"failed: {plan['failing_command']}", failure


if __name__ == "__main__":
    main()
