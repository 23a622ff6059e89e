"""The instructions that a client gets at its start: how to use the tools and, for a host without hooks, the brief.

The brief is an ordinary delivery of a session's start: it has a budget, it is logged, and it is off when that moment is
switched off. A host whose hooks deliver at any moment does not get it, because it would be shown the same twice.
"""

from __future__ import annotations

from holdfast.bootstrap import Memory as Here
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import Moment, SessionId
from holdfast.errors import HoldfastError
from holdfast.settings import Settings
from holdfast.surfaces.mcp.greeting import UNKNOWN, greet, is_registered, must_ask
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.wiring import load_host

BRIEF_S, ANSWER_S = 1.0, 1.25
"""How long the brief may take, and how long it is waited for: a host waits for its tools."""


def instruct(memory: Here, settings: Settings, host: str, session: SessionId) -> str:
    """Return the instructions for a client that opens a connection. A broken memory raises nothing here."""
    hooked = has_hooks(settings, host, memory.folder)
    moments = (moments_of(settings, host) or ()) if hooked else ()
    greeting = greet(hooked=hooked, asks=must_ask(settings, moments))
    if hooked:
        return greeting
    call = HookCall(host=host, name="initialize", session=session, cwd=memory.folder, moment="session_start")
    until_s = memory.services.clock.elapsed_s() + BRIEF_S
    try:
        briefing = memory.inject(call, until_s, _room(host, settings))
    except HoldfastError:  # for example, the folder is gone or git does not answer; the tools report it
        return greeting
    return f"{greeting}\n\n{briefing.text}" if briefing.text else greeting


def is_project(opened: MemoryOnce) -> bool:
    """Return whether the folder has an identity of its own: a committed id or git. An error counts as yes.

    The tools report the error then.
    """
    try:
        return opened().at(opened.folder).location.project.source != "path"
    except HoldfastError:
        return True


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
    return moments_of(settings, host) != ()


def moments_of(settings: Settings, host: str) -> tuple[Moment, ...] | None:
    """Return the moments at which the host's hooks deliver; None for a host that only another version knows."""
    try:
        return load_host(host, settings).profile.moments
    except HoldfastError:
        return None
