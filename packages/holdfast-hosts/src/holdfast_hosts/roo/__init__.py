"""Roo Code, which was shut down in May 2026: installed copies get our MCP server and rules; there are no hooks.

Sources: the public repository RooCodeInc/Roo-Code, MCP settings and custom instructions; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from holdfast.hosts.sdk.adapter import McpClient
from holdfast.hosts.sdk.files import settings_folder
from holdfast.ports.host import Host, HostProfile, RulesTarget

EXTENSION = "rooveterinaryinc.roo-cline"


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Roo()


class Roo(McpClient):
    """The adapter for Roo Code; implements `ports.host.Host`."""

    name = "roo"
    keeps_transcripts = True

    @property
    def profile(self) -> HostProfile:
        """What Roo Code can do and where."""
        return HostProfile(
            title="Roo Code",
            mcp="mcp_settings.json in its VS Code storage",
            transcripts="tasks in its VS Code storage",
            grows_by_lines=False,
            transcript_files=("tasks/*/api_conversation_history.json",),
            transcript_marks=(('[{"role":"user","content":[', '"text":"<task>', "#CurrentWorkspaceDirectory("),),
            rules=(RulesTarget(file=".roo/rules/holdfast-{slug}.md"), RulesTarget(file="AGENTS.md")),
            notes=("Roo Code was shut down in May 2026. Installed copies read what `holdfast rules sync` writes.",),
            sources=("github.com/RooCodeInc/Roo-Code, 2026-11-21", "not run"),
        )

    def find(self, home: str) -> str:
        """Return its storage, or an empty string."""
        folder = _storage(home)
        return folder if os.path.isdir(folder) else ""

    def servers_file(self, home: str) -> str:
        """Return its settings of servers."""
        return os.path.join(_storage(home), "settings", "mcp_settings.json")


def _storage(home: str) -> str:
    return os.path.join(settings_folder(home), "Code", "User", "globalStorage", EXTENSION)
