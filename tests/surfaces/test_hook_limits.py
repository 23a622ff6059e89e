"""The edges of hooks, and of the socket between them and a server: what is just inside, and what is not."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import SchemaTooOldError
from holdfast.home import handover, hookline
from holdfast.surfaces.mcp import hooksocket
from tests.surfaces.hookcalls import Hooks, ask_for, short_folder, wait_for
from tests.surfaces.patience import let_the_socket_wait

pytestmark = pytest.mark.skipif(not hasattr(socket, "AF_UNIX"), reason="there are no Unix sockets")


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hooks]:
    let_the_socket_wait(monkeypatch)
    with short_folder() as made:
        for name in ("HOME", "HOLDFAST_HOME", "HOLDFAST_HOLDOUT"):
            monkeypatch.setenv(name, made.env[name])  # for the learners that a server in this process starts
        yield made


@pytest.fixture
def served(hooks: Hooks) -> Iterator[Hooks]:
    """With a server that has not begun to learn."""
    before = sys.getswitchinterval()
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even, never half up.", files=["ledger.py"], kind="constraint")
        close = hooksocket.serve(memory, hooks.settings.run_path)
        yield hooks
        close()
    sys.setswitchinterval(before)


# What a hook reads and starts


@pytest.mark.parametrize("more", [0, 1])
def test_a_payload_of_sixteen_megabytes_is_read(tmp_path: Path, more: int) -> None:
    """`client.PAYLOAD_LIMIT`."""
    hooks = Hooks(tmp_path)
    hooks.run(json.dumps(hooks.payload("UserPromptSubmit")).encode().ljust(16_000_000 + more))
    assert ("payload of more than 16,000,000 bytes" in hooks.log) is bool(more)


@pytest.mark.parametrize(("age_s", "starts"), [(59.0, 0), (60.0, 1)])
def test_an_upgrade_is_started_once_a_minute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age_s: float, starts: int
) -> None:
    """`handover.UPGRADE_EVERY_S`."""
    started: list[str] = []
    monkeypatch.setattr(handover, "start_learner", lambda: started.append("learner"))
    stamp = tmp_path / handover.UPGRADE
    stamp.write_text("")
    os.utime(stamp, (1_800_000_000, 1_800_000_000))
    monkeypatch.setattr("time.time", lambda: 1_800_000_000 + age_s)
    handover.start_upgrader(SchemaTooOldError("old"), str(tmp_path))
    assert len(started) == starts


@pytest.mark.parametrize(("seconds", "out"), [(0.2, ""), (60.0, "ended\n")])
def test_a_learner_that_is_stuck_ends(tmp_path: Path, seconds: float, out: str) -> None:
    """`learner.LONGEST_RUN_S`."""
    code = (
        "import time\n"
        "from holdfast.surfaces.hooks import learner\n"
        f"learner.LONGEST_RUN_S = {seconds}\n"
        "learner._leave_the_host = lambda: None\n"
        "learner.learn_all = lambda *_: time.sleep(3)\n"
        "learner.main()\n"
        "print('ended')\n"
    )
    environment = {**os.environ, "HOLDFAST_HOME": str(tmp_path / "home")}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == out


# What a hook asks of a server


class Speaker:
    """A server of one answer, as many of those as are asked for."""

    def __init__(self, hooks: Hooks, name: str, answer: bytes) -> None:
        self.folder = Path(hooks.settings.run_path)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.line.bind(str(self.folder / name))
        self.line.listen(4)
        self.answer = answer
        self.thread = threading.Thread(target=self._speak, daemon=True)
        self.thread.start()

    def _speak(self) -> None:
        try:
            asking, _ = self.line.accept()
        except OSError:
            return
        with asking:
            asking.recv(65_536)
            try:
                asking.sendall(self.answer)
                asking.recv(1)
            except OSError:
                return  # it hung up

    def close(self) -> None:
        self.line.shutdown(socket.SHUT_RDWR)
        self.line.close()
        self.thread.join()


# What a server takes of a hook


def connect(hooks: Hooks) -> socket.socket:
    [name] = [name for name in os.listdir(hooks.settings.run_path) if name.endswith(".sock")]
    line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    line.settimeout(60.0)
    line.connect(os.path.join(hooks.settings.run_path, name))
    return line


@pytest.mark.parametrize(("seconds", "is_shown"), [(0.05, False), (60.0, True)])
def test_a_hooks_word_is_waited_for(
    served: Hooks, monkeypatch: pytest.MonkeyPatch, seconds: float, is_shown: bool
) -> None:
    """`hookline.HEARD_S`: what the host may not have been told is told again."""
    monkeypatch.setattr(hookline, "HEARD_S", seconds)
    payload = json.dumps(served.payload("PreToolUse")).encode()
    request = hookline.Request(served.settings.store, "claude-code", payload, time.time(), frozenset())
    first, _ = hookline.ask_server(served.settings, request, time.monotonic() + 60.0)
    assert first is not None
    assert "half to even" in str(first.text)
    if not is_shown:
        wait_for(lambda: not _answering(), "the server has stopped waiting")
    first.close(hookline.HEARD)
    assert ("half to even" in str(ask_for(served.settings, payload))) is not is_shown


def _answering() -> bool:
    return any(thread.name == "holdfast-hook" for thread in threading.enumerate())


@pytest.mark.parametrize(("seconds", "waits"), [(0.05, False), (60.0, True)])
def test_closing_waits_for_a_hook_that_is_being_answered(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch, seconds: float, waits: bool
) -> None:
    """`hooksocket.LEAVE_S`."""
    monkeypatch.setattr(hooksocket, "LEAVE_S", seconds)
    left = threading.Event()
    with hooks.memory() as memory:
        close = hooksocket.serve(memory, hooks.settings.run_path)
        line = connect(hooks)
        line.sendall(b"half a head")
        wait_for(_answering, "the server attends to us")

        def leave() -> None:
            left.set()
            line.close()

        late = threading.Timer(0.5, leave)
        if waits:
            late.start()
        close()
        assert left.is_set() is waits
        if waits:
            late.join()
        else:
            leave()
        wait_for(lambda: not _answering(), "the server has seen us leave")


def test_learners_of_turns_run_one_after_another(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[tuple[str, ...]] = []
    may_end = threading.Event()

    def start(*arguments: str) -> int:
        started.append(arguments)
        assert may_end.wait(60.0)
        return 0

    monkeypatch.setattr(hooksocket, "start_learner", start)
    monkeypatch.setattr(hooksocket, "_reap", lambda process: None)
    with hooks.memory() as memory:
        close = hooksocket.serve(memory, hooks.settings.run_path)
        for session in ("s1", "s2", "s2", "s3"):
            assert ask_for(hooks.settings, json.dumps(hooks.payload("Stop", session)).encode()) == "{}"
        assert len(started) <= 1
        may_end.set()
        wait_for(lambda: len(started) == 3, "each session's last turn is learnt from")
        close()
    assert {errand.split("\t")[2] for errand, _ in started} == {"s1", "s2", "s3"}
    assert {option for _, option in started} == {"turn"}
