"""Zed's own agent: our MCP server in its settings, and rules; it has no hooks.

Other agents in Zed (over ACP) keep their own hooks, and Zed passes its servers on to them. Sources: zed.dev/docs/ai/mcp
and /docs/ai/rules, 2026-11-21. Not run here.

Turns Zed's threads into events: `threads.db`, whose values are JSON, mostly compressed with Zstandard.

Source: the public repository zed-industries/zed, crates/agent/src/db.rs; 2026-11-21.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.event import Event
from holdfast.errors import HostConfigError
from holdfast.hosts.sdk.adapter import McpClient
from holdfast.hosts.sdk.files import (
    VALUE_LIMIT,
    instant,
    open_foreign,
    parse_object,
    settings_folder,
    state_folder,
    unpack,
)
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import TranscriptReplay
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields
from holdfast.ports.host import Host, HostProfile, RulesTarget

INSTRUCTIONS = (
    ".rules", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md", "AGENT.md",
    "AGENTS.md", "CLAUDE.md", "GEMINI.md",
)  # fmt: skip
"""Zed reads the first of these that exists."""

TOOLS = {
    "terminal": "Bash", "read_file": "Read", "edit_file": "Edit", "write_file": "Write", "create_file": "Write",
    "grep": "Grep", "find_path": "Glob", "list_directory": "LS",
}  # fmt: skip


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Zed()


class Zed(McpClient):
    """The adapter for Zed; implements `ports.host.Host`."""

    name = "zed"
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

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the database, if it is there."""
        name = "zed" if sys.platform.startswith("linux") else "Zed"
        path = os.path.join(state_folder(home), name, "threads", "threads.db")
        return [path] if os.path.exists(path) else []

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield the events of all threads. Raises OSError, or HostConfigError if no thread could be read."""
        with open_foreign(path) as opened:
            wanted = "folder_paths" if "folder_paths" in opened.columns("threads") else "NULL"
            rows = opened.rows(
                f"SELECT id, updated_at, data_type, data, {wanted} FROM threads WHERE length(data) < {VALUE_LIMIT}"
                " ORDER BY updated_at"
            )
            read_some, refused = False, None
            for session, updated, form, value, folders in rows:
                try:
                    thread = parse_object(unpack(value) if form == "zstd" else value)
                except HostConfigError as exc:
                    refused = exc
                    continue
                read_some = True
                telling = TranscriptReplay(self, session, new_id, _as_claude)
                telling.stand(at=instant(thread.get("updated_at")) or instant(updated), **_place(thread, folders))
                messages = thread.get("messages")
                for message in messages if isinstance(messages, list) else ():
                    yield from _message(telling, message)
        if refused and not read_some:
            raise refused


def _as_claude(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    arguments = with_usual_fields(fields_of(payload["tool_input"]))
    return {**payload, "tool_name": TOOLS.get(payload["tool_name"], payload["tool_name"]), "tool_input": arguments}


def _place(thread: Mapping[str, Any], folders: object) -> dict[str, str]:
    """Return the first folder of the project, its branch, and the model."""
    trees = fields_of(thread.get("initial_project_snapshot")).get("worktree_snapshots")
    tree = fields_of(trees[0]) if isinstance(trees, list) and trees else {}
    model = fields_of(thread.get("model"))
    return {
        "cwd": text_of(tree.get("worktree_path")) or text_of(folders).partition("\n")[0].partition("\0")[0],
        "branch": text_of(fields_of(tree.get("git_state")).get("current_branch")),
        "model": text_of(model.get("model")),
    }


def _message(telling: TranscriptReplay, message: object) -> Iterator[Event]:
    fields = fields_of(message)
    if "User" in fields:
        yield from telling.prompt(_texts(fields_of(fields["User"]).get("content"), "Text"))
    elif "Agent" in fields:
        yield from _agent(telling, fields_of(fields["Agent"]))
    elif fields.get("role") == "user":
        yield from telling.prompt(_segments(fields))
    elif fields.get("role") == "assistant":
        yield from telling.reply(_segments(fields))


def _agent(telling: TranscriptReplay, agent: Mapping[str, Any]) -> Iterator[Event]:
    blocks = agent.get("content")
    yield from telling.reply(_texts(blocks, "Text"))
    for block in map(fields_of, blocks if isinstance(blocks, list) else ()):
        call = fields_of(block.get("ToolUse"))
        if call:
            telling.open(text_of(call.get("id")), text_of(call.get("name")), call.get("input"))
    for use, result in fields_of(agent.get("tool_results")).items():
        fields = fields_of(result)
        content = fields.get("content")
        output = text_of(fields_of(content).get("Text")) or response_text(content)
        error = (output or "failed") if fields.get("is_error") is True else ""
        yield from telling.close(use, {"stdout": output, "content": output}, error)


def _texts(blocks: object, name: str) -> str:
    values = (fields_of(block).get(name) for block in blocks) if isinstance(blocks, list) else ()
    return "\n".join(text for text in map(text_of, values) if text)


def _segments(message: Mapping[str, Any]) -> str:
    segments = message.get("segments")
    fields = (fields_of(segment) for segment in segments) if isinstance(segments, list) else ()
    return "\n".join(text_of(segment.get("text")) for segment in fields if segment.get("type") == "text")
