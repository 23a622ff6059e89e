"""Limits of a minute for both ends of the socket, so that no test depends on how busy the machine is."""

from __future__ import annotations

import pytest

from holdfast.home import hookline
from holdfast.lean.deadline import Deadline
from holdfast.surfaces.mcp import hooksocket


def let_the_socket_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test's own process, as server or client, wait for a minute where a hook's limits apply."""
    for limit in ("server_s", "deliver_s"):
        monkeypatch.setattr(Deadline, limit, 60.0)
    monkeypatch.setattr(hookline, "CONNECT_S", 60.0)
    monkeypatch.setattr(hooksocket, "REQUEST_S", 60.0)
