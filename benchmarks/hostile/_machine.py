"""A user's machine in a scratch folder: a home that `holdfast setup` was run in, and a repository.

Everything is started as a host or a person starts it: hooks and server by the commands that setup registered.
"""

from __future__ import annotations

import json
import os
import select
import shlex
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

LIMIT_S = 120.0
"""How long anything may take; what takes longer hangs."""
UNKNOWN_TO_US = ("HOLDFAST", "CLAUDE", "CODEX", "GIT_", "PYTHON", "XDG_", "LD_PRELOAD")


@dataclass(frozen=True)
class Run:
    """How a process ended. `code` is negative for one that was killed, and 124 for one that hung."""

    code: int
    out: str
    err: str
    took_s: float

    @property
    def is_valid_answer(self) -> bool:
        """Whether a host can read it as a hook's answer: nothing, or one JSON object."""
        try:
            return not self.out.strip() or isinstance(json.loads(self.out), dict)
        except ValueError:
            return False

    @property
    def is_traceback(self) -> bool:
        return "Traceback (most recent call last)" in self.err


class Machine:
    """A scratch home, a repository, and Holdfast set up for Claude Code."""

    def __init__(self, folder: Path, python: str, home: str = "home", repository: str = "shop") -> None:
        self.python = python
        self.home = folder / home
        self.repository = folder / repository
        (self.home / ".claude").mkdir(parents=True)
        self.repository.mkdir(parents=True)
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(UNKNOWN_TO_US)}
        self.env |= {"HOME": str(self.home), "HOLDFAST_HOME": str(self.home / ".holdfast"), "GIT_CONFIG_NOSYSTEM": "1"}
        self.prefix: tuple[str, ...] = ()
        """What every process is started through."""
        (self.repository / "ledger.py").write_text("def rounded(amount):\n    return round(amount, 2)\n")
        self._git("init", "-q", "-b", "main")
        self._git("remote", "add", "origin", "git@example.com:ada/shop.git")
        self._git("add", "-A")
        self._git("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "Begin")
        self.setup = self.cli("setup", "claude-code", "--yes")
        self._hooks, self._server = self._registered() if self.setup.code == 0 else ({}, [])

    @property
    def memory_home(self) -> Path:
        """Where the processes started from now on keep the memory."""
        return Path(self.env["HOLDFAST_HOME"])

    @property
    def database(self) -> Path:
        return self.memory_home / "memory.db"

    def _git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.repository, check=True, env=self.env)

    def _registered(self) -> tuple[dict[str, list[str]], list[str]]:
        """The command of each hook and of the server, as they stand in the host's files."""
        hooks = json.loads((self.home / ".claude" / "settings.json").read_text())["hooks"]
        commands = {name: shlex.split(groups[0]["hooks"][0]["command"]) for name, groups in hooks.items()}
        server = json.loads((self.home / ".claude.json").read_text())["mcpServers"]["holdfast"]
        return commands, [server["command"], *server.get("args", ())]

    # Processes

    def start(self, command: Sequence[str], folder: Path | None = None) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*self.prefix, *command], cwd=folder or self.repository, env=self.env, stdin=pipe, stdout=pipe, stderr=pipe
        )

    def run(
        self, command: Sequence[str], stdin: str = "", kill_after_s: float | None = None, folder: Path | None = None
    ) -> Run:
        """Run to the end, or to a SIGKILL after that time."""
        began = time.perf_counter()
        with self.start(command, folder) as running:
            try:
                out, err = running.communicate(stdin.encode(), LIMIT_S if kill_after_s is None else kill_after_s)
                code = running.returncode
            except subprocess.TimeoutExpired:
                running.kill()
                out, err = running.communicate()
                code = 124 if kill_after_s is None else running.returncode
        took_s = time.perf_counter() - began
        return Run(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"), took_s)

    def cli(self, *arguments: str, stdin: str = "", kill_after_s: float | None = None) -> Run:
        """A command typed in the repository."""
        return self.run([self.python, "-m", "holdfast", *arguments], stdin, kill_after_s)

    def hook(self, payload: Mapping[str, Any], kill_after_s: float | None = None) -> Run:
        """A hook with that payload."""
        return self.run(self.hook_command(str(payload["hook_event_name"])), json.dumps(payload), kill_after_s)

    def hook_command(self, kind: str) -> list[str]:
        """The command that is registered for hooks of that kind."""
        return self._hooks[kind]

    def serve(self) -> Server:
        """A new MCP server, as the host starts it."""
        return Server(self.start(self._server))

    # Payloads

    def payload(self, kind: str, session: str, **fields: Any) -> dict[str, Any]:
        """What Claude Code sends. There is no transcript: what a hook loses is lost."""
        shared = {"session_id": session, "cwd": str(self.repository), "transcript_path": "/nowhere.jsonl"}
        return {**shared, "hook_event_name": kind, **fields}

    def prompt(self, word: str, session: str = "s1") -> dict[str, Any]:
        """A prompt that the word tells from all others."""
        return self.payload("UserPromptSubmit", session, prompt=f"please look at the rounding of {word} in the ledger")

    def edit(self, number: int, session: str, before: bool = False) -> dict[str, Any]:
        """An edit of the ledger, before or after it was made."""
        change = {"file_path": str(self.repository / "ledger.py"), "old_string": "2", "new_string": str(number)}
        fields: dict[str, Any] = {"tool_name": "Edit", "tool_input": change, "tool_use_id": f"toolu_{number}"}
        if before:
            return self.payload("PreToolUse", session, **fields)
        return self.payload("PostToolUse", session, **fields, tool_response={"filePath": change["file_path"]})

    def teach(self, insights: Sequence[str]) -> None:
        """Make these rules active lessons."""
        path = self.home / "taught.jsonl"
        lines = [{"kind": "convention", "insight": insight, "state": "active"} for insight in insights]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        if self.cli("import", str(path), "--accept").code:  # a version that takes a file's word asks for no other
            self.cli("import", str(path))

    # What is kept

    def settle(self) -> None:
        """Let everything that was put off be done: a command that opens the store, and a learner."""
        wait_until(lambda: not self.hooks_at_work(), LIMIT_S)
        self.cli("status")
        self.run([self.python, "-m", "holdfast.surfaces.hooks.learner"], folder=Path("/"))
        wait_until(lambda: not self.hooks_at_work(), LIMIT_S)

    def hooks_at_work(self) -> list[int]:
        """Learners, and hooks that keep their events after the host has its answer, where the system tells."""
        return self.processes(b"hooks/entry.py")

    def processes(self, word: bytes = b"holdfast") -> list[int]:
        """Ids of processes of this home with that word in their command line, where the system tells."""
        mark = f"HOLDFAST_HOME={self.env['HOLDFAST_HOME']}\0".encode()
        ids = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if word in (folder / "cmdline").read_bytes() and mark in (folder / "environ").read_bytes() + b"\0":
                    ids.append(int(folder.name))
            except OSError:
                continue
        return ids

    def lessons(self) -> list[dict[str, Any]]:
        """Every lesson, whatever its state."""
        listed = self.cli("list", "--state", "all", "--all-projects", "--limit", "1000000", "--json")
        return list(json.loads(listed.out)["lessons"]) if listed.code == 0 else []

    def event_texts(self) -> list[str]:
        """The documents of all events; empty where the file cannot be read."""
        return [row[0] for row in self.query("SELECT doc FROM events")]

    def unlogged_lessons(self) -> int:
        """Lessons that no change names."""
        rows = self.query("SELECT count(DISTINCT id) FROM lessons WHERE id NOT IN (SELECT lesson FROM change_lessons)")
        return int(rows[0][0]) if rows else -1

    def integrity(self) -> str:
        """What SQLite's own check says."""
        rows = self.query("PRAGMA integrity_check")
        return str(rows[0][0]) if rows else "cannot be opened"

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        try:
            connection = sqlite3.connect(self.database)
            try:
                return connection.execute(statement).fetchall()
            finally:
                connection.close()
        except (sqlite3.Error, UnicodeDecodeError):  # the latter when the driver's message quotes damaged text
            return []

    def doctor(self) -> str:
        """`ok`, or what doctor complains of."""
        run = self.cli("doctor", "--no-proof", "--json")
        try:
            findings = json.loads(run.out)["findings"]
        except (ValueError, KeyError):
            return f"exit {run.code}" + (", traceback" if run.is_traceback else "")
        return "; ".join(finding["name"] for finding in findings if finding["status"] == "bad") or "ok"

    def log_lines(self) -> list[str]:
        """The hooks' log."""
        path = self.memory_home / "hooks.log"
        return path.read_text(errors="replace").splitlines() if path.exists() else []


class Server:
    """A running MCP server that is asked one thing after another."""

    def __init__(self, running: subprocess.Popen[bytes]) -> None:
        self.running = running
        self._number = 0
        self._buffer = b""

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.running.communicate(timeout=LIMIT_S)  # the end of its stdin ends the server
        except subprocess.TimeoutExpired:
            self.running.kill()
            self.running.communicate()
        except (OSError, ValueError):  # it was killed, and there was something left to write to it
            self.running.kill()
            self.running.wait()
        for stream in (self.running.stdin, self.running.stdout, self.running.stderr):
            with suppress(OSError):
                if stream:
                    stream.close()

    def open(self) -> bool:
        """Shake hands; whether the server answered."""
        client = {"name": "hostile", "version": "1"}
        answer = self.ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer is not None

    def call(self, tool: str, **arguments: Any) -> bool:
        """Whether the tool acknowledged."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        return answer is not None and "result" in answer and not answer["result"].get("isError")

    def ask(self, method: str, **params: Any) -> dict[str, Any] | None:
        """The answer; None when the server has gone or hangs."""
        self._number += 1
        if not self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}):
            return None
        while (line := self._read_line()) is not None:
            message = json.loads(line)
            if message.get("id") == self._number and "method" not in message:
                return dict(message)
        return None

    def kill(self) -> None:
        self.running.kill()

    def _write(self, message: Mapping[str, Any]) -> bool:
        assert self.running.stdin is not None
        try:
            self.running.stdin.write(json.dumps(message).encode() + b"\n")
            self.running.stdin.flush()
            return True
        except OSError:
            return False

    def _read_line(self) -> bytes | None:
        assert self.running.stdout is not None
        end = time.monotonic() + LIMIT_S
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.running.stdout], [], [], max(0.0, end - time.monotonic()))
            part = os.read(self.running.stdout.fileno(), 65_536) if ready else b""
            if not part:
                return None
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


def wait_until(condition: Callable[[], bool], limit_s: float = LIMIT_S) -> bool:
    """Whether the condition came true in time."""
    end = time.monotonic() + limit_s
    while not (result := condition()):
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return bool(result)


def counted(words: Iterable[str], texts: Iterable[str]) -> Counter[str]:
    """How many of the texts each word is in. Every word ends with a letter no other word goes on with."""
    joined = Counter[str]()
    wanted = set(words)
    for text in texts:
        for word in {part.strip(".,:;\"'") for part in text.split()} & wanted:
            joined[word] += 1
    return joined
