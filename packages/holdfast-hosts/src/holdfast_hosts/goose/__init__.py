"""Goose: an MCP extension in its YAML configuration, hooks that only listen, rules.

Hooks come as an Open Plugins folder. Their output never reaches the model, so lessons come through the MCP server and
the rules files. Tool hooks carry no output.

Sources: goose's documentation on hooks and extensions, measured reports of others on 1.46 to 1.49; 2026-11-21. Not run
here.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast._version import __version__
from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import settings_folder
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, SERVER_NAME, hook_command, server_words
from holdfast.hosts.sdk.toolcalls import with_usual_fields
from holdfast.ports.host import ConfigEdit, Host, HostProfile, InstallPlan, OwnFile, RulesTarget

HOOKS = (
    ("SessionStart", 10), ("UserPromptSubmit", 5), ("PostToolUse", 5), ("PostToolUseFailure", 5), ("Stop", 10),
    ("SessionEnd", 5),
)  # fmt: skip
"""Hook and seconds. Without a matcher a hook receives every tool; `*` would be invalid."""
SHELLS = frozenset({"developer__shell", "shell"})
EDITORS = frozenset({"developer__text_editor", "text_editor"})
COMMANDS = {"view": "Read", "write": "Write", "create": "Write", "str_replace": "Edit"}
"""Commands of the text editor, in Claude Code's tools."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Goose()


class Goose(Adapter):
    """The adapter for Goose; implements `ports.host.Host`."""

    name = "goose"
    keeps_transcripts = True

    @property
    def profile(self) -> HostProfile:
        """What Goose can do and where."""
        return HostProfile(
            title="Goose",
            mcp="~/.config/goose/config.yaml",
            hooks="~/.agents/plugins/holdfast/hooks/hooks.json",
            transcripts="~/.local/share/goose/sessions/sessions.db",
            grows_by_lines=False,
            transcript_files=("goose*sessions/sessions.db",),
            rules=(RulesTarget(file="AGENTS.md"),),
            notes=("Goose's hooks only listen: lessons come through the MCP tools and `holdfast rules sync`.",),
            sources=("goose's documentation, hooks and config files, 2026-11-21", "not run"),
        )

    def find(self, home: str) -> str:
        """Return its configuration folder, or an empty string."""
        folder = os.path.dirname(_config(home))
        return folder if os.path.isdir(folder) else ""

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of fields and tools."""
        translated = dict(fields_of(payload))
        translated["hook_event_name"] = translated.get("event")
        translated["cwd"] = translated.get("working_dir")
        translated["prompt"] = translated.get("message")
        translated["tool_use_id"] = translated.get("tool_call_id")
        arguments = with_usual_fields(fields_of(translated.get("tool_input")))
        tool = text_of(translated.get("tool_name"))
        if tool in EDITORS:
            tool = COMMANDS.get(text_of(arguments.pop("command", "")), tool)
        return translated | {"tool_input": arguments, "tool_name": "Bash" if tool in SHELLS else tool}

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return an empty object, which cannot be read as a decision."""
        return "{}"

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the extension in the user's file, and a plug-in folder of our own."""
        check_scope(self.name, scope)
        program, *arguments = server_words(command, self.name)
        extension = {
            "enabled": True, "type": "stdio", "name": SERVER_NAME, "description": "Memory of this project",
            "cmd": program, "args": arguments, "envs": {}, "env_keys": [], "timeout": 300,
        }  # fmt: skip
        root = os.path.join(home, ".agents", "plugins", "holdfast")
        edits = (
            ConfigEdit(file=_config(home), path=("extensions",), key=SERVER_NAME, value=extension, **OUR_MARKS),
            OwnFile(file=os.path.join(root, "plugin.json"), text=_manifest(), ours='"name": "holdfast"'),
            OwnFile(
                file=os.path.join(root, "hooks", "hooks.json"),
                text=_hooks(hook_command(command, self.name)),
                **OUR_MARKS,
            ),
        )
        return InstallPlan(host=self.name, scope=scope, edits=edits, notes=self.profile.notes)


def _config(home: str) -> str:
    if sys.platform == "win32":
        return os.path.join(settings_folder(home), "Block", "goose", "config", "config.yaml")
    return os.path.join(home, ".config", "goose", "config.yaml")


def _manifest() -> str:
    manifest = {"name": "holdfast", "version": __version__, "description": "Holdfast listens to sessions"}
    return json.dumps(manifest, indent=2) + "\n"


def _hooks(command: str) -> str:
    hooks = {name: [{"hooks": [{"type": "command", "command": command, "timeout": s}]}] for name, s in HOOKS}
    return json.dumps({"hooks": hooks}, indent=2) + "\n"
