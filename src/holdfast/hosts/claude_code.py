"""Claude Code: its hook payloads, its transcripts on disk, and where our hooks and MCP server are registered.

Scope `user` serves every project of the user: `settings.json` and `.claude.json` of the configuration folder. Scope
`project` serves one work tree of one person: `.claude/settings.local.json`, which is not shared, and the project's
private entry in `.claude.json`. Files that a team commits are never changed: our commands name a file on one machine by
its absolute path, because a version manager's shim costs every hook hundreds of milliseconds.

A transcript is read leniently, one line at a time, in bounded memory. Every line is a JSON object. A message of the
agent may be spread over several lines with one `message.id`; its texts are joined again, because the Stop hook reports
them as one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.hosts.sdk.adapter import Adapter, check_scope
from holdfast.hosts.sdk.files import find_files, instant, parse_line
from holdfast.hosts.sdk.hooks import (
    BEFORE_END,
    MACHINE_PROMPTS,
    TAKES_CONTEXT,
    compaction_key,
    render_nested,
    start_key,
)
from holdfast.hosts.sdk.payloads import EventSource, clean, fields_of, said, shorten, text_of
from holdfast.hosts.sdk.programs import hook_command, hook_edit, server_edit
from holdfast.hosts.sdk.replay import EPOCH, PENDING_LIMIT, blocks_of
from holdfast.hosts.sdk.toolcalls import REFUSAL, call_failed, call_finished, refusal, response_text, summed_up
from holdfast.ports.host import Headless, Host, HostMarks, HostPackage, HostProfile, InstallPlan, RulesTarget
from holdfast.text.speech import is_spoken

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

TOLD_BY = frozenset({"user", "assistant", "attachment", "system"})
"""Types of lines that may hold an event; the others are the host's own book-keeping."""
SKIPPED = ("isMeta", "isSidechain", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""Marks of lines that neither a person nor the session's own agent said. A compaction's summary is read anyway."""
REFUSED = "User rejected tool use"
"""The host's mark, beside the text of a result, of a call that the user refused. The result of a failed call has
`Error: ` and the tool's own text there, so no tool can write the mark."""
DENIED_BY_USER = "user-rejected"
"""Value of a line's `toolDenialKind`, which newer versions write beside the message: the user refused the call."""
OTHERS_TOOLS = ("mcp__", "Web")
"""Tools whose errors other people's servers write: `REFUSED` and the words of a refusal prove nothing there."""
HOSTS_OWN_ERRORS = frozenset({
    "Edit", "Write", "MultiEdit", "NotebookEdit", "Read", "Grep", "Glob", "LS", "TodoWrite", "ExitPlanMode",
    "EnterPlanMode", "AskUserQuestion",
})  # fmt: skip
"""Tools that run inside the host: their errors begin with the host's own words, so none repeats those of a refusal."""
EXIT_CODE_FIRST = (2, 0, 76)
"""Version from which, in recordings, every error of a command begins with its exit code or the host's own words. A
command's output comes after that, so an error that begins with the words of a refusal is a refusal."""


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
        """Return absolute paths of transcripts, least recently written first.

        Files of sub-agents are left out: their work came back to the session as a result.
        """
        return find_files(os.path.join(self.root(home), "projects"), (".jsonl",), ("subagents",))

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Return the events of a transcript's lines, with the same keys as the hooks use."""
        return _parse(self.name, lines, session, new_id)

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


def _parse(host: str, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield the events of the lines, in order; lines that are not whole JSON objects are skipped."""
    reading = _ParserState(EventSource(host, session, EPOCH, new_id))
    for line in lines:
        entry = parse_line(line)
        if text_of(entry.get("type")) in TOLD_BY:
            yield from reading.line(entry)
    yield from reading.flush_reply()


class _ParserState:
    """State between lines: open tool calls, the reply being joined, the session's stamp."""

    def __init__(self, source: EventSource) -> None:
        self.source = source
        self.open_calls: dict[str, tuple[str, Mapping[str, Any]]] = {}
        self.reply_id = ""
        self.reply_texts: list[str] = []
        self.started = False

    def line(self, entry: Mapping[str, Any]) -> Iterator[Event]:
        """Yield the events that this line completes."""
        message = fields_of(entry.get("message"))
        kind = entry["type"]
        if kind != "assistant" or text_of(message.get("id")) != self.reply_id:
            yield from self.flush_reply()
        summary = entry.get("isCompactSummary") is True and entry.get("isSidechain") is not True
        if not summary and any(entry.get(mark) is True for mark in SKIPPED):
            return
        self._stamp(entry)
        if not self.started and entry.get("cwd"):
            self.started = True
            yield self.source.event("session_start", start_key("startup", self.source.at), "startup")
        if summary:
            yield from summed_up(self.source, response_text(message.get("content")))
        elif kind == "assistant":
            self._assistant(message)
        elif kind == "user":
            yield from self._user(entry, message)
        elif kind == "attachment":
            yield from self._attachment(fields_of(entry.get("attachment")))
        elif entry.get("subtype") == "compact_boundary":
            yield self.source.event("compaction", compaction_key(self.source.at))

    def flush_reply(self) -> Iterator[Event]:
        """Yield the reply joined so far, if there is one."""
        if self.reply_texts:
            yield from said(self.source, "reply", "\n".join(self.reply_texts))
        self.reply_id, self.reply_texts = "", []

    def _stamp(self, entry: Mapping[str, Any]) -> None:
        stamp = self.source.stamp
        stamp["session"] = text_of(entry.get("sessionId")) or stamp["session"]
        stamp["cwd"] = text_of(entry.get("cwd")) or stamp.get("cwd", "")
        branch = text_of(entry.get("gitBranch"))
        stamp["branch"] = "" if branch == "HEAD" else branch
        # without a time the previous line's is the best guess
        self.source.at = instant(text_of(entry.get("timestamp"))) or self.source.at

    def _assistant(self, message: Mapping[str, Any]) -> None:
        self.reply_id = text_of(message.get("id"))
        self.source.stamp["model"] = text_of(message.get("model"))
        for block in blocks_of(message.get("content")):
            if block.get("type") == "text":
                self.reply_texts.append(text_of(block.get("text")))
            elif block.get("type") == "tool_use":
                self._open(text_of(block.get("id")), text_of(block.get("name")), fields_of(block.get("input")))

    def _open(self, use: str, tool: str, arguments: Mapping[str, Any]) -> None:
        if len(self.open_calls) >= PENDING_LIMIT:
            del self.open_calls[next(iter(self.open_calls))]
        self.open_calls[use] = (tool, arguments)

    def _user(self, entry: Mapping[str, Any], message: Mapping[str, Any]) -> Iterator[Event]:
        by_machine = text_of(entry.get("promptSource")) in MACHINE_PROMPTS
        for block in blocks_of(message.get("content")):
            if block.get("type") == "tool_result":
                yield from self._result(block, entry)
            elif block.get("type") == "text" and not by_machine:
                yield from self._prompt(text_of(block.get("text")))

    def _result(self, block: Mapping[str, Any], entry: Mapping[str, Any]) -> Iterator[Event]:
        use, result = text_of(block.get("tool_use_id")), entry.get("toolUseResult")
        tool, arguments = self.open_calls.pop(use, ("", {}))
        if not tool:
            return  # its call is not in these lines, so the subject of the result is unknown
        content = block.get("content")
        if block.get("is_error") is True and _is_refused(entry, tool, response_text(content)):
            yield from refusal(self.source, tool, arguments, response_text(content), use)
        elif block.get("is_error") is True:
            yield from call_failed(self.source, tool, arguments, response_text(content), use)[0]
        else:
            response = result if isinstance(result, dict) else content
            yield from call_finished(self.source, tool, arguments, response, use)

    def _attachment(self, attachment: Mapping[str, Any]) -> Iterator[Event]:
        """Yield only what the user typed while the agent worked; all else is injected text, ours included."""
        if attachment.get("type") == "queued_command" and attachment.get("commandMode", "prompt") == "prompt":
            yield from self._prompt(response_text(attachment.get("prompt")))

    def _prompt(self, text: str) -> Iterator[Event]:
        words = clean(text)
        if is_spoken(shorten(words)):
            yield from said(self.source, "prompt", words, trust="person")


def _is_refused(entry: Mapping[str, Any], tool: str, content: str) -> bool:
    """Return whether the user refused the call, as far as the line shows in places that no tool writes to.

    The host repeats an error beside the message with `Error: ` in front. Versions without a separate mark do the same
    for a refusal with words. Then the tool decides, by what its errors may begin with.
    """
    result = entry.get("toolUseResult")
    if entry.get("toolDenialKind") == DENIED_BY_USER:
        return True
    if result == REFUSED:
        return not tool.startswith(OTHERS_TOOLS)
    if result != f"Error: {content}" or not content.startswith(REFUSAL):
        return False
    return tool in HOSTS_OWN_ERRORS or (tool == "Bash" and _version(entry) >= EXIT_CODE_FIRST)


def _version(entry: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the version of the host that wrote the line; empty if unknown."""
    numbers = text_of(entry.get("version")).split("-")[0].split(".")
    return tuple(int(number) for number in numbers) if all(number.isdecimal() for number in numbers) else ()
