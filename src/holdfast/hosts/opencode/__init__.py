"""opencode: a plug-in file of ours in JavaScript, MCP server, rules.

The plug-in sends events in Claude Code's shape and reads `{"context": ...}`. Nothing can be delivered before a tool
runs, so a file's lessons come with the result of reading it. No event ends a session; an idle session ends a turn.

Sources: opencode 1.18.34 run with a mock model, the types of its plug-in package 1.18.33; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.payloads import PATCH_TOOL, fields_of, text_of
from holdfast.hosts.sdk.plugin import render_context
from holdfast.hosts.sdk.toolcalls import UNKNOWN_EXIT, exited
from holdfast.ports.host import ConfigEdit, Headless, Host, HostProfile, InstallPlan, RulesTarget

TOOLS = {
    "bash": "Bash", "read": "Read", "edit": "Edit", "write": "Write", "grep": "Grep", "glob": "Glob", "list": "LS",
    "todowrite": "TodoWrite", "patch": PATCH_TOOL,
}  # fmt: skip
FIELDS = (("file_path", "filePath"), ("old_string", "oldString"), ("new_string", "newString"), ("patch", "patchText"))


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Opencode()


class Opencode(Adapter):
    """The adapter for opencode; implements `ports.host.Host`."""

    name = "opencode"
    folders = (".config/opencode", ".local/share/opencode", ".opencode")
    keeps_transcripts = True
    tells_end = False
    late = True

    @property
    def profile(self) -> HostProfile:
        """What opencode can do and where."""
        return HostProfile(
            title="opencode",
            headless=Headless(program="opencode", arguments=("run", "--pure", "{prompt}")),
            mcp="~/.config/opencode/opencode.json",
            hooks="~/.config/opencode/plugins/holdfast.js",
            moments=("session_start", "prompt", "before_file", "after_failure", "after_compaction"),
            transcripts="~/.local/share/opencode/opencode.db",
            grows_by_lines=False,
            transcript_files=("opencode.db", "storage/session/*/ses_*.json"),
            rules=(RulesTarget(file="AGENTS.md"),),
            reads=("CLAUDE.md",),
            notes=(
                "A file's lessons come when it has been read. Restart opencode: it loads plug-ins when it starts.",
                "With a plug-in, opencode installs npm packages beside its configuration at its next start. That start "
                "takes longer and needs the network; uninstall leaves those files, since they are opencode's.",
            ),
            sources=("the types of its plug-in package 1.18.33",),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of tools and arguments; a failed command becomes a failure."""
        translated = dict(fields_of(payload))
        tool = text_of(translated.get("tool_name"))
        translated["tool_name"] = TOOLS.get(tool, tool)
        arguments = dict(fields_of(translated.get("tool_input")))
        translated["tool_input"] = arguments | {name: arguments[own] for name, own in FIELDS if own in arguments}
        translated["prompt"] = without_quotes(text_of(translated.get("prompt")))
        answer = fields_of(translated.get("tool_response"))
        code = answer.get("exit")
        if tool == "bash" and code is None:
            translated["tool_response"] = {**answer, **UNKNOWN_EXIT}
        if tool == "bash" and isinstance(code, int) and code > 0:
            translated |= {
                "hook_event_name": "PostToolUseFailure",
                "error": exited(str(code), text_of(answer.get("stdout"))),
            }
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return what the plug-in reads."""
        return render_context(briefing)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the plug-in, a file of our own, and the server in the user's configuration."""
        from holdfast.hosts.sdk.folders import first_there
        from holdfast.hosts.sdk.plugin import plugin_file
        from holdfast.hosts.sdk.programs import OUR_MARKS, SERVER_NAME, server_words

        check_scope(self.name, scope)
        root = os.path.join(home, ".config", "opencode")
        config = first_there(tuple(os.path.join(root, name) for name in ("opencode.json", "opencode.jsonc")))
        server = {"type": "local", "command": server_words(command, self.name), "enabled": True, "timeout": 30_000}
        edits = (
            plugin_file(os.path.join(root, "plugins", "holdfast.js"), self.name, __file__, command),
            ConfigEdit(file=config, path=("mcp",), key=SERVER_NAME, value=server, **OUR_MARKS, comments=True),
        )
        return InstallPlan(host=self.name, scope=scope, edits=edits, notes=self.profile.notes)


def without_quotes(prompt: str) -> str:
    """Return the user's words without the quotation marks that `opencode run` puts around an argument with blanks."""
    inside = prompt.strip()[1:-1]
    is_quoted = prompt.strip() == f'"{inside}"' and '"' not in inside.replace('\\"', "")
    return inside.replace('\\"', '"') if is_quoted and inside else prompt
