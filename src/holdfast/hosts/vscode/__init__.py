"""Visual Studio Code: our MCP server in the user's `mcp.json`, for every agent that runs in it.

Its local agent also runs the hooks of Claude Code's and Copilot's files; Copilot's sessions belong to the adapter
`copilot-cli`. Sources: code.visualstudio.com, "MCP configuration reference" and "Custom instructions"; 2026-11-21. Not
run here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.hosts.sdk.folders import first_there, settings_folder
from holdfast.hosts.sdk.mcpclient import McpClient
from holdfast.ports.host import Host, HostMarks, HostProfile, RulesTarget


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return VsCode()


class VsCode(McpClient):
    """The adapter for Visual Studio Code; implements `ports.host.Host`."""

    name = "vscode"
    keeps_transcripts = True
    comments = True
    servers = ("servers",)

    @property
    def profile(self) -> HostProfile:
        """What Visual Studio Code can do and where."""
        return HostProfile(
            title="Visual Studio Code",
            mcp="mcp.json in its User folder",
            transcripts="chatSessions in its workspaceStorage",
            grows_by_lines=False,
            transcript_files=(
                "chatSessions/*.json",
                "chatSessions/*.jsonl",
                "GitHub.copilot-chat/transcripts/*.jsonl",
                "emptyWindowChatSessions/*.json*",
            ),
            transcript_marks=(
                ('{"kind":0,"v":{', '"sessionId":"', '"requests":['),
                ('"responderUsername":"', '"requests":['),
                ('"type":"session.start"', '"producer":"copilot-agent"', '"vscodeVersion":"'),
            ),
            rules=(
                RulesTarget(
                    file=".github/instructions/holdfast-{slug}.instructions.md",
                    front_matter='---\napplyTo: "{globs}"\ndescription: "{description}"\n---\n',
                    always='---\napplyTo: "**"\ndescription: "{description}"\n---\n',
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            reads=("CLAUDE.md", ".claude/rules/*.md"),
            notes=(
                "No hooks here yet: lessons come through the MCP tools (agent mode only) and `holdfast rules sync`.",
            ),
            marks=HostMarks(client_names=("visual-studio-code",)),
            sources=("code.visualstudio.com/docs/copilot/reference/mcp-configuration, 2026-11-21", "not run"),
        )

    def find(self, home: str) -> str:
        """Return its settings folder, or an empty string."""
        folder = os.path.dirname(self.servers_file(home))
        return folder if os.path.isdir(folder) else ""

    def servers_file(self, home: str) -> str:
        """Return `mcp.json` of the installed build: stable, then Insiders."""
        root = settings_folder(home)
        folder = first_there(tuple(os.path.join(root, name, "User") for name in ("Code", "Code - Insiders")))
        return os.path.join(folder, "mcp.json")

    def entry(self, words: Sequence[str]) -> Any:
        """Return the entry in VS Code's form, which names the transport."""
        return {"type": "stdio", "command": words[0], "args": list(words[1:])}
