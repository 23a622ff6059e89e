"""Turns tasks of Roo Code and its forks into events.

Sources: the public repository RooCodeInc/Roo-Code, tasks on the disk; 2026-11-21.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.cline.transcripts import HISTORY, read_task, task_folders
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import find_files, oldest_first
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.toolcalls import with_usual_fields

EXTENSIONS = ("rooveterinaryinc.roo-cline", "kilocode.kilo-code")
TOOLS = {
    "execute_command": "Bash", "read_file": "Read", "write_to_file": "Write", "apply_diff": "Edit",
    "search_and_replace": "Edit", "insert_content": "Edit", "search_files": "Grep", "list_files": "LS",
}  # fmt: skip
DIFF = re.compile(r"<<<<<<< SEARCH\n(?:.*?\n-------\n)?(.*?)\n?=======\n(.*?)\n?>>>>>>> REPLACE", re.DOTALL)
PATH = re.compile(r"<path>\s*(.*?)\s*</path>", re.DOTALL)


def find(host: Adapter, home: str) -> list[str]:
    """Return the tasks in every editor."""
    return oldest_first(
        path for folder in task_folders(home, *EXTENSIONS) for path in find_files(folder, (f"/{HISTORY}",))
    )


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Return events of a task. Raises OSError, or HostConfigError for a huge file."""
    return read_task(host, path, new_id, _as_claude)


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
