"""Continue (VS Code, JetBrains, `cn`): our MCP server in the user's `config.yaml`, path-scoped rules; no active hooks.

`cn` reads only `config.yaml`; the extensions also read block files under `mcpServers/`, which are used if there is no
`config.yaml` yet. `cn` has code for Claude Code's hooks that nothing calls (1.5.47), so none are registered.
Its sessions are `~/.continue/sessions/<id>.json`.

Sources: `cn` 1.5.47 run with a mock model, docs.continue.dev on MCP and rules; 2026-11-22.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import find_files, path_of_uri, read_json, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import OUR_MARKS, SERVER_NAME, server_words
from holdfast.hosts.sdk.replay import TranscriptReplay, open_calls
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields
from holdfast.ports.host import ConfigEdit, Host, HostMarks, HostProfile, InstallPlan, OwnFile, RulesTarget

TOOLS = {
    "builtin_run_terminal_command": "Bash", "run_terminal_command": "Bash", "Bash": "Bash", "Read": "Read",
    "builtin_read_file": "Read", "read_file": "Read", "builtin_edit_existing_file": "Edit",
    "edit_existing_file": "Edit", "single_find_and_replace": "Edit", "multi_edit": "MultiEdit",
    "builtin_create_new_file": "Write", "create_new_file": "Write", "builtin_grep_search": "Grep",
    "grep_search": "Grep", "file_glob_search": "Glob",
}  # fmt: skip


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter. Option `config_dir`: the value of CONTINUE_GLOBAL_DIR, instead of `~/.continue`."""
    return Continue(options.get("config_dir", ""))


class Continue(Adapter):
    """The adapter for Continue; implements `ports.host.Host`."""

    name = "continue-dev"
    folders = (".continue",)

    @property
    def profile(self) -> HostProfile:
        """What Continue can do and where."""
        return HostProfile(
            title="Continue",
            mcp="~/.continue/config.yaml",
            transcripts="~/.continue/sessions",
            grows_by_lines=False,
            transcript_files=(".continue/sessions/*.json",),
            transcript_marks=(('{"sessionId":"', '"workspaceDirectory":', '"history":['),),
            rules=(
                RulesTarget(
                    file=".continue/rules/holdfast-{slug}.md",
                    front_matter="---\nname: {description}\nglobs: {globs}\nalwaysApply: false\n---\n",
                    always="---\nname: {description}\nalwaysApply: true\n---\n",
                    globs="list",
                ),
                RulesTarget(file="AGENTS.md"),
            ),
            notes=(
                "Continue has no hooks: lessons come through MCP tools (agent mode only) and `holdfast rules sync`; "
                "`holdfast backfill` learns from its sessions.",
            ),
            marks=HostMarks(folder="CONTINUE_GLOBAL_DIR", client_names=("continue-client",)),
            sources=("docs.continue.dev, MCP and rules, 2026-11-21",),
        )

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the server in the user's `config.yaml`, or else in a block file of our own (JSON is YAML too)."""
        check_scope(self.name, scope)
        program, *arguments = server_words(command, self.name)
        server = {"name": SERVER_NAME, "type": "stdio", "command": program, "args": arguments}
        root = self.root(home)
        config = os.path.join(root, "config.yaml")
        edit: ConfigEdit | OwnFile
        if os.path.exists(config):
            edit = ConfigEdit(file=config, path=("mcpServers",), value=server, **OUR_MARKS)
        else:
            block = {"name": SERVER_NAME, "version": "0.0.1", "schema": "v1", "mcpServers": [server]}
            file = os.path.join(root, "mcpServers", "holdfast.yaml")
            edit = OwnFile(file=file, text=json.dumps(block, indent=2) + "\n", **OUR_MARKS)
        return InstallPlan(host=self.name, scope=scope, edits=(edit,), notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return sessions, without the file that lists them."""
        files = find_files(os.path.join(home, ".continue", "sessions"), (".json",))
        return [path for path in files if os.path.basename(path) != "sessions.json"]

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield the events of a session, at the time when its file was written. Raises OSError or HostConfigError."""
        fields = fields_of(read_json(path))
        session = text_of(fields.get("sessionId")) or os.path.basename(path).removesuffix(".json")
        telling = TranscriptReplay(self, session, new_id, _as_claude)
        telling.stand(at=written_at(path), cwd=path_of_uri(text_of(fields.get("workspaceDirectory"))))
        history = fields.get("history")
        for step in map(fields_of, history if isinstance(history, list) else ()):
            yield from _step(telling, step)


def _as_claude(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    arguments = with_usual_fields(fields_of(payload["tool_input"]))
    for name, own in (("file_path", "filepath"), ("new_string", "changes"), ("content", "contents")):
        arguments.setdefault(name, arguments.get(own))
    return {**payload, "tool_name": TOOLS.get(payload["tool_name"], payload["tool_name"]), "tool_input": arguments}


def _step(telling: TranscriptReplay, step: Mapping[str, Any]) -> Iterator[Event]:
    message = fields_of(step.get("message"))
    content = response_text(message.get("content"))
    if message.get("role") == "user":
        yield from telling.prompt(content)
    elif message.get("role") == "assistant":
        yield from telling.reply(content)
        open_calls(telling, message.get("toolCalls"))
        states = step.get("toolCallStates")
        for state in map(fields_of, states if isinstance(states, list) else ()):
            yield from _answered(telling, state)
    elif message.get("role") == "tool":
        yield from telling.close(text_of(message.get("toolCallId")), {"stdout": content, "content": content})


def _answered(telling: TranscriptReplay, state: Mapping[str, Any]) -> Iterator[Event]:
    use = text_of(state.get("toolCallId"))
    items = state.get("output")
    parts = (text_of(fields_of(item).get("content")) for item in items) if isinstance(items, list) else ()
    output = "\n".join(filter(None, parts))
    if state.get("status") in ("errored", "error"):
        yield from telling.close(use, "", output or "failed")
    elif state.get("status") == "done":
        yield from telling.close(use, {"stdout": output, "content": output})
