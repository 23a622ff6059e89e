"""Hosts that hand what a hook prints to the model as it stands: the briefing, or a blank line for silence. Lean."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.briefing import Briefing
    from holdfast.domain.hookcall import HookCall

SILENCE = "\n"
"""Not empty: an empty answer is what a server gives that was too late. The hook program prints nothing for it."""


def render_plain(call: HookCall, briefing: Briefing, takes: frozenset[str]) -> str:
    """The briefing's text for the hooks that take it."""
    return briefing.text if briefing.text and call.name in takes else SILENCE
