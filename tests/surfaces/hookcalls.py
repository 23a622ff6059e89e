"""Hooks run as Claude Code runs them, by a slower clock: a cold interpreter, one JSON object in, one out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.bootstrap import Memory
from holdfast.home.hookline import HEARD, UNHEARD, Request, ask_server
from holdfast.settings import Settings, load_settings, package_folder
from tests.launcher.compiled import launcher

ENTRY = os.path.join(package_folder(), "surfaces", "hooks", "entry.py")
RUN_ENTRY = """
sys.argv[:] = sys.argv[2:]
exec(compile(open(sys.argv[0]).read(), sys.argv[0], "exec"), {"__name__": "__main__", "__file__": sys.argv[0]})
"""
PATIENT = """
import sys
sys.path.insert(0, sys.argv[1])
from holdfast.lean.deadline import Deadline
Deadline.answer_by = Deadline.late_by = property(lambda deadline: deadline.began_s + 60)
Deadline.server_s = 20
"""
"""A host that waits for a minute: what a test sees does not depend on how busy the machine is."""
PATIENT_COMMAND = [sys.executable, "-I", "-S", "-c", PATIENT + RUN_ENTRY, str(Path(ENTRY).parents[3]), ENTRY]


def hurried_command() -> list[str]:
    """The hook with the real deadline: through the launcher where it can be compiled."""
    program = launcher()
    return [program, sys.executable, ENTRY] if program else [sys.executable, "-I", "-S", ENTRY]


KINDS: dict[str, dict[str, Any]] = {
    "SessionStart": {"source": "startup", "model": "claude-x"},
    "UserPromptSubmit": {"prompt": "please fix the rounding in the ledger"},
    "PreToolUse": {"tool_name": "Edit", "tool_input": {"file_path": "ledger.py", "old_string": "a", "new_string": "b"}},
    "PostToolUse": {
        "tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "pytest -q"},
        "tool_response": {"stdout": "1 passed", "stderr": "", "interrupted": False},
    },
    "PostToolUseFailure": {
        "tool_name": "Bash", "tool_use_id": "t2", "tool_input": {"command": "pytest -q"},
        "error": "Exit code 1\nKeyError: 'rate'",
    },
    "PreCompact": {"trigger": "auto", "custom_instructions": None},
    "Stop": {"stop_hook_active": False, "last_assistant_message": "Rounding is fixed."},
    "SubagentStart": {"agent_id": "a1", "agent_type": "Explore"},
    "SubagentStop": {"agent_id": "a1", "agent_type": "Explore", "last_assistant_message": "Found it."},
    "SessionEnd": {"reason": "other"},
    "Notification": {"message": "unknown to us"},
}  # fmt: skip


class Hooks:
    """A user's machine: a home, a project folder without git, and hooks that run in them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "ledger"
        self.project.mkdir()
        (self.project / "ledger.py").write_text("rate = 1\n")
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("HOLDFAST", "CLAUDE", "GIT", "PYTHON"))}
        self.env |= {"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home"), "HOLDFAST_HOLDOUT": "0"}

    @property
    def settings(self) -> Settings:
        return load_settings(self.env)

    @property
    def log(self) -> str:
        path = Path(self.settings.log_path)
        return path.read_text() if path.exists() else ""

    def memory(self) -> Memory:
        return Memory(str(self.project), settings=self.settings)

    def payload(self, kind: str, session: str = "s1", **more: Any) -> dict[str, Any]:
        shared = {"session_id": session, "cwd": str(self.project), "hook_event_name": kind}
        return {**shared, **KINDS.get(kind, {}), **more}

    def start(self, host: str = "claude-code", patient: bool = True, **env: str) -> subprocess.Popen[bytes]:
        pipe, command = subprocess.PIPE, PATIENT_COMMAND if patient else hurried_command()
        environment = {key: value for key, value in {**self.env, **env}.items() if value != "-"}
        return subprocess.Popen(
            [*command, host], env=environment, cwd=self.folder, stdin=pipe, stdout=pipe, stderr=pipe
        )

    def run(self, payload: dict[str, Any] | bytes, host: str = "claude-code", **env: str) -> str:
        """What the hook adds to the agent's context. It has to exit 0 with one JSON object and an empty stderr."""
        content = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        return told(*finish(self.start(host, **env), content))

    def call(self, kind: str, session: str = "s1", **more: Any) -> str:
        return self.run(self.payload(kind, session, **more))


def ask_for(settings: Settings, payload: bytes, heard: bool = True) -> str | None:
    """A running server's answer, with all the patience of a test; None without one."""
    request = Request(settings.store, "claude-code", payload, time.time(), frozenset())
    answer, _ = ask_server(settings, request, time.monotonic() + 60.0)
    if answer is None:
        return None
    answer.close(HEARD if heard else UNHEARD)
    return answer.text


def finish(running: subprocess.Popen[bytes], content: bytes) -> tuple[int, bytes, bytes]:
    out, err = running.communicate(content, timeout=120)
    return running.returncode, out, err


def told(code: int, out: bytes, err: bytes) -> str:
    assert (code, err) == (0, b"")
    answer = json.loads(out.decode())
    assert isinstance(answer, dict)
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def wait_for(condition: Callable[[], Any], what: str, limit_s: float = 120) -> Any:
    """What the condition gives once it is true; for things another process does in its own time."""
    deadline = time.monotonic() + limit_s
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"never happened: {what}")
        time.sleep(0.02)
    return value


def learners(hooks: Hooks) -> list[int]:
    """Processes that learn for this home."""
    mark = f"HOLDFAST_HOME={hooks.env['HOLDFAST_HOME']}".encode()
    processes = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if b"--learn" in (folder / "cmdline").read_bytes() and mark in (folder / "environ").read_bytes():
                processes.append(int(folder.name))
        except OSError:
            continue
    return processes


@contextmanager
def short_folder() -> Iterator[Hooks]:
    """A machine in a folder short enough for a socket's address; it goes once nobody learns in it any more."""
    with tempfile.TemporaryDirectory(prefix="hf") as folder:
        hooks = Hooks(Path(folder))
        yield hooks
        wait_for(lambda: not learners(hooks), "the learners of this home ended")
