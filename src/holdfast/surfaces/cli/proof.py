"""The proof that memory persists: a story of two sessions, through the real hook program, in a scratch home.

Every step is a process of its own, as with a host: nothing is carried from one to the next but what was kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from typing import TYPE_CHECKING, Any

from holdfast.bootstrap import Memory
from holdfast.home.runfiles import LearningTurn
from holdfast.settings import child_environment, hook_program, isolated, load_settings
from holdfast.surfaces.cli.findings import OK, Finding, failure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.settings import Settings

HOST = "claude-code"
RULE = "the tide tables are regenerated with tools/make_tides.py, never edited by hand"
QUESTION = "How do I regenerate the tide tables that were edited by hand?"
MARK = "make_tides"
STEP_TIMEOUT_S = 20.0
"""Seconds that one program of the proof may take."""
LEARN_TIMEOUT_S = 20.0
"""Seconds that the learner of the proof may take, and its lock be held after that."""


def prove() -> Iterator[Finding]:
    """One finding for each step that was done; the first that fails is the last."""
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-", ignore_cleanup_errors=True) as scratch:
        story = _Story(os.path.realpath(scratch))
        for name, step in story.steps():
            try:
                what = step()
            except (OSError, subprocess.SubprocessError, ValueError) as exc:
                yield failure(name, exc, "holdfast doctor --report, and report it")
                return
            yield Finding(OK, name, what)


class _Story:
    def __init__(self, scratch: str) -> None:
        self.home = os.path.join(scratch, "home")
        self.folder = os.path.join(scratch, "harbour")
        os.mkdir(self.folder)
        self.environment = child_environment(
            HOLDFAST_HOME=self.home, HOLDFAST_OFF="", HOLDFAST_STORE="", HOLDFAST_HOLDOUT="0"
        )

    def steps(self) -> list[tuple[str, Any]]:
        """The steps' names and functions; each returns what was seen or raises ValueError."""
        return [
            ("session 1", self.first_session),
            ("learning", self.wait_for_learner),
            ("session 2", self.second_session),
            ("recall", self.recall),
        ]

    def first_session(self) -> str:
        """A session starts, the user asks to remember something, the session ends."""
        self.hook("doctor-1", "SessionStart", source="startup")
        self.hook("doctor-1", "UserPromptSubmit", prompt=f"Remember that {RULE}.")
        self.hook("doctor-1", "SessionEnd", reason="other")
        return "hooks answered a start, a prompt and an end"

    def wait_for_learner(self) -> str:
        """The process the session's end started has kept the lesson, and is gone."""
        settings = load_settings(self.environment)
        deadline = time.monotonic() + LEARN_TIMEOUT_S
        with Memory(self.folder, settings=settings) as memory:
            while not (lessons := memory.lessons(states=())) and not _log_of(settings) and time.monotonic() < deadline:
                time.sleep(0.1)
        with LearningTurn(settings.run_path, LEARN_TIMEOUT_S):
            pass  # nobody is learning any more: the scratch folder can go
        if not any(MARK in lesson.insight for lesson in lessons):
            raise ValueError("the session's end taught nothing" + _log_of(settings))
        return "what was said became a lesson"

    def second_session(self) -> str:
        """A new session that asks a question is given the lesson, unasked."""
        start = self.hook("doctor-2", "SessionStart", source="startup")
        prompt = self.hook("doctor-2", "UserPromptSubmit", prompt=QUESTION)
        if MARK not in start + prompt:
            raise ValueError("a new session was not given the lesson" + _log_of(load_settings(self.environment)))
        return "a new session was given the lesson " + ("at its start" if MARK in start else "with its prompt")

    def recall(self) -> str:
        """A new process that asks finds the lesson."""
        items = self.asked("recall", QUESTION, key="items")
        if not any(MARK in item["lesson"]["insight"] for item in items):
            raise ValueError("recall does not find the lesson")
        return "a new process that asks finds it"

    def hook(self, session: str, name: str, **fields: str) -> str:
        """The hook program's answer to a payload of the host's shape."""
        payload = {
            "session_id": session,
            "transcript_path": os.path.join(self.folder, f"{session}.jsonl"),
            "cwd": self.folder,
            "hook_event_name": name,
            **fields,
        }
        answer = self._run(hook_program(HOST), json.dumps(payload))
        json.loads(answer)
        return answer

    def asked(self, *arguments: str, key: str = "lessons") -> list[dict[str, Any]]:
        """What a command of ours answers in JSON under a key."""
        answer = self._run(isolated("holdfast.__main__", *arguments, "--json"), "")
        rows: list[dict[str, Any]] = json.loads(answer)[key]
        return rows

    def _run(self, command: list[str], text: str) -> str:
        done = subprocess.run(
            command,
            input=text.encode(),
            capture_output=True,
            cwd=self.folder,
            env=self.environment,
            timeout=STEP_TIMEOUT_S,
            check=False,
        )
        if done.returncode:
            raise ValueError(f"exit {done.returncode}: {done.stderr.decode('utf-8', 'replace').strip()[-500:]}")
        return done.stdout.decode("utf-8", "replace")


def _log_of(settings: Settings) -> str:
    """The last line of the scratch home's log that tells of a failure, if it has one; a late answer is none."""
    try:
        with open(settings.log_path, encoding="utf-8", errors="replace") as stream:
            lines = [line for line in stream.read().splitlines() if " deadline: " not in line]
    except OSError:
        return ""
    return f": {lines[-1]}" if lines else ""
