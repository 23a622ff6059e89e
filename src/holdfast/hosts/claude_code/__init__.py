"""Claude Code: its hook payloads, its transcripts on disk, and where our hooks and MCP server are registered.

Lean when imported: a hook loads only the shared payload reader; the rest is loaded on use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.claude_code.install import PROFILE, plan_install
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.hooks import BEFORE_END, TAKES_CONTEXT, render_nested
from holdfast.ports.host import Host, HostProfile, InstallPlan


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter. Option `config_dir`: the folder that Claude Code uses instead of `~/.claude`."""
    return ClaudeCode(options.get("config_dir", ""))


class ClaudeCode(Adapter):
    """The adapter for Claude Code; implements `ports.host.Host`."""

    name = "claude-code"
    folders = (".claude", ".claude.json")
    takes_end = True

    @property
    def profile(self) -> HostProfile:
        """What Claude Code can do and where."""
        return PROFILE

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's whole stdout."""
        return render_nested(call, briefing, TAKES_CONTEXT | BEFORE_END)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return absolute paths of transcripts, least recently written first, without sub-agents' files."""
        from holdfast.hosts.claude_code.transcripts import find_transcripts

        return find_transcripts(home, self._config_dir)

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Return the events of a transcript's lines, with the same keys as the hooks use."""
        from holdfast.hosts.claude_code.transcripts import parse_transcript

        return parse_transcript(self.name, lines, session, new_id)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits for scope `user` or `project`. Raises InvalidValueError for another scope."""
        return plan_install(self.name, scope, folder, home, command, self._config_dir)
