"""Cline, command line and VS Code extension: a plug-in folder of ours, MCP server, path-scoped rules.

Only the plug-in reaches the model: a rule at a session's start, context on a prompt and around a tool. Its server entry
needs a time limit; otherwise Cline waits 3 s for a server and then switches to another framing. A running Cline keeps
the old plug-in until its hub is restarted.

Sources: Cline CLI 3.0.65 run, the types of @cline/shared 0.0.86; 2026-11-21.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast._version import __version__
from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.cline.transcripts import find, outcome, read
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.hooks import plugin_file, render_context
from holdfast.hosts.sdk.payloads import PATCH_TOOL, fields_of, persons_words, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, SERVER_NAME, server_words
from holdfast.hosts.sdk.toolcalls import with_usual_fields
from holdfast.ports.host import ConfigEdit, Host, HostProfile, InstallPlan, OwnFile, RulesTarget

TOOLS = {
    "execute_command": "Bash", "run_commands": "Bash", "bash": "Bash", "read_file": "Read", "read_files": "Read",
    "write_to_file": "Write", "write_file": "Write", "replace_in_file": "Edit", "edit_file": "Edit", "editor": "Edit",
    "search_files": "Grep", "search_codebase": "Grep", "list_files": "LS", "apply_patch": PATCH_TOOL,
}  # fmt: skip
SEARCH, MIDDLE, REPLACE = "------- SEARCH\n", "\n=======\n", "\n+++++++ REPLACE"


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Cline()


class Cline(Adapter):
    """The adapter for Cline; implements `ports.host.Host`."""

    name = "cline"
    folders = (".cline",)
    tells_end = False

    @property
    def profile(self) -> HostProfile:
        """What Cline can do and where."""
        return HostProfile(
            title="Cline",
            mcp="~/.cline/data/settings/cline_mcp_settings.json",
            hooks="~/.cline/plugins/holdfast/index.js",
            moments=("session_start", "prompt", "before_file", "before_command", "after_failure"),
            transcripts="~/.cline/data/sessions",
            grows_by_lines=False,
            transcript_files=(
                "data/sessions/*.messages.json",
                "claude-dev/tasks/*/api_conversation_history.json",
                "tasks/*/ui_messages.json",
            ),
            transcript_marks=(
                ('[{"ts":', '"type":"say"', '"text":"'),
                ('{"version":', '"messages":[{', '"text":"<user_inputmode='),
                ('[{"role":"user","content":[', '"text":"<task>', "#CurrentWorkingDirectory("),
            ),
            rules=(
                RulesTarget(
                    file=".clinerules/holdfast-{slug}.md", front_matter="---\npaths: {globs}\n---\n", globs="list"
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            notes=("Restart Cline: its background hub keeps plug-ins it has loaded.",),
            sources=("@cline/shared 0.0.86",),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of tools and arguments; a failed call becomes a failure."""
        translated = dict(fields_of(payload))
        tool = text_of(translated.get("tool_name"))
        translated["tool_name"] = TOOLS.get(tool, tool)
        translated["tool_input"] = _arguments(with_usual_fields(fields_of(translated.get("tool_input"))))
        # Cline puts the user's words into its own tag; the author of text in any other tag is unknown.
        translated["prompt"] = persons_words(text_of(translated.get("prompt")))
        if translated.get("hook_event_name") == "PostToolUse":
            text, failed = outcome(translated.get("tool_response"))
            if failed:
                translated |= {"hook_event_name": "PostToolUseFailure", "error": text or "failed"}
            else:
                translated["tool_response"] = {"stdout": text, "content": text}
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return what the plug-in reads."""
        return render_context(briefing)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the plug-in's two files, and the server in the user's settings."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".cline")
        plugin = os.path.join(root, "plugins", "holdfast")
        manifest = {
            "name": "holdfast-cline",
            "version": __version__,
            "type": "module",
            "cline": {"plugins": ["index.js"]},
        }
        program, *arguments = server_words(command, self.name)
        server = {"transport": {"type": "stdio", "command": program, "args": arguments}, "timeout": 30}
        servers = os.path.join(root, "data", "settings", "cline_mcp_settings.json")
        edits = (
            OwnFile(file=os.path.join(plugin, "package.json"), text=json.dumps(manifest, indent=2) + "\n",
                    ours='"holdfast-cline"'),
            plugin_file(os.path.join(plugin, "index.js"), self.name, __file__, command),
            ConfigEdit(file=servers, path=("mcpServers",), key=SERVER_NAME, value=server, **OUR_MARKS),
        )  # fmt: skip
        return InstallPlan(host=self.name, scope=scope, edits=edits, notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return sessions and tasks."""
        return find(home)

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Return the events of a session or a task. Raises OSError, or HostConfigError for a huge file."""
        return read(self, path, new_id)


def _arguments(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with the texts of a `diff` as old and new string, and several commands as one text."""
    if isinstance(arguments.get("commands"), list):
        arguments["command"] = " && ".join(map(text_of, arguments["commands"]))
    if isinstance(arguments.get("files"), list) and arguments["files"]:
        first = arguments["files"][0]
        arguments["file_path"] = text_of(first) or text_of(fields_of(first).get("path"))
    queries = arguments.get("queries")
    searched = arguments.get("regex") or (queries[0] if isinstance(queries, list) and queries else queries)
    if searched:
        arguments["pattern"] = searched
    for name, own in (("old_string", "old_text"), ("new_string", "new_text")):
        arguments.setdefault(name, arguments.get(own))
    diff = text_of(arguments.get("diff"))
    if SEARCH in diff:
        arguments["old_string"] = diff.partition(SEARCH)[2].partition(MIDDLE)[0]
        arguments["new_string"] = diff.partition(MIDDLE)[2].partition(REPLACE)[0]
    return arguments
