"""The instructions that a client gets at its start: how to use the tools and, for a host without hooks, the brief.

The brief is an ordinary delivery of a session's start: it has a budget, it is logged, and it is off when that moment is
switched off. A host whose hooks deliver at any moment does not get it, because it would be shown the same twice.
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
    """Return the instructions for a client that opens a connection. A broken memory raises nothing here."""
    if has_hooks(settings, caller.host, caller.memory.folder):
        return HOOKED
    call = replace(caller.call("initialize"), moment="session_start")
    memory = caller.memory
    until_s = memory.services.clock.elapsed_s() + BRIEF_S
    try:
        briefing = memory.inject(call, until_s, _room(caller.host, settings))
    except HoldfastError:  # for example, the folder is gone or git does not answer; the tools report it
        return ALONE
    return f"{ALONE}\n\n{briefing.text}" if briefing.text else ALONE


def _room(host: str, settings: Settings) -> int:
    """Return the brief's limit in tokens for a host that cuts instructions; 0 means the moment's own budget."""
    if host == UNKNOWN:
        return 0
    try:
        return load_host(host, settings).profile.instructions_tokens
    except HoldfastError:  # another version of Holdfast registered a host that this one does not know
        return 0


def has_hooks(settings: Settings, host: str, folder: str) -> bool:
    """Return whether setup registered hooks with the host, for this folder, that deliver at some moment."""
    if host == UNKNOWN or not is_registered(settings.home, host, folder):
        return False
    try:
        return bool(load_host(host, settings).profile.moments)
    except HoldfastError:
        return True  # another version of Holdfast registered a host that this one does not know
