"""A machine for the launcher: a home, servers and a Python that behave as a test says, and the launcher itself."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.home.hookline import Request, read_request

HOOK = b'{"hook_event_name":"Stop"}'
CHILD = """\
#!{python} -I
import os, sys, time
from socket import socket
sys.path.insert(0, {source!r})
from holdfast.home.hookline import Answering, read_request
from holdfast.lean.deadline import Deadline
line = socket(fileno=0)
request = read_request(line)
answer = Answering(line)
"""
"""The beginning of a program that the launcher takes for Python."""
Talk = Callable[[socket.socket, Request | None], Any]


class Ran(NamedTuple):
    """What the host saw."""

    code: int
    out: bytes
    err: bytes
    seconds: float


class Machine:
    """One user's machine, with a launcher compiled for it."""

    def __init__(self, folder: Path, program: str) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.run_path = self.home / "run"
        self.run_path.mkdir(parents=True)
        self.run_path.chmod(0o700)
        self.program = program
        self.entry = folder / "entry.py"
        self.entry.write_text("")
        self.python = str(self.script("python", "#!/bin/sh\nexit 3\n"))
        self.requests: list[Request | None] = []
        self._lines: list[socket.socket] = []

    def script(self, name: str, text: str) -> Path:
        """Write a program."""
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def child(self, body: str) -> None:
        """Let the launcher's Python do this with `line`, `request` and `answer`."""
        source = str(Path(__file__).parents[2] / "src")
        self.python = str(self.script("python", CHILD.format(python=sys.executable, source=source) + body))

    def serve(self, talk: Talk, name: str = "1.sock") -> None:
        """Let a server at this socket talk so with everybody who asks."""
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.bind(str(self.run_path / name))
        line.listen(8)
        self._lines.append(line)
        threading.Thread(target=self._serve, args=(line, talk), daemon=True).start()

    def _serve(self, line: socket.socket, talk: Talk) -> None:
        while True:
            try:
                asking, _ = line.accept()
            except OSError:
                return
            with asking:
                try:
                    request = read_request(asking)
                    self.requests.append(request)
                    talk(asking, request)
                except OSError:
                    continue

    def close(self) -> None:
        """End the servers."""
        for line in self._lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def hook(self, payload: bytes = HOOK, *options: str, **env: str) -> Ran:
        """Run a hook as a host does."""
        begun = time.monotonic()
        ran = subprocess.run(
            self.command(*options), input=payload, env=self.environment(**env), capture_output=True, timeout=60,
            check=False,
        )  # fmt: skip
        return Ran(ran.returncode, ran.stdout, ran.stderr, time.monotonic() - begun)

    def command(self, *options: str) -> list[str]:
        """Return the command of a hook."""
        return [self.program, self.python, str(self.entry), "codex", *options]

    def environment(self, **env: str) -> dict[str, str]:
        """Return a hook's environment; "-" leaves a variable out."""
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "HOLDFAST_HOME": str(self.home), **env}
        return {name: value for name, value in variables.items() if value != "-"}

    @property
    def log(self) -> str:
        """The log of this home."""
        path = self.home / "hooks.log"
        return path.read_text() if path.exists() else ""
