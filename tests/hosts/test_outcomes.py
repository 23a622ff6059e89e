"""How commands ended, as hosts really tell it; what they do not tell stays unknown."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from holdfast.domain.event import Event
from holdfast.wiring import load_host
from tests.hosts.golden import ids

AT = datetime(2026, 11, 22, 12, 57, 21, tzinfo=UTC)
TESTS = "python3 -m unittest"


def events(host: str, **payload: Any) -> tuple[Event, ...]:
    hook_fields = {"session_id": "s1", "cwd": "/home/ada/parcels", "hook_event_name": "PostToolUse", **payload}
    return load_host(host).parse_hook(hook_fields, AT, ids()).events


def codex(rollout: Path | None, output: str = "FAILED (failures=1)\n") -> Event:
    return events(
        "codex", tool_name="Bash", tool_input={"command": TESTS}, tool_response=output, tool_use_id="call_1",
        transcript_path=str(rollout or ""),
    )[0]  # fmt: skip


def rollout_line(code: int, use: str = "call_1", output: str = "FAILED\n") -> str:
    item = {"type": "CommandExecution", "id": use, "aggregated_output": output, "exit_code": code, "duration": {}}
    line = {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}
    return json.dumps(line, separators=(",", ":")) + "\n"


@pytest.mark.parametrize(("code", "kind"), [(1, "tool_failure"), (0, "tool_result"), (-9, "tool_failure")])
def test_codex_takes_the_exit_code_from_its_rollout(tmp_path: Path, code: int, kind: str) -> None:
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_text(rollout_line(3, "call_0") + rollout_line(code))
    event = codex(rollout)
    assert event.kind == kind
    assert event.exit_code == abs(code)


def test_an_output_that_quotes_a_rollout_is_not_taken_for_one(tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_text(rollout_line(0, output=rollout_line(7)))
    assert codex(rollout).exit_code == 0


def test_without_a_rollout_the_exit_code_is_unknown(tmp_path: Path) -> None:
    for path in (None, tmp_path / "none.jsonl", tmp_path):
        event = codex(path)
        assert (event.kind, event.exit_code, event.text) == ("tool_result", None, "FAILED (failures=1)")


def test_codex_answers_a_failure_it_knows_of(tmp_path: Path) -> None:
    rollout = tmp_path / "rollout.jsonl"
    rollout.write_text(rollout_line(1))
    payload = {
        "session_id": "s1", "cwd": "/home/ada", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": TESTS}, "tool_response": "FAILED", "tool_use_id": "call_1",
        "transcript_path": str(rollout),
    }  # fmt: skip
    call = load_host("codex").parse_hook(payload, AT, ids())
    assert (call.name, call.moment, call.error) == ("PostToolUse", "after_failure", "FAILED")


def copilot(text: str, stamp: str = "2026-11-22T12:57:21.500Z") -> Event:
    result = {"result_type": "success", "text_result_for_llm": text}
    return events(
        "copilot-cli", tool_name="Bash", tool_input={"command": TESTS}, tool_result=result, timestamp=stamp
    )[0]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "kind", "code", "output"),
    [
        ("no\n<shellId: 0 completed with exit code 1>", "tool_failure", 1, "no"),
        ("no\n<exited with exit code 127>", "tool_failure", 127, "no"),
        ("OK\n<shellId: 2 completed with exit code 0>", "tool_result", 0, "OK"),
        ("still at it\n<shellId: 2 is running>", "tool_result", None, "still at it"),
        ("says <exited with exit code 1> in the middle\nOK", "tool_result", None,
         "says <exited with exit code 1> in the middle\nOK"),
    ],
)  # fmt: skip
def test_copilots_last_line_tells_how_a_command_ended(text: str, kind: str, code: int | None, output: str) -> None:
    event = copilot(text)
    assert (event.kind, event.exit_code, event.text) == (kind, code, output)


def test_equal_commands_within_a_minute_are_events_of_their_own() -> None:
    failed = copilot("no\n<shellId: 0 completed with exit code 1>", "2026-11-22T12:57:21.500Z")
    passed = copilot("OK\n<shellId: 1 completed with exit code 0>", "2026-11-22T12:57:23.500Z")
    failed_again = copilot("no\n<shellId: 2 completed with exit code 1>", "2026-11-22T12:57:25.500Z")
    assert len({failed.key, passed.key, failed_again.key}) == 3


def test_a_hook_that_fires_twice_gives_one_key() -> None:
    assert copilot("OK\n<exited with exit code 0>").key == copilot("OK\n<exited with exit code 0>").key


def test_without_the_hosts_time_another_outcome_is_another_event() -> None:
    def gemini(output: str) -> Event:
        answer = {"llmContent": output}
        return events("gemini-cli", hook_event_name="AfterTool", tool_name="run_shell_command",
                      tool_input={"command": TESTS}, tool_response=answer)[0]  # fmt: skip

    failed = gemini("<untrusted_context>\nOutput: no\nExit Code: 1\nProcess Group PGID: 7\n</untrusted_context>")
    passed = gemini("<untrusted_context>\nOutput: OK\nProcess Group PGID: 8\n</untrusted_context>")
    assert (failed.kind, failed.exit_code, failed.text) == ("tool_failure", 1, "no")
    assert (passed.kind, passed.exit_code, passed.text) == ("tool_result", 0, "OK")
    assert failed.key != passed.key


def test_clines_answer_tells_which_command_failed() -> None:
    parts = [
        {"query": "a", "result": "fine\n", "success": True},
        {"query": TESTS, "result": "[Command exited with code 2]\n\n[stderr]\nno",
         "error": "Command exited with code 2", "success": False},
    ]  # fmt: skip
    event = events("cline", tool_name="run_commands", tool_input={"commands": [TESTS]}, tool_use_id="c",
                 tool_response={"output": parts[1:]})[0]  # fmt: skip
    both = events("cline", tool_name="run_commands", tool_input={"commands": ["a", TESTS]}, tool_use_id="c",
                  tool_response={"output": parts})[0]  # fmt: skip
    assert (event.kind, event.exit_code, event.text) == ("tool_failure", 2, "no")
    assert both.kind == "tool_failure"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ('"Remember that the printer reads."', "Remember that the printer reads."),
        ('"say \\"hi\\" to it"', 'say "hi" to it'),
        ("plain words", "plain words"),
        ('"one" and "two"', '"one" and "two"'),
        ('""', '""'),
    ],
)
def test_opencodes_quotation_marks_are_no_words_of_the_user(typed: str, words: str) -> None:
    call = load_host("opencode").parse_hook(
        {"session_id": "s1", "cwd": "/home/ada", "hook_event_name": "UserPromptSubmit", "prompt": typed}, AT, ids()
    )
    assert call.prompt == words
