"""What a turn is: a person's prompt with the replies to it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from holdfast.domain.event import Event
from holdfast.testing.builders import START, make_event
from holdfast.text.speech import TURN_LIMIT, turns_of, without_deliveries


def event(minute: int, text: str, kind: str = "reply", **over: Any) -> Event:
    return make_event(kind=kind, text=text, at=START + timedelta(minutes=minute), **over)


def test_replies_belong_to_the_prompt_before_them_whatever_their_order() -> None:
    events = [event(2, "It is."), event(0, "Is it?", "prompt"), event(3, "And now?", "prompt"), event(1, "I look.")]
    assert [(turn.prompt, turn.reply) for turn in turns_of(events)] == [
        ("Is it?", "I look.\n\nIt is."),
        ("And now?", ""),
    ]


def test_machines_prompts_tools_and_subagents_are_no_turns() -> None:
    events = [
        event(0, "Is it?", "prompt"), event(1, "<task-notification>done</task-notification>", "prompt"),
        event(2, "Yes."), event(3, "output", "tool_result"), event(4, "From below.", agent="sub"),
        event(5, "", "prompt"),
    ]  # fmt: skip
    assert [(turn.prompt, turn.reply) for turn in turns_of(events)] == [("Is it?", "Yes.")]


def test_a_reply_whose_prompt_was_erased_is_a_turn_of_its_own() -> None:
    assert [(turn.prompt, turn.reply) for turn in turns_of([event(0, "", "prompt"), event(1, "Yes.")])] == [
        ("", "Yes.")
    ]


def test_delivered_blocks_are_left_out() -> None:
    assert without_deliveries("a<holdfast-memory>x</holdfast-memory>b<holdfast-memory>y") == "ab"


def test_a_long_turn_is_several_with_one_prompt() -> None:
    events = [event(0, "Is it?", "prompt"), event(1, "a" * TURN_LIMIT), event(2, "b")]
    assert [(turn.prompt, turn.reply[:1]) for turn in turns_of(events)] == [("Is it?", "a"), ("Is it?", "b")]
