"""Claude Desktop's chat: an MCP server in its configuration file, stdio only, no hooks.

Its Code tab runs Claude Code, with Claude Code's own files. Sources: modelcontextprotocol.io's guide for connecting
local servers; the Store build's folder from third parties; 2026-11-21. Not run here.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping

from holdfast.hosts.sdk.adapter import McpClient
from holdfast.hosts.sdk.files import settings_folder
from holdfast.ports.host import Host, HostMarks, HostProfile


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return ClaudeDesktop()


class ClaudeDesktop(McpClient):
    """The adapter for Claude Desktop; implements `ports.host.Host`."""

    name = "claude-desktop"

    @property
    def profile(self) -> HostProfile:
        """What Claude Desktop can do and where."""
        return HostProfile(
            title="Claude Desktop",
            mcp="claude_desktop_config.json in its settings folder",
            notes=(
                "Claude Desktop reads no rules files: lessons come only through the MCP tools and prompts.",
                "Quit Claude Desktop and start it again: it reads its servers when it starts.",
            ),
            marks=HostMarks(client_names=("claude-ai",)),
            sources=("modelcontextprotocol.io/docs/develop/connect-local-servers, 2026-11-21", "not run"),
        )

    def find(self, home: str) -> str:
        """Return its settings folder, or an empty string."""
        return next((folder for folder in _folders(home) if os.path.isdir(folder)), "")

    def servers_file(self, home: str) -> str:
        """Return the configuration file of the installed build."""
        return os.path.join(self.find(home) or _folders(home)[0], "claude_desktop_config.json")


def _folders(home: str) -> list[str]:
    """Return its settings folders; on Windows the Store build's comes first, which uses a folder of its own."""
    packages = os.path.join(home, "AppData", "Local", "Packages", "Claude_*", "LocalCache", "Roaming")
    return [os.path.join(folder, "Claude") for folder in (*sorted(glob.glob(packages)), settings_folder(home))]
