"""Zed's own agent: our MCP server in its settings, and rules; it has no hooks.

Other agents in Zed (over ACP) keep their own hooks, and Zed passes its servers on to them. Sources: zed.dev/docs/ai/mcp
and /docs/ai/rules, 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from holdfast.hosts.sdk.adapter import McpClient
from holdfast.hosts.sdk.files import settings_folder
from holdfast.ports.host import Host, HostProfile, RulesTarget

INSTRUCTIONS = (
    ".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md",
    "AGENTS.md", "CLAUDE.md", "GEMINI.md",
)  # fmt: skip
"""Zed reads the first of these that exists."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Zed()


class Zed(McpClient):
    """The adapter for Zed; implements `ports.host.Host`."""

    name = "zed"
    keeps_transcripts = True
    comments = True
    servers = ("context_servers",)

    @property
    def profile(self) -> HostProfile:
        """What Zed can do and where."""
        return HostProfile(
            title="Zed",
            mcp="~/.config/zed/settings.json",
            transcripts="threads/threads.db in its data folder",
            grows_by_lines=False,
            transcript_files=("threads/threads.db",),
            rules=(RulesTarget(file="AGENTS.md", first_of=INSTRUCTIONS),),
            notes=(
                "Zed has no hooks: lessons come through the MCP tools and `holdfast rules sync`.",
                "Zed reads only the first of .rules, .cursorrules, ..., AGENTS.md, CLAUDE.md that is there.",
            ),
            sources=("zed.dev/docs/ai/mcp, 2026-11-21", "not run"),
        )

    def find(self, home: str) -> str:
        """Return its settings folder, or an empty string."""
        folder = os.path.dirname(self.servers_file(home))
        return folder if os.path.isdir(folder) else ""

    def servers_file(self, home: str) -> str:
        """Return its settings, in `~/.config` on macOS too."""
        if sys.platform == "win32":
            return os.path.join(settings_folder(home), "Zed", "settings.json")
        return os.path.join(home, ".config", "zed", "settings.json")
