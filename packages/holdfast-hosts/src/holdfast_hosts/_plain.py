"""Renders output for hosts that pass a hook's output to the model unchanged: the briefing, or a blank line. Lean."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall

SILENCE = "\n"
"""Not empty: an empty answer means that the server was too late. The hook program prints nothing for it."""


def render_plain(call: HookCall, briefing: Briefing, takes: frozenset[str]) -> str:
    """Return the briefing's text for the hooks that take it."""
    return briefing.text if briefing.text and call.name in takes else SILENCE
