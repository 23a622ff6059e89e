"""Roo Code, which was shut down in May 2026: installed copies get our MCP server and rules; there are no hooks.

Sources: the public repository RooCodeInc/Roo-Code, MCP settings and custom instructions; 2026-11-21. Not run here.

Turns tasks of Roo Code and its forks into events.

Sources: the public repository RooCodeInc/Roo-Code, tasks on the disk; 2026-11-21.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.cline.transcripts import HISTORY, read_task, task_folders
from holdfast.hosts.sdk.adapter import McpClient
from holdfast.hosts.sdk.files import find_files, oldest_first, settings_folder
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.toolcalls import with_usual_fields
from holdfast.ports.host import Host, HostProfile, RulesTarget

EXTENSION = "rooveterinaryinc.roo-cline"

EXTENSIONS = ("rooveterinaryinc.roo-cline", "kilocode.kilo-code")
TOOLS = {
    "execute_command": "Bash", "read_file": "Read", "write_to_file": "Write", "apply_diff": "Edit",
    "search_and_replace": "Edit", "insert_content": "Edit", "search_files": "Grep", "list_files": "LS",
}  # fmt: skip
DIFF = re.compile(r"<<<<<<< SEARCH\n(?:.*?\n-------\n)?(.*?)\n?=======\n(.*?)\n?>>>>>>> REPLACE", re.DOTALL)
PATH = re.compile(r"<path>\s*(.*?)\s*</path>", re.DOTALL)


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Roo()


class Roo(McpClient):
    """The adapter for Roo Code; implements `ports.host.Host`."""

    name = "roo"

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

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the tasks in every editor."""
        return oldest_first(
            path for folder in task_folders(home, *EXTENSIONS) for path in find_files(folder, (f"/{HISTORY}",))
        )

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Return events of a task. Raises OSError, or HostConfigError for a huge file."""
        return read_task(self, path, new_id, _as_claude)


def _storage(home: str) -> str:
    return os.path.join(settings_folder(home), "Code", "User", "globalStorage", EXTENSION)


def _as_claude(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the call by Claude Code's names: all pairs of a diff, and the first of several files to read."""
    arguments = with_usual_fields(fields_of(payload.get("tool_input")))
    tool = TOOLS.get(text_of(payload.get("tool_name")), text_of(payload.get("tool_name")))
    args = text_of(arguments.get("args"))
    if "file_path" not in arguments and (match := PATH.search(args)):
        arguments["file_path"] = match[1]
    if tool == "Edit":
        pairs = DIFF.findall(text_of(arguments.get("diff")) or args)
        arguments["edits"] = [{"old_string": old, "new_string": new} for old, new in pairs]
        arguments.setdefault("old_string", text_of(arguments.get("search")))
        arguments.setdefault("new_string", text_of(arguments.get("replace")) or text_of(arguments.get("content")))
        tool = "MultiEdit" if pairs else "Edit"
    return {**payload, "tool_name": tool, "tool_input": arguments}
