"""Google Antigravity, IDE and `agy`: hooks before each call of the model, MCP server, rules.

A payload does not name its hook; its content shows which one it is. The first call of a turn stands for the prompt,
whose words are in the transcript; our answer is a step that lasts for that turn. Commands are split at blanks, even in
quotes, so no hooks are set up if our program's path has a blank.

Sources: several independent adapters verified on agy 1.2, the documentation's mirror; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.hooks import within_limit
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, launcher_words, server_edit
from holdfast.lean.texts import dumps, loads
from holdfast.ports.host import ConfigEdit, Edit, Host, HostMarks, HostProfile, InstallPlan, RulesTarget

TOOLS = {"run_command": "Bash", "view_file": "Read", "write_to_file": "Write", "replace_file_content": "Edit"}
FIELDS = (
    ("command", "CommandLine"), ("file_path", "AbsolutePath"), ("file_path", "TargetFile"), ("content", "CodeContent"),
    ("old_string", "TargetContent"), ("new_string", "ReplacementContent"),
)  # fmt: skip
TAIL = 65_536
"""Bytes of a transcript that are searched for the prompt."""


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Antigravity()


class Antigravity(Adapter):
    """The adapter for Antigravity; implements `ports.host.Host`."""

    name = "antigravity"
    folders = (".gemini/antigravity", ".gemini/antigravity-cli", ".gemini/config")
    keeps_transcripts = True
    tells_end = False

    @property
    def profile(self) -> HostProfile:
        """What Antigravity can do and where."""
        return HostProfile(
            title="Google Antigravity",
            mcp="~/.gemini/config/mcp_config.json",
            hooks="~/.gemini/config/hooks.json",
            moments=("prompt",),
            transcripts="~/.gemini/antigravity-cli/brain",
            grows_by_lines=False,
            transcript_files=(".system_generated/logs/transcript.jsonl",),
            transcript_marks=(('{"step_index":', '"source":"USER_EXPLICIT"'),),
            rules=(
                RulesTarget(
                    file=".agents/rules/holdfast-{slug}.md",
                    front_matter="---\ntrigger: glob\nglobs: {globs}\ndescription: {description}\n---\n",
                    always="---\ntrigger: always_on\ndescription: {description}\n---\n",
                    limit_chars=12_000,
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            marks=HostMarks(started="ANTIGRAVITY_CONVERSATION_ID", started_rank=5),
            sources=("adapters of others verified on agy 1.2, 2026-11-21", "not run"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload in Claude Code's shape; its content shows which hook it is."""
        fields = fields_of(payload)
        translated: dict[str, Any] = {
            "session_id": fields.get("conversationId"),
            "transcript_path": fields.get("transcriptPath"),
        }
        folders = fields.get("workspacePaths")
        translated["cwd"] = text_of(folders[0]) if isinstance(folders, list) and folders else ""
        if "invocationNum" in fields:
            first = fields["invocationNum"] == 0
            prompt = _last_prompt(text_of(fields.get("transcriptPath"))) if first else ""
            return translated | {"hook_event_name": "UserPromptSubmit" if first else "-", "prompt": prompt}
        if "toolCall" not in fields:
            return translated | {"hook_event_name": "Stop"}
        call = fields_of(fields["toolCall"])
        arguments = dict(fields_of(call.get("args")))
        arguments |= {name: arguments[own] for name, own in FIELDS if own in arguments}
        translated |= {"tool_name": TOOLS.get(text_of(call.get("name")), call.get("name")), "tool_input": arguments}
        error = text_of(fields.get("error"))
        return translated | {"hook_event_name": "PostToolUseFailure" if error else "PostToolUse", "error": error}

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return a step for this turn, or an empty object."""
        if not briefing.text or call.name != "UserPromptSubmit":
            return "{}"
        return dumps({"injectSteps": [{"ephemeralMessage": within_limit(briefing.text)}]})

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits of the user's files; the server also where an older build looks for it."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".gemini")
        places = ("config", *(name for name in ("antigravity", "antigravity-cli") if _has_servers(root, name)))
        edits: list[Edit] = [
            server_edit(os.path.join(root, name, "mcp_config.json"), command, self.name) for name in places
        ]
        hooks, notes = _hooks(os.path.join(root, "config", "hooks.json"), command, self.name)
        return InstallPlan(host=self.name, scope=scope, edits=(*edits, *hooks), notes=notes)


def _hooks(file: str, command: Sequence[str], host: str) -> tuple[list[Any], tuple[str, ...]]:
    words = launcher_words(command, host)
    if any(" " in word for word in words):
        return [], (
            "Antigravity splits commands at blanks, and the path of Holdfast's program has one: no hooks were set up.",
        )
    handler = {"type": "command", "command": " ".join(words), "timeout": 10}
    value = {
        "enabled": True,
        "PreInvocation": [handler],
        "PostToolUse": [{"matcher": "*", "hooks": [handler]}],
        "Stop": [handler],
    }
    return [ConfigEdit(file=file, path=(), key="holdfast", value=value, **OUR_MARKS)], ()


def _has_servers(root: str, name: str) -> bool:
    return os.path.exists(os.path.join(root, name, "mcp_config.json"))


def _last_prompt(path: str) -> str:
    """Return the user's last words in a transcript."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.path.getsize(path) - TAIL))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        try:
            entry = fields_of(loads(line)) if '"USER_INPUT"' in line else {}
        except InvalidValueError:
            continue
        if entry.get("type") == "USER_INPUT":
            content = text_of(entry.get("content"))
            return (content.partition("<USER_REQUEST>")[2].partition("</USER_REQUEST>")[0] or content).strip()
    return ""
