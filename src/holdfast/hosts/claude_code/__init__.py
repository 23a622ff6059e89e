"""Claude Code: its hook payloads, its transcripts on disk, and where our hooks and MCP server are registered.

Lean when imported: a hook pays for `hooks` alone; transcripts and installation are loaded when asked for.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from holdfast.domain.briefing import Briefing
    from holdfast.domain.event import Event
    from holdfast.domain.hookcall import HookCall
    from holdfast.ports.host import Host, InstallPlan


def make(options: Mapping[str, str]) -> Host:
    """The adapter. Option `config_dir`: the folder Claude Code was told to use instead of `~/.claude`."""
    return ClaudeCode(options.get("config_dir", ""))


class ClaudeCode:
    """The adapter for Claude Code; implements `ports.host.Host`."""

    name = "claude-code"

    def __init__(self, config_dir: str = "") -> None:
        self._config_dir = config_dir

    def parse_hook(self, payload: Mapping[str, Any], at: datetime, new_id: Callable[[], str]) -> HookCall:
        """What a hook's stdin object says. Raises InvalidValueError when it is not Claude Code's."""
        from holdfast.hosts.claude_code.hooks import parse_hook

        return parse_hook(self.name, payload, at, new_id)

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """The hook's stdout: `additionalContext` where the hook takes it, else `{}`."""
        from holdfast.hosts.claude_code.hooks import render

        return render(call, briefing)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Absolute paths of the sessions' transcripts, least recently written first; without sub-agents' own files."""
        from holdfast.hosts.claude_code.transcripts import find_transcripts

        return find_transcripts(home, self._config_dir)

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Events of a transcript's lines, with the keys the hooks give to the same things."""
        from holdfast.hosts.claude_code.transcripts import parse_transcript

        return parse_transcript(self.name, lines, session, new_id)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """The edits for scope `user` or `project`. Raises InvalidValueError for another scope."""
        from holdfast.hosts.claude_code.install import plan_install

        return plan_install(self.name, scope, folder, home, command, self._config_dir)
