"""Windsurf, now Devin Desktop with Cascade: hooks that only listen, MCP server, path-scoped rules.

No hook's output reaches the model. Its own store is encrypted; only the hooks' payloads, and transcripts that it writes
if a hook asks for them, can be read. Sources: docs.windsurf.com and docs.devin.ai on Cascade hooks, MCP and rules;
2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, hook_command, server_edit
from holdfast.ports.host import ConfigEdit, Host, HostProfile, InstallPlan, RulesTarget

EVENTS = {
    "pre_user_prompt": "UserPromptSubmit", "post_read_code": "PostToolUse", "post_write_code": "PostToolUse",
    "post_run_command": "PostToolUse", "post_cascade_response": "Stop",
}  # fmt: skip
TOOLS = {"post_read_code": "Read", "post_write_code": "MultiEdit", "post_run_command": "Bash"}


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Windsurf()


class Windsurf(Adapter):
    """The adapter for Windsurf; implements `ports.host.Host`."""

    name = "windsurf"
    folders = (".codeium/windsurf", ".codeium/windsurf-next")
    keeps_transcripts = True
    tells_end = False

    @property
    def profile(self) -> HostProfile:
        """What Windsurf can do and where."""
        return HostProfile(
            title="Windsurf (Devin Desktop)",
            mcp="~/.codeium/windsurf/mcp_config.json",
            hooks="~/.codeium/windsurf/hooks.json",
            transcripts="~/.windsurf/transcripts",
            grows_by_lines=False,
            transcript_files=(".windsurf/transcripts/*.jsonl",),
            transcript_marks=(('"type":"user_input"', '"user_input":{'),),
            rules=(
                RulesTarget(
                    file=".windsurf/rules/holdfast-{slug}.md",
                    front_matter="---\ntrigger: glob\nglobs: {globs}\ndescription: {description}\n---\n",
                    always="---\ntrigger: always_on\ndescription: {description}\n---\n",
                    limit_chars=12_000,
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            reads=(".devin/rules/*.md",),
            notes=("Windsurf's hooks only listen: lessons come through the MCP tools and `holdfast rules sync`.",),
            sources=("docs.windsurf.com, Cascade hooks, MCP, rules, 2026-11-21", "not run"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload in Claude Code's shape; of a command only the run is known, not its outcome."""
        fields = fields_of(payload)
        action, about = text_of(fields.get("agent_action_name")), fields_of(fields.get("tool_info"))
        translated: dict[str, Any] = {
            "hook_event_name": EVENTS.get(action, "-"), "session_id": fields.get("trajectory_id"),
            "cwd": text_of(about.get("cwd")) or os.path.dirname(text_of(about.get("file_path"))),
            "prompt": about.get("user_prompt"), "last_assistant_message": about.get("response"),
            "tool_name": TOOLS.get(action, ""),
        }  # fmt: skip
        arguments = {
            "file_path": about.get("file_path"),
            "edits": about.get("edits"),
            "command": about.get("command_line"),
        }
        return translated | {"tool_input": arguments, "tool_response": {"interrupted": True}}

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return an empty object: output would only be shown to the user."""
        return "{}"

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits of the user's two files."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".codeium", "windsurf")
        entry = {"command": hook_command(command, self.name), "show_output": False}
        file = os.path.join(root, "hooks.json")
        edits = [ConfigEdit(file=file, path=("hooks", name), value=entry, **OUR_MARKS) for name in EVENTS]
        edits.append(server_edit(os.path.join(root, "mcp_config.json"), command, self.name))
        return InstallPlan(host=self.name, scope=scope, edits=tuple(edits), notes=self.profile.notes)
