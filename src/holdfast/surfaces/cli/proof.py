"""Doctor's proofs: memory persists from one session to the next, and hosts can start the MCP server here.

Two sessions are played in a scratch home through the real hook program. Every step is a process of its own, as with a
host, so that only what was stored passes from one step to the next.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from holdfast.bootstrap import Memory
from holdfast.errors import HoldfastError
from holdfast.home.runfiles import LearningLock
from holdfast.installing.hostfiles import SETUP_SCOPES, HostFiles
from holdfast.settings import Settings, child_environment, hook_program, isolated, load_settings
from holdfast.surfaces.cli.hostcheck import BAD, OK, CheckFinding, failure

HOST = "claude-code"
RULE = "the tide tables are regenerated with tools/make_tides.py, never edited by hand"
QUESTION = "How do I regenerate the tide tables that were edited by hand?"
MARK = "make_tides"
STEP_TIMEOUT_S = 20.0
"""Seconds that one program of the proof may take."""
LEARN_TIMEOUT_S = 20.0
"""Seconds that the learner of the proof may take, and its lock be held after that."""
SERVER_NAME = "holdfast"
START_TIMEOUT_S = 30.0
"""Seconds that an MCP server may take to answer its first request."""
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "holdfast doctor", "version": "1"}
    }
}  # fmt: skip


def prove() -> Iterator[CheckFinding]:
    """Yield a finding for each step; the first step that fails is the last one."""
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-", ignore_cleanup_errors=True) as scratch:
        story = _Story(os.path.realpath(scratch))
        for name, step in story.steps():
            try:
                what = step()
            except (OSError, subprocess.SubprocessError, ValueError) as exc:
                yield failure(name, exc, "report it with the output of: holdfast doctor --report")
                return
            yield CheckFinding(OK, name, what)


class _Story:
    def __init__(self, scratch: str) -> None:
        self.home = os.path.join(scratch, "home")
        self.folder = os.path.join(scratch, "harbour")
        os.mkdir(self.folder)
        self.environment = child_environment(
            HOLDFAST_HOME=self.home, HOLDFAST_OFF="", HOLDFAST_STORE="", HOLDFAST_HOLDOUT="0"
        )

    def steps(self) -> list[tuple[str, Any]]:
        """Return the steps' names and functions. Each function returns what happened or raises ValueError."""
        return [
            ("session 1", self.first_session),
            ("learning", self.wait_for_learner),
            ("session 2", self.second_session),
            ("recall", self.recall),
        ]

    def first_session(self) -> str:
        """Play a session in which the user asks to remember a rule."""
        self.hook("doctor-1", "SessionStart", source="startup")
        self.hook("doctor-1", "UserPromptSubmit", prompt=f"Remember that {RULE}.")
        self.hook("doctor-1", "SessionEnd", reason="other")
        return "hooks answered the start, a prompt and the end"

    def wait_for_learner(self) -> str:
        """Wait until the learner that the session's end started has stored the lesson and exited."""
        settings = load_settings(self.environment)
        deadline = time.monotonic() + LEARN_TIMEOUT_S
        with Memory(self.folder, settings=settings) as memory:
            while not (lessons := memory.lessons(states=())) and not _log_of(settings) and time.monotonic() < deadline:
                time.sleep(0.1)
        with LearningLock(settings.run_path, LEARN_TIMEOUT_S):
            pass  # no learner is running any more, so the scratch folder can be removed
        if not any(MARK in lesson.insight for lesson in lessons):
            raise ValueError("no lesson was learnt after the session's end" + _log_of(settings))
        return "the rule became a lesson"

    def second_session(self) -> str:
        """Play a second session with a related prompt, which must be given the lesson."""
        start = self.hook("doctor-2", "SessionStart", source="startup")
        prompt = self.hook("doctor-2", "UserPromptSubmit", prompt=QUESTION)
        if MARK not in start + prompt:
            raise ValueError("a new session was not given the lesson" + _log_of(load_settings(self.environment)))
        return "a new session was given the lesson " + ("at its start" if MARK in start else "with its prompt")

    def recall(self) -> str:
        """Ask for the lesson in a new process."""
        items = self.run_json("recall", QUESTION, key="items")
        if not any(MARK in item["lesson"]["insight"] for item in items):
            raise ValueError("recall does not find the lesson")
        return "a new process finds the lesson"

    def hook(self, session: str, name: str, **fields: str) -> str:
        """Return the hook program's answer to a payload in the host's format."""
        payload = {
            "session_id": session, "transcript_path": os.path.join(self.folder, f"{session}.jsonl"), "cwd": self.folder,
            "hook_event_name": name, **fields,
        }  # fmt: skip
        answer = self._run(hook_program(HOST), json.dumps(payload))
        json.loads(answer)
        return answer

    def run_json(self, *arguments: str, key: str = "lessons") -> list[dict[str, Any]]:
        """Run a `holdfast` command with --json and return the list under a key of its answer."""
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
    """Return the last failure in the scratch home's log as ": line", or "". A late answer is no failure."""
    try:
        with open(settings.log_path, encoding="utf-8", errors="replace") as stream:
            lines = [line for line in stream.read().splitlines() if " deadline: " not in line]
    except OSError:
        return ""
    return f": {lines[-1]}" if lines else ""


