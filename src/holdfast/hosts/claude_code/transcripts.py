"""Turns Claude Code's transcripts on disk into events: leniently, one line at a time, in bounded memory.

Every line is a JSON object. A message of the agent may be spread over several lines with one `message.id`; its texts
are joined again, because the Stop hook reports them as one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from holdfast.domain.event import Event
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.hooks import MACHINE_PROMPTS, compaction_key, start_key
from holdfast.hosts.sdk.payloads import EventSource, clean, fields_of, said, shorten, text_of
from holdfast.hosts.sdk.toolcalls import REFUSAL, call_failed, call_finished, refusal, response_text, summed_up
from holdfast.lean.plain import parse_instant
from holdfast.lean.texts import loads
from holdfast.text.speech import is_spoken

TOLD_BY = frozenset({"user", "assistant", "attachment", "system"})
"""Types of lines that may hold an event; the others are the host's own book-keeping."""

SKIPPED = ("isMeta", "isSidechain", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""Marks of lines that neither a person nor the session's own agent said. A compaction's summary is read anyway."""

PENDING_LIMIT = 1_000
"""Calls without a result that are remembered; an older one was interrupted and never answered."""

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

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def find_transcripts(home: str, config_dir: str = "") -> list[str]:
    """Return transcripts under the configuration folder's `projects`, least recently written first.

    Files of sub-agents are left out: their work came back to the session as a result.
    """
    root = os.path.join(config_dir or os.path.join(home, ".claude"), "projects")
    paths = []
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name != "subagents")
        paths += [os.path.join(folder, name) for name in files if name.endswith(".jsonl")]
    return sorted(paths, key=lambda path: (_written_at(path), path))


def parse_transcript(host: str, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield the events of the lines, in order; lines that are not whole JSON objects are skipped."""
    reading = _ParserState(EventSource(host, session, EPOCH, new_id))
    for line in lines:
        entry = _object(line)
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
        with suppress(InvalidValueError):  # without a time the previous line's is the best guess
            self.source.at = parse_instant(text_of(entry.get("timestamp")))

    def _assistant(self, message: Mapping[str, Any]) -> None:
        self.reply_id = text_of(message.get("id"))
        self.source.stamp["model"] = text_of(message.get("model"))
        for block in _blocks(message):
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
        for block in _blocks(message):
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


def _object(line: str) -> Mapping[str, Any]:
    text = line.strip("\0 \t\r\n\ufeff")
    if not text.startswith("{"):
        return {}
    try:
        return fields_of(loads(text))
    except (InvalidValueError, RecursionError):
        return {}  # half-written: the host was stopped


def _blocks(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [fields_of(block) for block in content] if isinstance(content, list) else []


def _written_at(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0
