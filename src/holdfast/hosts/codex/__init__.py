"""OpenAI Codex (CLI, IDE extension and app share one configuration): hooks, MCP server, rules.

Its hooks are in Claude Code's shape; edits are one `apply_patch` with the patch's text. Any key it does not know makes
it drop a hook's whole answer. It reads files through the shell, so there is no moment before a read.

Sources: codex-cli 0.169.0 run with a mock model, its app-server's types, developers.openai.com/codex/hooks; 2026-11-21.
"""

from __future__ import annotations

import os

from holdfast.hosts._shared.adapter import Adapter, check_scope
from holdfast.hosts._shared.hooks import render_nested
from holdfast.hosts._shared.toolcalls import PATCH_TOOL, exited, fields_of, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from holdfast.domain.briefing import Briefing
    from holdfast.domain.hookcall import HookCall
    from holdfast.ports.host import Host, HostProfile, InstallPlan

TAKES_CONTEXT = frozenset({"SessionStart", "SubagentStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"})

HOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("SessionStart", "startup|resume|clear|compact|fork", {"timeout": 10}),
    ("UserPromptSubmit", "", {"timeout": 5}),
    ("PreToolUse", "Bash|apply_patch", {"timeout": 5}),
    ("PostToolUse", "", {"timeout": 5}),
    ("PreCompact", "", {"timeout": 10}),
    ("Stop", "", {"timeout": 10}),
    ("SessionEnd", "", {"timeout": 3}),
)
"""Hook, matcher and handler's keys. A SessionEnd of more than 3 s makes Codex warn at every start."""


def make(options: Mapping[str, str]) -> Host:
    """The adapter. Option `config_dir`: what CODEX_HOME names instead of `~/.codex`."""
    return Codex(options.get("config_dir", ""))


class Codex(Adapter):
    """The adapter for Codex; implements `ports.host.Host`."""

    name = "codex"
    folders = (".codex",)
    keeps_transcripts = True

    @property
    def profile(self) -> HostProfile:
        """What Codex can do and where."""
        from holdfast.ports.host import Headless, HostProfile, RulesTarget

        return HostProfile(
            title="OpenAI Codex",
            headless=Headless(
                program="codex",
                arguments=(
                    "exec",
                    "--skip-git-repo-check",
                    "--sandbox",
                    "read-only",
                    "--ephemeral",
                    "--ignore-rules",
                    "--color",
                    "never",
                    "-c",
                    "mcp_servers={}",
                    "{model}",
                    "-o",
                    "{answer}",
                    "-",
                ),
            ),
            mcp="~/.codex/config.toml",
            hooks="~/.codex/hooks.json",
            moments=("session_start", "prompt", "before_file", "before_command", "after_failure", "after_compaction"),
            transcripts="~/.codex/sessions",
            transcript_files=("rollout-*.jsonl", "rollout-*.jsonl.zst"),
            transcript_marks=(
                ('"type":"session_meta"', '"payload":{'),
                ('{"id":"', '"timestamp":"', '"instructions":', '"git":'),
            ),
            rules=(RulesTarget(file="AGENTS.md", limit_chars=32 * 1024),),
            notes=("Codex skips a hook until it is trusted: type /hooks in Codex and approve Holdfast's.",),
            sources=("run: codex-cli 0.169.0, 2026-11-21", "developers.openai.com/codex/hooks, 2026-11-21"),
        )

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The payload with a patch as a patch, and a command that failed as a failure."""
        held = dict(fields_of(payload))
        if held.get("tool_name") == PATCH_TOOL:
            given = fields_of(held.get("tool_input"))
            held["tool_input"] = {"patch": text_of(given.get("command")) or text_of(given.get("input"))}
        error = _failure(text_of(held.get("tool_response")))
        if held.get("hook_event_name") == "PostToolUse" and error:
            held |= {"hook_event_name": "PostToolUseFailure", "error": error}
        return held

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """The hook's stdout: nothing but the one object that Codex's closed schema knows."""
        return render_nested(call, briefing, TAKES_CONTEXT)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """The edits for the user: `hooks.json` and a table of `config.toml`."""
        from holdfast.hosts._shared.programs import hook_command, hook_edit, server_edit
        from holdfast.ports.host import InstallPlan

        check_scope(self.name, scope)
        root = self.root(home)
        told = hook_command(command, self.name)
        edits = [hook_edit(os.path.join(root, "hooks.json"), told, hook) for hook in HOOKS]
        edits.append(
            server_edit(os.path.join(root, "config.toml"), command, self.name, ("mcp_servers",), startup_timeout_sec=30)
        )
        return InstallPlan(host=self.name, scope=scope, edits=tuple(edits), notes=self.profile.notes)


def _failure(response: str) -> str:
    """`Exit code N` and the output, of a response that tells of a code that is not 0; else empty."""
    head, _, rest = response.partition("\n")
    if not head.startswith("Exit code: "):
        return ""
    return exited(head.removeprefix("Exit code: "), rest.partition("Output:")[2].lstrip() or rest)