def check_server(settings: Settings) -> Iterator[CheckFinding]:
    """Check that the server answers in the current folder, once for each registered command, with a scratch memory."""
    commands = registered_servers(settings) or {tuple(isolated("holdfast.surfaces.mcp.__main__")): "holdfast setup"}
    for command, mend in commands.items():
        problem = start_server(list(command), os.getcwd())
        if problem:
            yield CheckFinding(BAD, "server", f"the MCP server does not start in {os.getcwd()}: {problem}", mend)
            return
    yield CheckFinding(OK, "server", "the MCP server answers in this folder")


def registered_servers(settings: Settings) -> dict[tuple[str, ...], str]:
    """Return the different commands by which hosts start the server, and for each the command that registers it."""
    try:
        manifest = HostFiles(settings.home).manifest
    except HoldfastError:
        return {}  # another check-up reports it
    servers: dict[tuple[str, ...], str] = {}
    for edit in (edit for entry in manifest.values() for edit in entry["edits"]):
        host, scope, _ = edit["owner"].split(":", 2)
        words = server_words(edit.get("value")) if edit.get("key") == SERVER_NAME and scope in SETUP_SCOPES else []
        kind = tuple(words[: words.index("--for")] if "--for" in words else words)
        if kind:
            servers.setdefault(kind, f"holdfast setup {host}")
    return servers


def server_words(value: Any) -> list[str]:
    """Return the program and arguments of a server's entry in any host's form; [] if the value is not an entry."""
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("transport"), dict):
        value = value["transport"]
    program = value.get("command", value.get("cmd"))
    words = program if isinstance(program, list) else [program, *value.get("args", ())]
    return [word for word in words if isinstance(word, str)]


def start_server(command: list[str], folder: str) -> str:
    """Start a server in the folder with a scratch memory; return why it does not answer, or "" if it does."""
    with tempfile.TemporaryDirectory(prefix="holdfast-doctor-", ignore_cleanup_errors=True) as scratch:
        environment = child_environment(HOLDFAST_HOME=os.path.join(os.path.realpath(scratch), "home"))
        environment.pop("HOLDFAST_STORE", None)
        try:
            server = subprocess.Popen(
                command, cwd=folder, env=environment,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )  # fmt: skip
        except OSError as exc:
            return f"{command[0]}: {exc.strerror}"
        try:
            out, err = server.communicate(json.dumps(HELLO).encode() + b"\n", START_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.communicate()
            return f"no answer in {START_TIMEOUT_S:.0f} s"
    if b'"serverInfo"' in out:
        return ""
    last = err.decode("utf-8", "replace").strip().rpartition("\n")[2]
    return last or f"it ended with exit {server.returncode}"
