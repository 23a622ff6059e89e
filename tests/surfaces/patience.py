"""A clock that runs slower than the machine's, so that no hook of a test misses a deadline because others want the CPU.

The hook program has its limits (its own deadline, what git, a lock or a server may take) in seconds of its clock. A
test gives it a clock of which one second is `slowness` seconds of the machine: the limits stay as they are, and so does
what happens when one is missed. The code under test is the shipped one.
"""

from __future__ import annotations

import sys

import pytest

from holdfast.surfaces.hooks import rendezvous
from holdfast.surfaces.mcp import hooksocket

PATIENT = 120
"""A hook may take a minute of the machine's time."""
HURRIED = 10
"""For a test that waits for a deadline to be missed."""

CLOCK = """
import time
def slow_down(slowness, monotonic=time.monotonic, sleep=time.sleep):
    time.monotonic = lambda: monotonic() / slowness
    time.sleep = lambda seconds: sleep(seconds * slowness)
"""
WAITS = """
import _socket, select
def be_patient(slowness, line=_socket.socket, poll=getattr(select, "poll", None)):
    class Line(line):
        def settimeout(self, seconds):
            super().settimeout(None if seconds is None else seconds * slowness)
    class Poll:
        def __init__(self):
            self.real = poll()
            self.register = self.real.register
        def poll(self, milliseconds):
            return self.real.poll(milliseconds * slowness)
    _socket.socket = Line
    if poll:
        select.poll = Poll
"""
PATIENT_START = f"{CLOCK}{WAITS}slow_down({PATIENT})\nbe_patient({PATIENT})\n"
"""What a program begins with that is to run by the slower clock."""
START = """
import sys
slowness = int(sys.argv.pop(1))
slow_down(slowness)
be_patient(slowness)
entry = sys.argv.pop(1)
sys.argv[0] = entry
exec(compile(open(entry).read(), entry, "exec"), {"__name__": "__main__", "__file__": entry})
"""


def command(entry: str, slowness: int = PATIENT) -> list[str]:
    """What a host starts, by a slower clock; the host's name follows."""
    return [sys.executable, "-I", "-S", "-c", CLOCK + WAITS + START, str(slowness), entry]


def let_the_socket_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for both ends of the socket, where the test itself is one of them."""
    for module, limits in ((rendezvous, ("CONNECT_S", "ANSWER_S")), (hooksocket, ("REQUEST_S", "DELIVER_S"))):
        for limit in limits:
            monkeypatch.setattr(module, limit, 60.0)
