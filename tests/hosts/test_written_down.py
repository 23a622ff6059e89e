"""What an agent puts into its host's memory, and what a compaction sums up: its own words, and no person's."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from holdfast.domain.event import Event
from holdfast.hosts.claude_code import ClaudeCode
from holdfast.hosts.sdk.payloads import EventSource
from holdfast.hosts.sdk.toolcalls import call_finished, is_memory_file, summed_up
from holdfast.lean.texts import uuid7

FACT = "Integration tests need -tags=integration."
HOME = "/home/ada/.claude/projects/-home-ada-shop/memory"


def source() -> EventSource:
    return EventSource("claude-code", "s1", datetime(2026, 3, 1, tzinfo=UTC), lambda: uuid7(1, bytes(10)))


def told(tool: str, arguments: dict[str, Any], response: object = "saved") -> list[tuple[str, str, str]]:
    return [(event.kind, event.tool, event.text) for event in call_finished(source(), tool, arguments, response, "u1")]


@pytest.mark.parametrize(
    ("tool", "arguments", "text"),
    [
        ("save_memory", {"fact": FACT}, f"save_memory\n{FACT}"),
        ("update_memory", {"title": "Tests", "knowledge_to_store": FACT, "action": "create"},
         f"update_memory\n# Tests\n{FACT}"),
        ("create_memory", {"Title": "Tests", "Content": FACT, "Action": "create", "CorpusNames": ["a"]},
         f"create_memory\n# Tests\n{FACT}"),
        ("mcp__serena__write_memory", {"memory_name": "tests", "content": FACT}, f"write_memory\n{FACT}"),
    ],
)  # fmt: skip
def test_a_memory_tool_tells_the_words_that_it_keeps(tool: str, arguments: dict[str, Any], text: str) -> None:
    assert told(tool, arguments) == [("tool_result", "memory", text)]


def test_a_memory_that_is_deleted_tells_nothing() -> None:
    assert told("update_memory", {"action": "delete", "existing_knowledge_id": "1", "knowledge_to_store": FACT}) == []


def test_a_written_memory_file_tells_its_new_lines_and_no_edit_of_the_project() -> None:
    file = f"{HOME}/tests.md"
    assert told("Write", {"file_path": file, "content": FACT}) == [("tool_result", "memory", f"tests.md\n{FACT}")]
    change = {"file_path": file, "old_string": "- a\n- b", "new_string": "- a\n- b\n- c"}
    assert told("Edit", change) == [("tool_result", "memory", "tests.md\n- c")]


@pytest.mark.parametrize(
    ("path", "is_memory"),
    [
        (f"{HOME}/MEMORY.md", True),
        ("C:\\Users\\ada\\.claude\\projects\\c--shop\\memory\\a.md", True),
        ("/home/ada/.codex/memories/MEMORY.md", True),
        ("/home/ada/.gemini/GEMINI.md", True),
        ("/home/ada/.codeium/windsurf/memories/global_rules.md", True),
        ("/home/ada/shop/src/memory/pool.md", False),
        ("/home/ada/shop/CLAUDE.md", False),
        (f"{HOME}/notes.json", False),
    ],
)
def test_files_in_a_hosts_memory_are_known_by_their_folder(path: str, is_memory: bool) -> None:
    assert is_memory_file(path) is is_memory


def test_a_summary_is_reported_without_the_notes_it_was_made_from() -> None:
    text = "It is continued.\n\nAnalysis:\nLet me see.\n\nSummary:\n1. Errors and fixes:\n   - none"
    assert [event.text for event in summed_up(source(), text)] == ["1. Errors and fixes:\n   - none"]
    assert [event.text for event in summed_up(source(), "Summary of it")] == ["Summary of it"]
    assert summed_up(source(), "  ") == []


def test_a_summary_in_a_transcript_is_nobodys_prompt() -> None:
    line = {
        "type": "user", "isCompactSummary": True, "isVisibleInTranscriptOnly": True, "sessionId": "s1", "cwd": "/shop",
        "timestamp": "2026-03-01T10:00:00Z", "message": {"role": "user", "content": "The user said: never push."},
    }  # fmt: skip
    events = list(ClaudeCode().parse_transcript([json.dumps(line)], "s1", lambda: uuid7(1, bytes(10))))
    assert [(event.kind, event.trust) for event in events] == [("session_start", "agent"), ("compaction", "agent")]
    side: list[Event] = list(
        ClaudeCode().parse_transcript([json.dumps({**line, "isSidechain": True})], "s1", lambda: uuid7(1, bytes(10)))
    )
    assert side == []
