"""Amp: a plug-in file of ours in TypeScript, MCP server, rules.

The plug-in answers at a turn's start, and adds to a tool's result. Amp reports neither compactions nor a session's end,
and keeps its threads on its server.

Sources: the Amp CLI of November 2026 (`amp plugins show-docs`, `amp mcp add` run); 2026-11-21. The plug-in was run with
a stand-in for Amp's interface, not in Amp.

Turns Amp's threads into events.

Builds before April 2026 kept them as files in `~/.local/share/amp/threads`; `amp threads export` writes the same form.
Source: others' readers of both; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import find_files, instant, path_of_uri, read_json, written_at
from holdfast.hosts.sdk.hooks import plugin_file, render_context
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.programs import server_edit
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, blocks_of, failure, tell_message
from holdfast.hosts.sdk.toolcalls import response_text, with_usual_fields
from holdfast.ports.host import Host, HostProfile, InstallPlan, RulesTarget

TOOLS = {"edit_file": "Edit", "create_file": "Write", "shell_command": "Bash"}
FAILED = ("error", "failed")


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Amp()


class Amp(Adapter):
    """The adapter for Amp; implements `ports.host.Host`."""

    name = "amp"
    folders = (".config/amp", ".local/share/amp")
    tells_end = False
    late = True

    @property
    def profile(self) -> HostProfile:
        """What Amp can do and where."""
        return HostProfile(
            title="Amp",
            mcp="~/.config/amp/settings.json",
            hooks="~/.config/amp/plugins/holdfast.ts",
            transcripts="~/.local/share/amp/threads (builds before April 2026)",
            grows_by_lines=False,
            transcript_files=("amp/threads/*.json",),
            transcript_marks=(('"id":"T-', '"messages":[', '"env":{"initial":{'),),
            moments=("session_start", "prompt", "before_file", "after_failure"),
            rules=(RulesTarget(file="AGENTS.md"),),
            reads=("CLAUDE.md",),
            notes=("A file's lessons come when it has been read. Amp keeps its threads on its server.",),
            sources=("Amp CLI, November 2026: amp plugins show-docs, amp mcp add, 2026-11-21",),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the payload with Claude Code's names of tools and arguments; a failed call becomes a failure."""
        translated = dict(fields_of(payload))
        tool = text_of(translated.get("tool_name"))
        translated["tool_name"] = TOOLS.get(tool, tool)
        arguments = with_usual_fields(fields_of(translated.get("tool_input")))
        translated["tool_input"] = arguments | ({"command": arguments["cmd"]} if "cmd" in arguments else {})
        if translated.get("status") in FAILED:
            translated |= {
                "hook_event_name": "PostToolUseFailure",
                "error": response_text(translated.get("tool_response")) or "failed",
            }
        return translated

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return what the plug-in reads."""
        return render_context(briefing)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the plug-in, a file of our own, and the server in the user's settings."""
        check_scope(self.name, scope)
        root = os.path.join(home, ".config", "amp")
        edits = (
            plugin_file(os.path.join(root, "plugins", "holdfast.ts"), self.name, __file__, command),
            server_edit(os.path.join(root, "settings.json"), command, self.name, ("amp.mcpServers",)),
        )
        return InstallPlan(host=self.name, scope=scope, edits=edits, notes=self.profile.notes)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the threads that are kept in files."""
        return find_files(os.path.join(home, ".local", "share", "amp", "threads"), (".json",))

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a thread. Raises OSError or HostConfigError."""
        thread = fields_of(read_json(path))
        telling = TranscriptReplay(
            self, text_of(thread.get("id")) or os.path.basename(path).removesuffix(".json"), new_id
        )
        trees = fields_of(fields_of(thread.get("env")).get("initial")).get("trees")
        tree = fields_of(trees[0]) if isinstance(trees, list) and trees else {}
        branch = text_of(fields_of(tree.get("repository")).get("ref")).removeprefix("refs/heads/")
        telling.stand(at=instant(thread.get("created")) or written_at(path), branch=branch)
        telling.stand(cwd=path_of_uri(text_of(tree.get("uri"))))
        messages = thread.get("messages")
        for message in map(fields_of, messages if isinstance(messages, list) else ()):
            yield from _message(telling, message)


def _message(telling: TranscriptReplay, message: Mapping[str, Any]) -> Iterator[Event]:
    at = fields_of(message.get("meta")).get("sentAt") or fields_of(message.get("usage")).get("timestamp")
    telling.stand(at=instant(at))
    blocks = blocks_of(message.get("content"))
    for block in blocks:
        if block.get("type") == "tool_result":
            yield from _answered(telling, block)
    rest = [block for block in blocks if block.get("type") != "tool_result"]
    yield from tell_message(telling, message.get("role"), rest)


def _answered(telling: TranscriptReplay, block: Mapping[str, Any]) -> Iterator[Event]:
    use = text_of(block.get("toolUseID")) or text_of(block.get("tool_use_id"))
    run = fields_of(block.get("run"))
    result = run.get("result", block.get("content"))
    fields = fields_of(result)
    output = text_of(fields.get("output")) or response_text(result)
    code = fields.get("exitCode")
    error = failure(code, output)
    if run.get("status") == "error":
        error = response_text(run.get("error")) or output or "failed"
    response = {"stdout": output, "content": output, **({} if isinstance(code, int) else UNANSWERED)}
    if run.get("status", "done") in ("done", "error"):
        yield from telling.close(use, response, error)
