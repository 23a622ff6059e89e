"""JetBrains AI Assistant: our MCP server in the file that every JetBrains IDE reads; rules; no hooks.

Junie is a separate host. Sources: jetbrains.com/help/ai-assistant, MCP and rules; the shared file from a third party's
reading of plug-in 262.10968.170; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from holdfast.hosts.sdk.adapter import McpClient
from holdfast.hosts.sdk.files import settings_folder
from holdfast.ports.host import Host, HostProfile, RulesTarget


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return JetBrains()


class JetBrains(McpClient):
    """The adapter for JetBrains AI Assistant; implements `ports.host.Host`."""

    name = "jetbrains"

    @property
    def profile(self) -> HostProfile:
        """What AI Assistant can do and where."""
        return HostProfile(
            title="JetBrains AI Assistant",
            mcp="~/.ai/mcp/mcp.json",
            rules=(
                RulesTarget(
                    file=".aiassistant/rules/holdfast-{slug}.md",
                    front_matter="---\napply: by file patterns\npatterns: {globs}\n---\n",
                    always="---\napply: always\n---\n",
                ),
            ),
            reads=("AGENTS.md",),
            notes=(
                "AI Assistant has no hooks: lessons come through the MCP tools and `holdfast rules sync`.",
                "If the IDE does not show the server, paste it in Settings | Tools | AI Assistant | MCP.",
            ),
            sources=(
                "jetbrains.com/help/ai-assistant, 2026-11-21",
                "front matter of rules: as in public projects",
                "file: third party",
                "not run",
            ),
        )

    def find(self, home: str) -> str:
        """Return the IDEs' settings folder, or an empty string."""
        folder = os.path.join(settings_folder(home), "JetBrains")
        return folder if os.path.isdir(folder) else ""

    def servers_file(self, home: str) -> str:
        """Return the file that all IDEs share."""
        return os.path.join(home, ".ai", "mcp", "mcp.json")
