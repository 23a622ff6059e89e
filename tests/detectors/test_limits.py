"""The edges of detectors: what is just inside, and what is not."""

from __future__ import annotations

from typing import Any

from holdfast import plugins
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.testing.builders import make_event


def find(detector: str, *events: Event) -> list[Candidate]:
    return plugins.load("detectors", detector).detect(events)


def event(kind: str, text: str = "", **fields: Any) -> Event:
    trust = fields.pop("trust", "person" if kind == "prompt" else "tool")
    return make_event(kind=kind, text=text, trust=trust, **fields)


def ran(command: str, text: str = "", exit_code: int = 0) -> Event:
    kind = "tool_failure" if exit_code else "tool_result"
    return event(kind, text, tool="Bash", command=command, exit_code=exit_code)


def edited(file: str, old: str = "return 1", new: str = "return 2", tool: str = "Edit") -> Event:
    return event("file_edit", tool=tool, files=(file,), old=old, new=new)


def idle(count: int) -> list[Event]:
    """Events that mean nothing to any detector."""
    return [event("tool_result", "fine", tool="Read", files=("notes.md",)) for _ in range(count)]


# What people say


def asked_for(prompt: str, *before: Event) -> list[Candidate]:
    return find("explicit", *before, event("prompt", prompt))


def test_a_form_that_is_also_used_for_the_task_counts_where_its_words_state_a_fact_or_a_duty() -> None:
    assert not asked_for("keep in mind: the beacon of this project is lit before sunset")
    assert asked_for("keep in mind: the beacon token expires after 30 minutes")
    assert asked_for("keep in mind: the beacon must never be dark")
