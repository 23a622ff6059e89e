"""An agent written in Python, which reports its session through `Memory.session` or a client's `session`.

Its calls have the shape of Claude Code's hooks (`client.session` makes them). Set-up changes no file for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.hooks import render_context
from holdfast.ports.host import Host, HostProfile, InstallPlan


class OwnAgent(Adapter):
    """An agent that uses the Python SDK; a host without files."""

    name = "own-agent"

    @property
    def profile(self) -> HostProfile:
        """What such an agent takes: lessons at every moment that it reports."""
        return HostProfile(
            title="An agent of your own",
            moments=("session_start", "prompt", "before_file", "before_command", "after_failure", "after_compaction"),
        )

    def find(self, home: str) -> str:
        """Return an empty string: it is no program on the machine."""
        return ""

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return what `client.session` reads."""
        return render_context(briefing)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Raise InvalidValueError: there is nothing to set up."""
        raise InvalidValueError("an agent in Python needs no set-up", hint="see docs/reference/sdk.md")


def make(options: Mapping[str, str]) -> Host:
    """Make the adapter; there are no options."""
    return OwnAgent()
