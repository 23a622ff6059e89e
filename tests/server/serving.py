"""Starts the real server as a process of its own, on a free port of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx2 as httpx

from holdfast.settings import isolated

WAIT_S = 120.0
"""A test that waits for so long has failed; none measures how long anything takes."""


class Server:
    """A running server: its address, its processes and its log."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.log: list[dict[str, Any]] = []
        self.text = ""
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        listening = self.wait_for("listening")
        self.url = str(listening["address"])
        self.wait_for("started", int(listening["workers"]))

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                self.text += line
                if line.startswith("{"):
                    self.log.append(json.loads(line))
                self._news.notify_all()
        with self._news:
            self.log.append({"event": "ended"})
            self._news.notify_all()

    def close(self) -> None:
        """Read the log to its end; the server has ended."""
        self._reader.join(WAIT_S)
        if self.process.stderr is not None:
            self.process.stderr.close()

    def count(self, event: str) -> int:
        """How often the log has that event."""
        return sum(entry["event"] == event for entry in self.log)

    def wait_for(self, event: str, count: int = 1) -> dict[str, Any]:
        """Wait until the log has the event so often; the last of them. Fails if the server ends first."""
        with self._news:
            came = self._news.wait_for(lambda: self.count(event) >= count or self.count("ended"), WAIT_S)
            assert came, f"no {event} in:\n{self.text}"
            assert self.count(event) >= count, f"the server ended without {event}:\n{self.text}"
            return [entry for entry in self.log if entry["event"] == event][count - 1]

    @property
    def workers(self) -> list[int]:
        """The process ids of all that answer, in the order in which they started."""
        return [entry["process"] for entry in self.log if entry["event"] == "started"]

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop the server and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(WAIT_S)

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Answer of a request on a connection of its own."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.get(self.url + path, headers=named, timeout=WAIT_S)


def command(*arguments: str) -> list[str]:
    """The program that `holdfast serve` becomes."""
    return isolated("holdfast.server.__main__", *arguments)


@contextmanager
def served(arguments: Sequence[str] = (), folder: str = "", **environment: str) -> Iterator[Server]:
    """Run a server with these arguments, `key=value`, in that folder, until the block ends."""
    process = subprocess.Popen(
        command("port=0", *arguments), env={**os.environ, **environment}, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL, text=True, start_new_session=True, cwd=folder or None,
    )  # fmt: skip
    server = None
    try:
        server = Server(process)
        yield server
        server.stop()
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if server is not None:
            server.close()
