"""Devin CLI, and Devin's local sessions in Devin Desktop: hooks in Claude Code's shape, MCP server, rules.

It also runs the hooks of Claude Code's settings; those stay silent in Devin. Hooks belong into its own configuration
file: paths in a plug-in's hooks are resolved against the project.

Sources: docs.devin.ai on hooks and MCP, several independent readers' reports; 2026-11-21. Not run here; the key of the
context that it takes is documented less surely than the rest.

Turns Devin CLI's sessions into events: the database `sessions.db`.

Messages are nodes of a forest, most of them on abandoned branches. The session's main chain is walked from its end to
its beginning. Sources: several independent readers of the database; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import VALUE_LIMIT, instant, open_foreign, parse_object, settings_folder, state_folder
from holdfast.hosts.sdk.hooks import render_nested
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import hook_command, hook_edit, server_edit
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, open_calls
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields
from holdfast.outside.sqlitefile import ForeignDatabase
from holdfast.ports.host import Host, HostMarks, HostProfile, InstallPlan, RulesTarget

TAKES_CONTEXT = frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"})
EVENTS = {"PostCompaction": "PreCompact"}
TOOLS = {"exec": "Bash", "edit": "Edit", "write": "Write", "read": "Read", "grep": "Grep", "glob": "Glob"}
HOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("SessionStart", "", {"timeout": 10}),
    ("UserPromptSubmit", "", {"timeout": 5}),
    ("PreToolUse", "exec|edit|write|read|grep|glob", {"timeout": 5}),
    ("PostToolUse", "", {"timeout": 5}),
    ("PostCompaction", "", {"timeout": 10}),
    ("Stop", "", {"timeout": 10}),
    ("SessionEnd", "", {"timeout": 5}),
)
"""Hook, matcher and handler's keys."""

CHANNELS = ("cli", "cli-next")
CHAIN = f"""
WITH RECURSIVE chain (node_id, parent_node_id, chat_message, created_at, depth) AS (
    SELECT node_id, parent_node_id, chat_message, created_at, 0 FROM message_nodes
    WHERE session_id = ?1 AND node_id = ?2
    UNION ALL
    SELECT m.node_id, m.parent_node_id, m.chat_message, m.created_at, depth + 1 FROM message_nodes m
    JOIN chain ON m.node_id = chain.parent_node_id WHERE m.session_id = ?1 AND depth < 100000
) SELECT chat_message, created_at FROM chain WHERE length(chat_message) < {VALUE_LIMIT} ORDER BY depth DESC
"""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return DevinCli()


class DevinCli(Adapter):
    """The adapter for Devin CLI; implements `ports.host.Host`."""

    name = "devin-cli"
    folders = (".config/devin", ".local/share/devin")

    @property
    def profile(self) -> HostProfile:
        """What Devin CLI can do and where."""
        return HostProfile(
            title="Devin CLI",
            mcp="~/.config/devin/mcp_config.json",
            hooks="~/.config/devin/config.json",
            moments=("session_start", "prompt", "before_file", "before_command"),
            transcripts="~/.local/share/devin/cli/sessions.db",
            grows_by_lines=False,
            transcript_files=("devin*/sessions.db",),
            rules=(
                RulesTarget(
                    file=".devin/rules/holdfast-{slug}.md",
                    front_matter="---\ntrigger: glob\nglobs: {globs}\ndescription: {description}\n---\n",
                    always="---\ntrigger: always_on\ndescription: {description}\n---\n",
                    limit_chars=12_000,
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            reads=(".windsurf/rules/*.md",),
            marks=HostMarks(started="DEVIN_PROJECT_DIR", started_rank=4, client_names=("devin",)),
            sources=("docs.devin.ai, hooks and MCP, 2026-11-21", "not run"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of hooks and tools."""
        translated = dict(fields_of(payload))
        own, tool = text_of(translated.get("hook_event_name")), text_of(translated.get("tool_name"))
        translated["hook_event_name"] = EVENTS.get(own, own)
        translated["tool_name"] = TOOLS.get(tool, tool)
        translated["tool_input"] = with_usual_fields(fields_of(translated.get("tool_input")))
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's stdout."""
        return render_nested(call, briefing, TAKES_CONTEXT)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits of the user's two files."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".config", "devin")
        command_line = hook_command(command, self.name)
        edits = [hook_edit(os.path.join(root, "config.json"), command_line, hook) for hook in HOOKS]
        edits.append(server_edit(os.path.join(root, "mcp_config.json"), command, self.name))
        return InstallPlan(host=self.name, scope=scope, edits=tuple(edits), notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the existing databases of both channels."""
        roots = (os.path.join(home, ".local", "share"), state_folder(home), settings_folder(home))
        paths = (os.path.join(root, "devin", name, "sessions.db") for root in dict.fromkeys(roots) for name in CHANNELS)
        return [path for path in paths if os.path.exists(path)]

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield the events of sessions that are not hidden. Raises OSError or HostConfigError."""
        with open_foreign(path) as opened:
            hidden = "hidden" if "hidden" in opened.columns("sessions") else "0"
            sessions = list(
                opened.rows(f"SELECT id, working_directory, main_chain_id, {hidden} FROM sessions ORDER BY id")
            )
            for session, folder, end, is_hidden in sessions:
                if not is_hidden and end is not None:
                    telling = TranscriptReplay(self, str(session), new_id)
                    telling.stand(cwd=text_of(folder))
                    yield from _tell(telling, opened, session, end)


def _tell(telling: TranscriptReplay, opened: ForeignDatabase, session: object, end: object) -> Iterator[Event]:
    seen: set[str] = set()
    for value, at in opened.rows(CHAIN, session, end):
        message = parse_object(value)
        name = text_of(message.get("message_id"))
        if name and name in seen:
            continue
        seen.add(name)
        about = fields_of(message.get("metadata"))
        telling.stand(at=instant(about.get("created_at")) or instant(at), model=text_of(about.get("generation_model")))
        yield from _message(telling, message, about)


def _message(telling: TranscriptReplay, message: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[Event]:
    content = response_text(message.get("content"))
    if message.get("role") == "user" and about.get("is_user_input") is not False:
        yield from telling.prompt(content)
    elif message.get("role") == "assistant":
        yield from telling.reply(content)
        open_calls(telling, message.get("tool_calls"))
    elif message.get("role") == "tool":
        result = fields_of(fields_of(about.get("extensions")).get("chisel/tool_result_meta"))
        error = (content or "failed") if result.get("success") is False else ""
        response = {"stdout": content, "content": content, **UNANSWERED}
        yield from telling.close(text_of(message.get("tool_call_id")), response, error)
