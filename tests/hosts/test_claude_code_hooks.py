from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import TEXT_LIMIT
from holdfast.domain.hookcall import HookCall
from holdfast.errors import InvalidValueError
from holdfast.hosts import claude_code as install
from holdfast.wiring import load_host
from tests.hosts.golden import AT, ids

HOST = load_host("claude-code")
HOOKS = (
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop",
    "SubagentStart", "SubagentStop", "SessionEnd", "SomethingNew",
)  # fmt: skip
FIELDS = (
    "cwd", "source", "model", "prompt", "tool_name", "tool_input", "tool_use_id", "tool_response", "error",
    "is_interrupt", "trigger", "custom_instructions", "last_assistant_message", "agent_id", "reason",
)  # fmt: skip
TOOLS = ("Bash", "Edit", "Write", "MultiEdit", "NotebookEdit", "Read", "Grep", "TodoWrite", "AskUserQuestion", "X")
INPUTS = ("command", "file_path", "notebook_path", "path", "old_string", "new_string", "content", "edits", "todos",
          "stdout", "answers", "filenames", "text")  # fmt: skip

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
odd: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(INPUTS), inner, max_size=4)
)
payloads = st.builds(
    lambda name, tool, fields: {"session_id": "s", **fields, "hook_event_name": name, **tool},
    st.sampled_from(HOOKS),
    st.just({}) | st.builds(lambda name: {"tool_name": name}, st.sampled_from(TOOLS)),
    st.dictionaries(st.sampled_from(FIELDS), odd),
)


def call(name: str, at: datetime = AT, **fields: Any) -> HookCall:
    return HOST.parse_hook({"session_id": "s", "cwd": "/p", "hook_event_name": name, **fields}, at, ids())


@given(payloads)
def test_odd_fields_are_taken_as_empty(payload: dict[str, Any]) -> None:
    parsed = HOST.parse_hook(payload, AT, ids())
    assert parsed.name == payload["hook_event_name"]
    json.loads(HOST.render(parsed, Briefing(text="x")))


@pytest.mark.parametrize("payload", [{}, {"session_id": "s"}, {"hook_event_name": "Stop"}, {"event": "stop"}, [], None])
def test_a_payload_of_another_program_is_refused(payload: Any) -> None:
    with pytest.raises(InvalidValueError, match="not a hook payload of"):
        HOST.parse_hook(payload, AT, ids())


def test_a_huge_output_keeps_its_beginning_its_end_and_its_length() -> None:
    stdout = "first line\n" + "word " * 1_000_000 + "\nlast line"
    (event,) = call("PostToolUse", tool_name="Bash", tool_use_id="u", tool_input={"command": "x"},
                    tool_response={"stdout": stdout}).events  # fmt: skip
    assert len(event.text) <= TEXT_LIMIT
    assert event.text_length == len(stdout)
    assert event.text.startswith("first line")
    assert event.text.endswith("last line")


def test_a_cut_splits_no_word_so_that_no_key_escapes_redaction() -> None:
    secret = "sk-" + "a1B2" * 12
    (event,) = call("PostToolUse", tool_name="Bash", tool_use_id="u", tool_input={},
                    tool_response={"stdout": (secret + " ") * 2_000}).events  # fmt: skip
    words = event.text.replace("[... cut ...]", "").split()
    assert set(words) == {secret}


def test_the_same_prompt_has_the_same_key_whatever_the_white_space_and_the_time() -> None:
    (first,) = call("UserPromptSubmit", prompt="use  Decimal\n").events
    (second,) = call("UserPromptSubmit", prompt="use Decimal", at=datetime(2026, 12, 1, tzinfo=UTC)).events
    assert first.key == second.key


def test_two_calls_without_an_id_in_one_minute_differ_by_what_they_were_given() -> None:
    def key(command: str) -> str:
        return call("PostToolUse", tool_name="Bash", tool_input={"command": command}).events[0].key

    assert key("ls") != key("pwd")
    assert key("ls") == key("ls")


def test_our_own_block_is_never_captured_also_when_it_was_cut_off() -> None:
    (event,) = call("UserPromptSubmit", prompt="do it\n<holdfast-memory>\n- [aa] Old").events
    assert event.text == "do it"


def test_a_person_may_write_about_reminders() -> None:
    (event,) = call("UserPromptSubmit", prompt="what is a <system-reminder> for?").events
    assert event.text == "what is a <system-reminder> for?"


def test_the_plug_in_registers_only_hooks_that_other_hosts_know_too() -> None:
    assert [hook for hook in install.HOOKS if hook not in install.PACKAGE_HOOKS] == [
        ("InstructionsLoaded", "", {"timeout": 10, "async": True})
    ]
    assert install.PROFILE.package is not None
    assert install.PROFILE.package.hooks == install.PACKAGE_HOOKS


def test_nothing_to_say_is_an_empty_object() -> None:
    assert HOST.render(call("SessionStart"), Briefing()) == "{}"
    assert HOST.render(call("PreCompact"), Briefing(text="x")) == "{}"


def test_a_delivery_stays_below_the_size_the_host_moves_to_a_file() -> None:
    lines = "".join(f"- [{n:08}] {'word ' * 20}\n" for n in range(200))
    text = f"<holdfast-memory>\n{lines}</holdfast-memory>"
    output = json.loads(HOST.render(call("SessionStart"), Briefing(text=text)))["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    assert len(output["additionalContext"]) <= 9_500
    assert output["additionalContext"].endswith("\n</holdfast-memory>")
    assert output["additionalContext"].startswith("<holdfast-memory>\n- [00000000]")


def test_lone_surrogates_and_nul_do_not_stop_a_prompt() -> None:
    (event,) = call("UserPromptSubmit", prompt="a\0b \ud800").events
    assert event.key.startswith("prompt:")
