"""A command whose end no hook told is completed by what a transcript tells later."""

from __future__ import annotations

from datetime import UTC, datetime

from holdfast.capture.sessionevents import OUTCOME, outcome_of, with_outcomes
from holdfast.domain.event import Event


def make(number: int, key: str, **fields: object) -> Event:
    return Event(
        id=f"e{number}", session="s1", host="codex", at=datetime(2026, 11, 22, 12, number, tzinfo=UTC), key=key,
        **{"kind": "tool_result", "tool": "Bash", "command": "pytest", "text": "FAILED", **fields},
    )  # type: ignore[arg-type] # fmt: skip


def test_a_failure_completes_an_open_command_and_leaves_its_words() -> None:
    known, retold = make(1, "result:c1"), make(9, "result:c1", kind="tool_failure", exit_code=1, text="other words")
    outcome = outcome_of(known, retold)
    assert outcome is not None
    assert (outcome.key, outcome.id) == (f"result:c1{OUTCOME}", "e9")
    (whole,) = with_outcomes([known, outcome])
    assert (whole.id, whole.at, whole.kind, whole.exit_code, whole.text) == (
        "e1", known.at, "tool_failure", 1, "FAILED",
    )  # fmt: skip


def test_what_tells_no_more_completes_nothing() -> None:
    known = make(1, "result:c1")
    assert outcome_of(known, make(2, "result:c1")) is None
    assert outcome_of(make(1, "result:c1", exit_code=0), make(2, "result:c1", exit_code=1)) is None
    assert outcome_of(make(1, "k", kind="prompt", command=""), make(2, "k", exit_code=0)) is None


def test_an_outcome_never_changes_what_is_known() -> None:
    known, outcome = make(1, "result:c1", exit_code=0), make(2, f"result:c1{OUTCOME}", kind="tool_failure", exit_code=1)
    assert with_outcomes([known, outcome]) == [known]


def test_an_output_that_nobody_heard_comes_with_the_outcome() -> None:
    known, outcome = make(1, "c1", text=""), make(2, f"c1{OUTCOME}", exit_code=0, text="12 passed", text_length=9)
    assert with_outcomes([known, outcome])[0].text == "12 passed"
