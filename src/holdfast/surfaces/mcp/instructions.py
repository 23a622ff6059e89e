"""The instructions a client is given at its start: how to use the tools and, where no hook of ours says it, the brief.

The brief is an ordinary delivery of a session's start: within a budget, logged, and off when that channel is off. A
host with hooks that deliver, at whatever moment, is not given it: here and there it would be told the same.
"""

from __future__ import annotations

from holdfast.errors import HoldfastError
from holdfast.lean.records import replace
from holdfast.settings import Settings
from holdfast.surfaces.mcp.callers import UNKNOWN, Caller
from holdfast.surfaces.mcp.greeting import ALONE, HOOKED, is_registered
from holdfast.wiring import load_host

BRIEF_S, ANSWER_S = 1.0, 1.25
"""How long the brief may take, and how long it is waited for: a host waits for its tools."""


def instruct(caller: Caller, settings: Settings) -> str:
    """The whole instructions for a client that opens a connection. Never raises for a memory that is broken."""
    if has_hooks(settings, caller.host, caller.memory.folder):
        return HOOKED
    call = replace(caller.call("initialize"), moment="session_start")
    memory = caller.memory
    until_s = memory.parts.clock.elapsed_s() + BRIEF_S
    try:
        briefing = memory.inject(call, until_s, _room(caller.host, settings))
    except HoldfastError:  # the folder is gone, git does not answer: the tools report it
        return ALONE
    return f"{ALONE}\n\n{briefing.text}" if briefing.text else ALONE


def _room(host: str, settings: Settings) -> int:
    """Most tokens of the brief, where the host cuts instructions; 0 for the moment's own budget."""
    if host == UNKNOWN:
        return 0
    try:
        return load_host(host, settings).profile.instructions_tokens
    except HoldfastError:  # registered by another version of ours
        return 0


def has_hooks(settings: Settings, host: str, folder: str) -> bool:
    """Whether setup registered hooks with that host, for this folder, that deliver at some moment."""
    if host == UNKNOWN or not is_registered(settings.home, host, folder):
        return False
    try:
        return bool(load_host(host, settings).profile.moments)
    except HoldfastError:
        return True  # registered by another version of ours
