from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosts.claude_code import make
from holdfast.wiring import load_host
from tests.hosts.golden import AT, ROOT, ids

HOST = load_host("claude-code")
SESSION = (ROOT / "claude_code" / "transcript_of_a_session" / "transcript.jsonl").read_text("utf-8").splitlines(True)


def hook_key(name: str, **fields: Any) -> str:
    payload = {"session_id": "s", "cwd": "/p", "hook_event_name": name, **fields}
    (event,) = HOST.parse_hook(payload, AT, ids()).events
    return event.key


def test_what_a_hook_saw_has_the_same_key_in_the_transcript() -> None:
    keys = {event.key for event in HOST.parse_transcript(SESSION, "", ids())}
    assert hook_key("SessionStart", source="startup") in keys
    assert hook_key("UserPromptSubmit", prompt="A dinner for three loses a cent. Please mend it.") in keys
    assert hook_key("PostToolUse", tool_name="Edit", tool_use_id="toolu_3", tool_input={}) in keys
    assert hook_key("PostToolUseFailure", tool_name="Bash", tool_use_id="toolu_2", tool_input={}, error="x") in keys
    assert hook_key("Stop", last_assistant_message="Mended: the totals are Decimal now.") in keys


@given(st.data())
def test_a_damaged_line_costs_at_most_what_it_contained(drawn: st.DataObject) -> None:
    lines = list(SESSION)
    at = drawn.draw(st.integers(0, len(lines) - 1))
    cut = drawn.draw(st.integers(0, len(lines[at])))
    lines[at] = lines[at][:cut] + drawn.draw(st.sampled_from(["", "\n", "\0\n", "{\n", "\ud800\n"]))
    whole = {event.key for event in HOST.parse_transcript(SESSION, "", ids())}
    left = {event.key for event in HOST.parse_transcript(lines, "", ids())}
    # A reply of which one part is lost has other words, and so another key.
    assert {key for key in left if not key.startswith("reply:")} <= whole
    assert len(whole) - len(left) <= 4


def test_deep_nesting_is_a_damaged_line() -> None:
    deep = '{"type":"user","message":' + "[" * 100_000 + "\n"
    assert [event.kind for event in HOST.parse_transcript([deep, *SESSION], "", ids())][:2] == [
        "session_start",
        "prompt",
    ]


def test_calls_that_are_never_answered_do_not_pile_up() -> None:
    def line(n: int) -> str:
        block = {"type": "tool_use", "id": f"u{n}", "name": "Bash", "input": {"command": "x"}}
        return json.dumps({"type": "assistant", "message": {"id": f"m{n}", "content": [block]}})

    answer = {"type": "tool_result", "tool_use_id": "u2999", "content": "ok"}
    lines = [*map(line, range(3000)), json.dumps({"type": "user", "message": {"content": [answer]}})]
    (event,) = HOST.parse_transcript(lines, "s", ids())
    assert event.key == "result:u2999"


def test_transcripts_are_found_oldest_first_without_those_of_sub_agents(tmp_path: Path) -> None:
    projects = tmp_path / ".claude" / "projects"
    for age, name in ((30, "-p/old.jsonl"), (10, "-q/new.jsonl"), (20, "-p/old/subagents/agent-1.jsonl")):
        (projects / name).parent.mkdir(parents=True, exist_ok=True)
        (projects / name).write_text("{}\n")
        os.utime(projects / name, (1_700_000_000 - age, 1_700_000_000 - age))
    (projects / "-p" / "notes.txt").write_text("no")
    paths = [os.path.relpath(path, projects) for path in HOST.find_transcripts(str(tmp_path))]
    assert paths == ["-p/old.jsonl", "-q/new.jsonl"]
    elsewhere = make({"config_dir": str(tmp_path / ".claude")})
    assert list(elsewhere.find_transcripts("/nowhere")) == list(HOST.find_transcripts(str(tmp_path)))
    assert list(HOST.find_transcripts(str(tmp_path / "nobody"))) == []


def refused_call(tool: str, **line: Any) -> list[str]:
    """The lines of a call and its error, which has the words of a refusal."""
    content = (
        "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
        "the new_string was NOT written to the file). To tell you how to proceed, the user said:\nkeep it in one file"
    )
    use = {"type": "tool_use", "id": "u1", "name": tool, "input": {"command": "make gen"}}
    result = {"type": "tool_result", "tool_use_id": "u1", "content": content, "is_error": True}
    lines = [
        {"type": "assistant", "message": {"id": "m1", "content": [use]}},
        {"type": "user", "message": {"content": [result]}, "toolUseResult": f"Error: {content}", **line},
    ]
    return [json.dumps(line) for line in lines]


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("Edit", {"version": "2.1.12"}),
        ("ExitPlanMode", {"version": "2.1.12"}),
        ("Bash", {"version": "2.0.76"}),
        ("Bash", {"version": "2.1.217-beta.1"}),
        ("Bash", {"toolUseResult": "User rejected tool use"}),
        ("mcp__files__write", {"toolDenialKind": "user-rejected"}),
    ],
)
def test_words_typed_into_a_refused_call_are_the_users(tool: str, line: dict[str, Any]) -> None:
    prompts = [event for event in HOST.parse_transcript(refused_call(tool, **line), "s", ids()) if event.text]
    assert [(event.kind, event.trust) for event in prompts] == [("tool_failure", "tool"), ("prompt", "person")]
    assert prompts[1].text == "keep it in one file"


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        ("Bash", {"version": "1.0.44"}),
        ("Bash", {}),
        ("Bash", {"version": "latest"}),
        ("mcp__files__write", {"version": "2.1.12"}),
        ("mcp__files__write", {"toolUseResult": "User rejected tool use"}),
        ("mcp__files__write", {"toolDenialKind": "automode-unavailable"}),
        ("WebFetch", {"version": "2.1.12"}),
        ("Task", {"version": "2.1.12"}),
        ("Edit", {"version": "2.1.12", "toolUseResult": {"error": "no"}}),
    ],
)
def test_words_of_a_refusal_that_a_tool_can_write_are_nobodys(tool: str, line: dict[str, Any]) -> None:
    events = list(HOST.parse_transcript(refused_call(tool, **line), "s", ids()))
    assert [(event.kind, event.trust) for event in events] == [("tool_failure", "tool")]
