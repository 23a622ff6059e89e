"""What a model is shown of a session: how lines compete, how they are cut, and what of a failure is told."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.event import Event
from holdfast.learning.distillation.digest import make_digest
from holdfast.rendering.budget import count_tokens
from holdfast.testing.builders import make_event

FAILURE = {"kind": "tool_failure", "exit_code": 1, "tool": "Bash", "trust": "tool"}
RESULT = {"kind": "tool_result", "exit_code": 0, "tool": "Bash", "trust": "tool"}
REPLY = make_event(kind="reply", text="The pilots announce their vessel to the lighthouse first.", trust="agent")


def rows(*events: Event, worth: float = 0.5, **options: int) -> list[str]:
    """The digest's lines without their numbers; `worth` is that of each reply."""
    text = make_digest(events, lambda window: [worth] * len(window), **options).text
    return [row.partition("] ")[2] if row.startswith("[") else row for row in text.split("\n")] if text else []


def cost(row: str) -> int:
    """What a line takes of the budget."""
    return count_tokens(row.partition(": ")[2]) + 5


def chosen_before(reply_worth: float, *events: Event) -> bool:
    """Whether the last event's line is chosen before a reply of that worth where the budget has room for either."""
    options = [rows(*events)[-1], rows(REPLY)[0]]
    budget = max(map(cost, options)) + sum(map(cost, rows(*events)[:-1]))
    chosen = rows(*events, REPLY, worth=reply_worth, budget=budget)
    assert len(set(options) & set(chosen)) == 1
    return options[0] in chosen


@pytest.mark.parametrize(
    ("fields", "worth"),
    [
        ({"text": "Use cents.", "trust": "person"}, 0.75),
        ({"kind": "compaction", "text": "Cents in."}, 0.5),
        ({"kind": "tool_result", "command": "git commit -m Cents", "exit_code": 0}, 0.5),
        ({**FAILURE, "command": "make", "text": "refused"}, 0.3),
        ({**FAILURE, "command": "", "text": "The connection to the harbour was refused."}, 0.3),
        ({"kind": "file_edit", "files": ("harbours/ledger/readings.py",), "text": ""}, 0.2),
        ({"kind": "file_edit", "files": ("abcdefghijklmnopqrstuvwxyz",), "text": ""}, 0.2),
        ({"kind": "file_edit", "files": ("abcdefghijklmnopqrstuvwxy",), "text": ""}, 0.05),
    ],
)
def test_a_line_competes_by_its_kind_and_a_line_of_25_characters_has_a_quarter(
    fields: dict[str, Any], worth: float
) -> None:
    event = make_event(**{"trust": "agent", **fields})
    assert chosen_before(worth - 0.01, event)
    assert not chosen_before(worth + 0.01, event)


@pytest.mark.parametrize(
    ("fields", "others"),
    [
        ({"text": "Use whole cents for every amount.", "trust": "person"}, "SUMMARY"),
        ({"kind": "compaction", "text": "The ledger adds whole cents by now."}, "FAILED"),
        ({"kind": "tool_result", "command": "git commit -m 'Add whole cents'", "exit_code": 0}, "FAILED"),
    ],
)
def test_what_was_said_or_written_to_be_kept_goes_before_failures(fields: dict[str, Any], others: str) -> None:
    event = make_event(**{"trust": "agent", **fields})
    summary = make_event(kind="compaction", text="The harbour's ledger was read and then was summed up.", trust="agent")
    failure = make_event(**FAILURE, command="make harbour ledger", text="error: the ledger was refused")
    other = summary if others == "SUMMARY" else failure
    budget = max(cost(rows(event)[0]), cost("\n".join(rows(other))))
    assert rows(other, event, budget=budget) == rows(event)


def test_a_passing_command_of_few_words_competes_with_0_275() -> None:
    failure = make_event(**FAILURE, command="make", text="")
    passed = make_event(**RESULT, command="make", text="ok")
    assert rows(failure, passed) == ["FAILED: $ make", "PASSED: make"]
    assert chosen_before(0.26, failure, passed)
    assert not chosen_before(0.29, failure, passed)


@pytest.mark.parametrize(
    ("failed", "ended", "is_told"),
    [
        ("make test one", "make test two", True),
        ("make test", "make build", False),
        ("make", "make", True),
    ],
)
def test_a_command_passes_again_when_its_first_two_words_are_those_that_failed(
    failed: str, ended: str, is_told: bool
) -> None:
    labels = [
        row.partition(":")[0]
        for row in rows(
            make_event(**FAILURE, command=failed, text="error"),
            make_event(**RESULT, command=ended, text="ok"),
            make_event(**RESULT, command=ended, text="ok"),
        )
    ]
    assert ("PASSED" in labels) is is_told
    assert labels.count("PASSED") <= 1


def test_what_passes_without_a_failure_before_it_or_without_an_exit_status_is_not_told() -> None:
    assert rows(make_event(**RESULT, command="make test", text="ok")) == []
    failure = make_event(**FAILURE, command="make test", text="error")
    unknown = make_event(**{**RESULT, "exit_code": None}, command="make test", text="ok")
    assert [row.partition(":")[0] for row in rows(failure, unknown)] == ["FAILED", "error"]


def test_edits_of_one_file_in_a_row_are_one_line() -> None:
    names = ("a.py", "a.py", "b.py", "a.py")
    edits = [make_event(kind="file_edit", files=(name,), text="", trust="agent") for name in names]
    nothing = make_event(kind="file_edit", files=(), text="", trust="agent")
    assert rows(*edits, nothing) == ["EDIT: a.py", "EDIT: b.py", "EDIT: a.py"]


