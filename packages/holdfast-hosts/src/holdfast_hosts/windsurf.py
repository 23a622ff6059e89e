"""Windsurf, now Devin Desktop with Cascade: hooks that only listen, MCP server, path-scoped rules.

No hook's output reaches the model. Its own store is encrypted; only the hooks' payloads, and transcripts that it writes
if a hook asks for them, can be read. Sources: docs.windsurf.com and docs.devin.ai on Cascade hooks, MCP and rules;
2026-11-21. Not run here.

Turns Windsurf's transcripts into events: `~/.windsurf/transcripts/<trajectory>.jsonl`.

Windsurf writes them, the newest 100, if a hook `post_cascade_response_with_transcript` is set up. A step is `{status,
type, <type>: {...}}`. There are neither times nor the folder, so the first file's folder is used. Sources:
docs.windsurf.com on Cascade hooks, others' confirmed readings; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import find_files, instant, path_of_uri, read_lines, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, hook_command, server_edit
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, as_it_is, failure
from holdfast.ports.host import ConfigEdit, Host, HostProfile, InstallPlan, RulesTarget

EVENTS = {
    "pre_user_prompt": "UserPromptSubmit", "post_read_code": "PostToolUse", "post_write_code": "PostToolUse",
    "post_run_command": "PostToolUse", "post_cascade_response": "Stop",
}  # fmt: skip
TOOLS = {"post_read_code": "Read", "post_write_code": "MultiEdit", "post_run_command": "Bash"}

PATHS = ("path", "file_path", "absolute_path", "absolute_path_uri", "file_uri", "cwd")


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Windsurf()


class Windsurf(Adapter):
    """The adapter for Windsurf; implements `ports.host.Host`."""

    name = "windsurf"
    folders = (".codeium/windsurf", ".codeium/windsurf-next")
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

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the transcripts that Windsurf kept."""
        return find_files(os.path.join(home, ".windsurf", "transcripts"), (".jsonl",))

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a trajectory. Raises OSError."""
        telling = TranscriptReplay(self, os.path.basename(path).removesuffix(".jsonl"), new_id, as_it_is)
        folders = (os.path.dirname(file) for entry in read_lines(path) if (file := _path(_about(entry))))
        telling.stand(at=written_at(path), cwd=next(folders, ""))
        for entry in read_lines(path):
            telling.stand(at=instant(entry.get("timestamp")))
            yield from _step(telling, text_of(entry.get("type")), _about(entry), entry.get("status"))


def _about(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields_of(entry.get(text_of(entry.get("type"))))


def _path(about: Mapping[str, Any]) -> str:
    return path_of_uri(next((text_of(about[name]) for name in PATHS if text_of(about.get(name))), ""))


def _step(telling: TranscriptReplay, kind: str, about: Mapping[str, Any], status: object) -> Iterator[Event]:
    if kind == "user_input":
        yield from telling.prompt(text_of(about.get("user_response")))
    elif kind == "planner_response":
        yield from telling.reply(text_of(about.get("response")))
    elif kind == "code_action":
        arguments = {"file_path": _path(about), "content": text_of(about.get("new_content"))}
        response = {"originalFile": text_of(about.get("old_content"))}
        yield from telling.call("Write", arguments, response) if arguments["file_path"] else ()
    elif kind == "view_file":
        yield from telling.call("Read", {"file_path": _path(about)}, {})
    elif kind == "run_command":
        yield from _command(telling, about, status)


def _command(telling: TranscriptReplay, about: Mapping[str, Any], status: object) -> Iterator[Event]:
    command = text_of(about.get("command_line")) or text_of(about.get("command"))
    output = text_of(about.get("output")) or text_of(about.get("combined_output"))
    code = about.get("exit_code")
    response = {"stdout": output, **({} if isinstance(code, int) else UNANSWERED)}
    error = failure(code, output) or (output or "failed" if status == "error" else "")
    if command:
        yield from telling.call("Bash", {"command": command}, response, "", error)
