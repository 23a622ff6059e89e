"""Claude Code: its hook payloads, its transcripts on disk, and where our hooks and MCP server are registered.

Scope `user` serves every project of the user: `settings.json` and `.claude.json` of the configuration folder. Scope
`project` serves one work tree of one person: `.claude/settings.local.json`, which is not shared, and the project's
private entry in `.claude.json`. Files that a team commits are never changed: our commands name a file on one machine by
its absolute path, because a version manager's shim costs every hook hundreds of milliseconds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.claude_code.transcripts import find_transcripts, parse_transcript
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.hooks import BEFORE_END, TAKES_CONTEXT, render_nested
from holdfast.hosts.sdk.programs import hook_command, hook_edit, server_edit
from holdfast.ports.host import Headless, Host, HostMarks, HostPackage, HostProfile, InstallPlan, RulesTarget

ASK = (
    "-p", "--output-format", "json", "--tools", "", "--setting-sources", "", "--strict-mcp-config",
    "--no-session-persistence", "--system-prompt", "You answer with one JSON object and nothing else.", "{model}",
)  # fmt: skip
"""Arguments with which Claude Code answers one prompt. Its own system prompt is four times as long as a digest, and
describes tools that are disabled here."""
HOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("SessionStart", "startup|resume|clear|compact|fork", {"timeout": 10}),
    ("UserPromptSubmit", "", {"timeout": 5}),
    ("PreToolUse", "Read|Edit|Write|MultiEdit|NotebookEdit|Bash|Grep|Glob", {"timeout": 5}),
    ("PostToolUse", "*", {"timeout": 30, "async": True}),
    ("PostToolUseFailure", "*", {"timeout": 5}),
    ("PreCompact", "", {"timeout": 10}),
    ("Stop", "", {"timeout": 10}),
    ("SubagentStart", "", {"timeout": 5}),
    ("SubagentStop", "", {"timeout": 10}),
    ("InstructionsLoaded", "", {"timeout": 10, "async": True}),
    ("SessionEnd", "", {}),
)
"""Hook, matcher and handler keys; timeouts are seconds.

`async` only if nothing is delivered and more events are sure to follow: a headless run ends at once after Stop and
kills what still runs in the background (seen with 2.1.329). SessionEnd states no timeout: one would extend the 1.5 s
that Claude Code waits when it is closed.
"""
PACKAGE_HOOKS = tuple(hook for hook in HOOKS if hook[0] != "InstructionsLoaded")
"""Other hosts run the plug-in too, and whether all of them skip a hook that only Claude Code knows was not seen."""
PROFILE = HostProfile(
    title="Claude Code",
    headless=Headless(
        program="claude",
        arguments=ASK,
        answer="result",
        cost="total_cost_usd",
        error="is_error",
        model="haiku",
        model_option="--model",
    ),
    mcp="~/.claude.json",
    hooks="~/.claude/settings.json",
    moments=(
        "session_start",
        "prompt",
        "before_file",
        "before_command",
        "after_failure",
        "after_compaction",
        "before_end",
    ),
    transcripts="~/.claude/projects",
    transcript_files=("*.jsonl",),
    transcript_marks=(
        ('"sessionId":"', '"parentUuid":'),
        ('"sessionId":"', '"type":"user"', '"message":{'),
        ('"sessionId":"', '"type":"assistant"', '"message":{'),
        ('"type":"summary"', '"leafUuid":'),
        ('"type":"file-history-snapshot"', '"messageId":'),
        ('"type":"queue-operation"', '"sessionId":'),
    ),
    rules=(
        RulesTarget(file="CLAUDE.md"),
        RulesTarget(file=".claude/rules/holdfast-{slug}.md", front_matter="---\npaths: {globs}\n---\n", globs="list"),
    ),
    reads=("AGENTS.md",),
    marks=HostMarks(
        started="CLAUDECODE",
        started_rank=6,
        session="CLAUDE_CODE_SESSION_ID",
        folder="CLAUDE_CONFIG_DIR",
        is_imitated=True,
    ),
    context_file="CLAUDE.md",
    instructions_tokens=270,  # it cuts instructions at 2,048 bytes since 2.1.84; what our own words leave of that
    package=HostPackage(
        layout="plugin",
        manifest=".claude-plugin/plugin.json",
        marketplace=".claude-plugin/marketplace.json",
        hooks=PACKAGE_HOOKS,
        hook_host="any",
    ),
    package_records=((".claude/plugins/installed_plugins.json", '"holdfast@'),),
    sources=(
        "Claude Code 2.1.329 and Agent SDK 0.3.329, hooks recorded, 2026-11-21",
        "Claude Code 2.1.331 run with a mock model: searches, Stop with context, rules files read, 2026-11-24",
        "the types of Agent SDK 0.3.329: Stop and SubagentStop take context since 2.1.163",
    ),
)


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter. Option `config_dir`: the folder that Claude Code uses instead of `~/.claude`."""
    return ClaudeCode(options.get("config_dir", ""))


class ClaudeCode(Adapter):
    """The adapter for Claude Code; implements `ports.host.Host`."""

    name = "claude-code"
    folders = (".claude", ".claude.json")
    takes_end = True

    @property
    def profile(self) -> HostProfile:
        """What Claude Code can do and where."""
        return PROFILE

    def render(self, call: HookCall, briefing: Briefing) -> str:
        """Return the hook's whole stdout."""
        return render_nested(call, briefing, TAKES_CONTEXT | BEFORE_END)

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return absolute paths of transcripts, least recently written first, without sub-agents' files."""
        return find_transcripts(home, self._config_dir)

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Return the events of a transcript's lines, with the same keys as the hooks use."""
        return parse_transcript(self.name, lines, session, new_id)

    def plan_install(self, scope: str, folder: str, home: str, command: Sequence[str]) -> InstallPlan:
        """Return the edits for scope `user` or `project`. Raises InvalidValueError for another scope."""
        return plan_install(self.name, scope, folder, home, command, self._config_dir)


def plan_install(
    host: str, scope: str, folder: str, home: str, command: Sequence[str], config_dir: str = ""
) -> InstallPlan:
    """Return the edits for a scope. `command`: the interpreter, the package's folder and the launcher, all absolute."""
    check_scope(host, scope, ("user", "project"))
    root = config_dir or os.path.join(home, ".claude")
    state = os.path.join(config_dir, ".claude.json") if config_dir else os.path.join(home, ".claude.json")
    settings = os.path.join(root, "settings.json")
    servers: tuple[str, ...] = ("mcpServers",)
    notes = ["Restart running Claude Code sessions: they read their hooks and servers when they start."]
    if scope == "project":
        settings = os.path.join(folder, ".claude", "settings.local.json")
        servers = ("projects", folder, "mcpServers")
    edits = [hook_edit(settings, hook_command(command, host), hook) for hook in HOOKS]
    edits.append(server_edit(state, command, host, servers, type="stdio"))
    return InstallPlan(host=host, scope=scope, edits=tuple(edits), notes=tuple(notes))
