"""What a transcript tells of the hooks that its host fired: Claude Code's, in their order.

A prompt fires UserPromptSubmit unless the host wrote it itself; a call fires PreToolUse and, with its result,
PostToolUse or PostToolUseFailure; the last reply before the next prompt fires Stop; a compaction fires PreCompact
before it and SessionStart after it. Sub-agents' lines are left out: their hooks carry another agent's id, which lines
do not tell.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from benchmarks.replay.catalog import parse_instant

BEFORE_THE_SESSION = -1
BY_THE_HOST = ("<", "[Request interrupted")
"""How texts in the user's place begin that fire no prompt hook."""


@dataclass(frozen=True)
class Firing:
    """One hook: at which line of the transcript (from 0), when, and the payload's fields besides the usual ones."""

    line: int
    at: datetime | None
    name: str
    fields: dict[str, Any] = field(default_factory=dict)
    is_written: bool = False
    """The host has written that line already when it fires the hook."""
    branch: str = ""
    """The branch that the session is on; empty when its lines do not tell."""


def firings(lines: Iterable[str]) -> Iterator[Firing]:
    """The hooks of a session, from its start to its end; lines that are no objects are skipped."""
    reading = _Reading()
    rows = [_row(text) for text in lines]
    branch = next((row["gitBranch"] for row in rows if row and row.get("gitBranch")), "")
    yield Firing(BEFORE_THE_SESSION, None, "SessionStart", {"source": "startup"}, branch=branch)
    for number, row in enumerate(rows):
        if row is not None and not row.get("isSidechain"):
            reading.line, reading.at = number, _instant(row) or reading.at
            reading.branch = row.get("gitBranch") or reading.branch
            yield from reading.read(row)
    yield from reading.stop()
    yield Firing(reading.line, reading.at, "SessionEnd", {"reason": "other"}, True, reading.branch)


class _Reading:
    def __init__(self) -> None:
        self.line = BEFORE_THE_SESSION
        self.at: datetime | None = None
        self.branch = ""
        self._calls: dict[str, dict[str, Any]] = {}
        self._last_reply = ""

    def read(self, row: dict[str, Any]) -> Iterator[Firing]:
        kind, content = row.get("type"), (row.get("message") or {}).get("content")
        if kind == "system" and row.get("subtype") == "compact_boundary":
            yield self._firing("PreCompact", trigger=(row.get("compactMetadata") or {}).get("trigger", "auto"))
            yield self._firing("SessionStart", source="compact")
        elif kind == "user" and not row.get("isMeta") and not row.get("isCompactSummary"):
            yield from self._user(row, content)
        elif kind == "assistant" and isinstance(content, list):
            yield from self._assistant(content)

    def stop(self) -> Iterator[Firing]:
        """The end of the turn, if the agent replied since the last one."""
        if self._last_reply:
            yield self._firing("Stop", True, stop_hook_active=False, last_assistant_message=self._last_reply)
        self._last_reply = ""

    def _user(self, row: dict[str, Any], content: Any) -> Iterator[Firing]:
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        blocks = [block for block in blocks or [] if isinstance(block, dict)]
        texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
        prompt = "\n".join(text for text in texts if text and not text.startswith(BY_THE_HOST))
        if prompt:
            yield from self.stop()
            yield self._firing("UserPromptSubmit", prompt=prompt)
        for block in blocks:
            if block.get("type") == "tool_result" and block.get("tool_use_id") in self._calls:
                yield self._result(row, block)

    def _assistant(self, content: list[Any]) -> Iterator[Firing]:
        for block in content:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "text":
                self._last_reply = block.get("text", "")
            elif block.get("type") == "tool_use":
                call = {"tool_name": block["name"], "tool_input": block.get("input") or {}, "tool_use_id": block["id"]}
                self._calls[block["id"]] = call
                yield self._firing("PreToolUse", True, **call)

    def _result(self, row: dict[str, Any], block: dict[str, Any]) -> Firing:
        call, text = self._calls.pop(block["tool_use_id"]), _text(block.get("content"))
        if block.get("is_error"):
            return self._firing("PostToolUseFailure", error=text, is_interrupt=False, **call)
        response = row.get("toolUseResult")
        return self._firing(
            "PostToolUse", tool_response=response if isinstance(response, dict) else {"stdout": text}, **call
        )

    def _firing(self, name: str, is_written: bool = False, **fields: Any) -> Firing:
        return Firing(self.line, self.at, name, fields, is_written, self.branch)


def _row(text: str) -> dict[str, Any] | None:
    try:
        row = json.loads(text)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def _instant(row: dict[str, Any]) -> datetime | None:
    try:
        return parse_instant(row["timestamp"])
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(block.get("text", "") for block in blocks if isinstance(block, dict))
