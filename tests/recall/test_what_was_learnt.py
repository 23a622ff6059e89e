"""The question what a session taught: once a session, after real work, and never where a model reads it afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.curation.agentwords import AGENTS_WORDS
from holdfast.domain.vocabulary import SessionId
from holdfast.recall.moments import REQUEST, is_real_work
from holdfast.recall.tuning import END_EVENTS, LONG_ACTS, LONG_PROMPTS
from holdfast.testing.builders import make_event
from holdfast.wiring import LAST_ROWS
from tests.hosts_live.parcels import FILES

RECORDED = Path(__file__).parents[1] / "golden" / "asked" / "session.json"
"""What Claude Code 2.1.330 sent to its hooks in one session: a repair, the question, its answer, a correction.

`tests.hosts_live.run --payloads` recorded it.
"""

STOP = {"hook_event_name": "Stop", "stop_hook_active": False, "last_assistant_message": "Rounding is fixed."}


def hook(memory: Memory, host: str = "claude-code", **payload: Any) -> str:
    """What the model is told by this hook."""
    text = memory.answer_hook(host, {"session_id": "s1", "cwd": memory.folder, "transcript_path": "", **payload})
    output = json.loads(text) if text.strip() else {}
    assert "decision" not in output
    return str(output.get("hookSpecificOutput", {}).get("additionalContext", ""))


def repair(memory: Memory, **also: Any) -> None:
    """Let a session edit a file after a failure."""
    hook(memory, hook_event_name="UserPromptSubmit", prompt="Please mend the tide table.", **also)
    hook(memory, hook_event_name="PostToolUseFailure", tool_name="Bash", tool_use_id="t1",
         tool_input={"command": "make test"}, error="Exit code 2\nAssertionError: 1 != 2", **also)  # fmt: skip
    edit(memory, "t2", **also)


def edit(memory: Memory, use: str, **also: Any) -> None:
    path = f"{memory.folder}/src/tides.py"
    hook(memory, hook_event_name="PostToolUse", tool_name="Edit", tool_use_id=use, tool_response={"filePath": path},
         tool_input={"file_path": path, "old_string": "HIGH = 4", "new_string": f"HIGH = {use}"}, **also)  # fmt: skip


def test_after_real_work_the_agent_is_prompted_once_and_a_refusal_is_respected(memory: Memory) -> None:
    repair(memory)
    assert hook(memory, **STOP) == REQUEST
    assert (
        hook(
            memory,
            **{**STOP, "stop_hook_active": True},
        )
        == ""
    )
    edit(memory, "t3")
    assert hook(memory, **{**STOP, "last_assistant_message": "All of it now."}) == ""
    repair(memory, session_id="s2")
    assert hook(memory, **STOP, session_id="s2") == REQUEST


def test_a_recorded_session_is_prompted_at_its_first_stop_and_the_next_one_is_shown(tmp_path: Path, home: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / "parcels" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "parcels" / name).write_text(text)
    recording = RECORDED.read_text("utf-8").replace("/home/ada/parcels", str(tmp_path / "parcels"))
    asked_at = []
    with Memory(str(tmp_path / "parcels")) as memory:
        for number, payload in enumerate(json.loads(recording)):
            if payload.get("tool_name") == "mcp__holdfast__remember":
                lessons = payload["tool_input"]["lessons"]
                outcomes = memory.state(lessons, session=payload["session_id"])
                assert [(outcome.source, outcome.waits) for outcome in outcomes] == [(AGENTS_WORDS, "")] * 2
            if REQUEST in memory.answer_hook("claude-code", payload):
                asked_at.append((number, payload["hook_event_name"]))
        assert asked_at == [(12, "Stop")]
        brief = hook(memory, hook_event_name="SessionStart", source="startup", session_id="next")
        assert "compares with `<=`" in brief
        assert "All bands stay in the one tuple BANDS" in brief


def test_a_session_that_only_answers_a_question_is_not_prompted(memory: Memory) -> None:
    hook(memory, hook_event_name="UserPromptSubmit", prompt="What does make test run?")
    hook(memory, hook_event_name="PostToolUseFailure", tool_name="Bash", tool_use_id="t1",
         tool_input={"command": "make test"}, error="Exit code 2\nAssertionError: 1 != 2")  # fmt: skip
    assert hook(memory, **STOP) == ""


def test_the_question_comes_below_the_reminder_of_a_rule(memory: Memory) -> None:
    memory.remember("Always run `make lint` before you say that you are done.")
    repair(memory)
    text = hook(memory, **STOP)
    assert "make lint" in text.partition("</holdfast-memory>")[0]
    assert text.endswith(f"</holdfast-memory>\n{REQUEST}")


def test_a_sub_agent_is_not_prompted(memory: Memory) -> None:
    repair(memory)
    ends = {**STOP, "hook_event_name": "SubagentStop", "last_assistant_message": "Read."}
    assert hook(memory, **ends, agent_id="a1", agent_type="Explore") == ""
    assert hook(memory, **STOP) == REQUEST


@pytest.mark.parametrize("host", ["codex", "copilot-cli", "cursor"])
def test_a_host_that_takes_nothing_before_the_end_is_not_prompted(memory: Memory, host: str) -> None:
    repair(memory)
    assert REQUEST not in memory.answer_hook(
        host, {"session_id": "s1", "cwd": memory.folder, "transcript_path": "", **STOP}
    )


@pytest.mark.parametrize(
    ("config", "record", "is_asked"),
    [
        ("", "", True),
        ("[learning]\nask_agent = false\n", "", False),
        ("[deliver]\nbefore_end = false\n", "", False),
        ('[distil]\nmodel_from = "claude-code"\n', "", True),
        ('[distil]\nmodel_from = "claude-code"\nafter_sessions = true\n', "", False),
        ('[distil]\nmodel_from = "claude-code"\nafter_sessions = true\n', '"lessons":3', False),
        ('[distil]\nmodel_from = "claude-code"\nafter_sessions = true\n', '"failed":"ModelError"', True),
    ],
)
def test_nobody_is_prompted_where_it_is_off_or_a_model_that_works_reads_the_session(
    project: Path, home: Path, config: str, record: str, is_asked: bool
) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text(config)
    if record:
        row = '{"at":"2026-03-01T10:00:00Z","session":"s0","model":"claude/haiku",%s}\n'
        (home / "distil.jsonl").write_text(row % '"lessons":1' + row % record + '{"at":"2026","session":"s3"}\n')
    with Memory(str(project)) as memory:
        repair(memory)
        assert hook(memory, **STOP) == (REQUEST if is_asked else "")


@pytest.mark.parametrize(("rows_after", "is_asked"), [(10, True), (LAST_ROWS // 20, False)])
def test_only_the_end_of_the_record_is_read(project: Path, home: Path, rows_after: int, is_asked: bool) -> None:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text('[distil]\nmodel_from = "claude-code"\nafter_sessions = true\n')
    failed = '{"session":"s0","model":"claude/haiku","failed":"ModelError"}\n'
    (home / "distil.jsonl").write_text(failed + '{"skipped":"short"}\n' * rows_after)
    with Memory(str(project)) as memory:
        repair(memory)
        assert hook(memory, **STOP) == (REQUEST if is_asked else "")


def test_a_store_that_fails_lets_the_agent_stop(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    repair(memory)

    def refuse(*_arguments: object) -> str:
        raise OSError("no")

    monkeypatch.setattr("holdfast.recall.moments.is_real_work", refuse)
    assert hook(memory, **STOP) == ""


EDIT = make_event(kind="file_edit", tool="Edit", files=("a.py",))
COMMIT = make_event(kind="tool_result", tool="Bash", command="git commit -m x", exit_code=0)
FAILED = make_event(kind="tool_failure", tool="Bash", command="make", text="Exit code 2", exit_code=2)
ASKED = make_event(kind="prompt", text="Please add a tide.", trust="person")
OBJECTED = make_event(kind="prompt", text="No, not like that.", trust="person")
READ = make_event(kind="tool_result", tool="Read", files=("a.py",))


@pytest.mark.parametrize(
    ("events", "is_real"),
    [
        ([ASKED, EDIT], False),
        ([ASKED, FAILED], False),
        ([ASKED, FAILED, EDIT], True),
        ([ASKED, EDIT, FAILED], True),
        ([ASKED, COMMIT, FAILED], True),
        ([ASKED, EDIT, OBJECTED], True),
        ([OBJECTED, EDIT], False),
        ([EDIT, *[ASKED] * (LONG_PROMPTS - 1)], False),
        ([EDIT, *[ASKED] * LONG_PROMPTS], True),
        ([ASKED, EDIT, *[READ] * (LONG_ACTS - 2)], False),
        ([ASKED, EDIT, *[READ] * (LONG_ACTS - 1)], True),
        ([ASKED] * 9, False),
    ],
)
def test_real_work_is_an_edit_or_a_commit_with_a_failure_a_correction_or_length(
    events: list[Any], is_real: bool
) -> None:
    assert is_real_work(events) is is_real


@pytest.mark.parametrize(("later", "is_asked"), [(END_EVENTS - 1, True), (END_EVENTS, False)])
def test_only_the_last_events_of_a_session_are_looked_at(memory: Memory, later: int, is_asked: bool) -> None:
    """The edit of the session is the first of its last events, or has just left them."""
    repair(memory)
    quiet = {"session": SessionId("s1"), "project": "", "cwd": memory.folder, "host": "claude-code"}
    failure = make_event(kind="tool_failure", command="make", exit_code=2, **quiet)
    memory.append([failure, *(make_event(kind="compaction", **quiet) for _ in range(later - 1))])
    assert hook(memory, **{**STOP, "last_assistant_message": ""}) == (REQUEST if is_asked else "")