def test_an_empty_summary_and_an_ordinary_command_are_not_told() -> None:
    assert rows(make_event(kind="compaction", text="", trust="agent")) == []
    assert rows(make_event(kind="compaction", text="So far.", trust="agent")) == ["SUMMARY: So far."]
    assert rows(make_event(kind="session_end", text="So far.", trust="agent")) == []
    assert rows(make_event(**RESULT, command="git status")) == []
    assert rows(make_event(**RESULT, command="git -C x commit -m y")) == ["COMMIT: git -C x commit -m y"]


# Failures


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        ("one\n\n  error: two  \nthree", ["error: two"]),
        ("error 1\nerror 2\nerror 3\nerror 4", ["error 1", "error 2", "error 3"]),
        ("one\n\ntwo\n \nthree\n\n", ["two", "three"]),
        ("one", ["one"]),
        ("error: " + "x" * 200, ["error: " + "x" * 153]),
    ],
)
def test_a_failed_command_is_told_with_three_telling_lines_or_its_last_two(output: str, lines: list[str]) -> None:
    failure = make_event(**FAILURE, command="make", text=output)
    assert rows(failure) == ["FAILED: $ make", *lines]


def test_a_failed_command_is_told_up_to_160_characters() -> None:
    assert rows(make_event(**FAILURE, command="m" * 161, text="error"))[0] == "FAILED: $ " + "m" * 160


def test_a_tool_that_failed_without_a_command_is_told_by_two_lines() -> None:
    failure = make_event(**{**FAILURE, "exit_code": None, "tool": "Read"}, text="error 1\nerror 2\nerror 3")
    assert rows(failure) == ["FAILED: error 1", "error 2"]


# Lengths


def test_a_long_line_shows_two_thirds_of_its_limit_and_a_third_of_its_end() -> None:
    whole = "h" * 427 + "m" * 213 + "t"
    assert rows(make_event(kind="file_edit", files=(whole[1:],), text="", trust="agent")) == [f"EDIT: {whole[1:]}"]
    [line] = rows(make_event(kind="file_edit", files=(whole,), text="", trust="agent"))
    assert line == f"EDIT: {'h' * 426} […] {'m' * 213}t"


def test_blanks_are_folded_and_line_breaks_stay() -> None:
    event = make_event(text="  Use \t whole   cents\nfor money. ", trust="person")
    assert rows(event) == ["USER: Use whole cents", "for money."]


def test_a_budget_that_is_met_exactly_leaves_nothing_out_and_cuts_nothing() -> None:
    long = make_event(kind="reply", text="the pilots wait " * 200, trust="agent")
    [line] = rows(long)
    assert "[…]" not in line
    assert rows(long, budget=cost(line)) == [line]
    [shorter] = rows(long, budget=cost(line) - 1)
    assert "[…]" in shorter
    assert len(shorter) > 1_800
    replies = [make_event(kind="reply", text=f"The pilots wait for tide {n}.", trust="agent") for n in range(3)]
    whole = rows(*replies)
    exact = sum(map(cost, whole))
    assert rows(*replies, budget=exact) == whole
    assert rows(*replies, budget=exact - 1) == whole[:2]


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({"kind": "compaction"}, 16_000),
        ({"kind": "reply"}, 3_600),
        ({"kind": "prompt", "trust": "person"}, 6_000),
    ],
)
def test_each_kind_of_line_has_a_length_of_its_own(fields: dict[str, Any], limit: int) -> None:
    whole, cut = (make_event(**{"trust": "agent", **fields}, text="a" * size) for size in (limit, limit + 1))
    assert rows(whole, budget=90_000)[0].endswith(": " + "a" * limit)
    assert "[…]" in rows(cut, budget=90_000)[0]


@pytest.mark.parametrize(("begin", "limit"), [("git commit -m ", 3_600), ("make ", 800)])
def test_commands_are_shown_up_to_their_length(begin: str, limit: int) -> None:
    def last(size: int) -> str:
        command = begin + "x" * (size - len(begin))
        failure = make_event(**FAILURE, command=command, text="")
        return rows(failure, make_event(**RESULT, command=command, text="ok"), budget=90_000)[-1]

    if begin.startswith("git"):
        shown = [
            rows(make_event(**RESULT, command=begin + "x" * (size - len(begin))), budget=90_000)[0]
            for size in (limit, limit + 1)
        ]
    else:
        shown = [last(limit), last(limit + 1)]
    assert ["[…]" in line for line in shown] == [False, True]


def test_lines_shrink_to_a_half_and_a_quarter_where_they_do_not_fit() -> None:
    long = make_event(kind="reply", text="a" * 4_000, trust="agent")
    sizes = [4 * 900, 2 * 900, 900]
    lengths: list[int] = []
    budget = 90_000
    while shown := rows(long, budget=budget):
        lengths.append(len(shown[0]) - len("AGENT:  […] "))
        budget = cost(shown[0]) - 1
    assert lengths == sizes


def test_a_failure_that_does_not_fit_is_cut_at_420_characters() -> None:
    failure = make_event(**FAILURE, command="m" * 150, text="\n".join("error " + "x" * 150 for _ in range(3)))
    filler = make_event(kind="reply", text="a" * 1_000, trust="agent")
    whole = "\n".join(rows(failure))
    assert len(whole) > 430
    chosen = "\n".join(rows(failure, filler, budget=cost(whole)))
    assert len(chosen.partition("\nAGENT")[0]) == len("FAILED:  […] ") + 420
