"""What a model is shown of a session: which lines and sentences are chosen, and what of a failure is told."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.event import Event
from holdfast.learning.digest import make_digest, rate, sentences
from holdfast.testing.builders import make_event

FAILURE = {"kind": "tool_failure", "exit_code": 1, "tool": "Bash", "trust": "tool"}
RESULT = {"kind": "tool_result", "exit_code": 0, "tool": "Bash", "trust": "tool"}
REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). To tell you how to proceed, the user said:\n"
)


def reply(text: str) -> Event:
    return make_event(kind="reply", text=text, trust="agent")


def prompt(text: str) -> Event:
    return make_event(kind="prompt", text=text, trust="person")


def rows(*events: Event, **options: int) -> list[str]:
    """The digest's lines without their numbers."""
    text = make_digest(events, **options).text
    return [row.partition("] ")[2] if row.startswith("[") else row for row in text.split("\n")] if text else []


# What is chosen


def test_the_users_words_go_before_commits_failures_and_replies() -> None:
    events = [
        reply("The ledger must add whole cents, because floats lose them."),
        make_event(**FAILURE, command="make ledger", text="error: the ledger was refused"),
        make_event(**RESULT, command="git commit -m 'Add whole cents'"),
        prompt("Use whole cents for every amount of the ledger."),
    ]
    chosen = [len(rows(*events, budget=budget)) and rows(*events, budget=budget)[-1] for budget in (20, 40)]
    assert chosen[0] == "USER: Use whole cents for every amount of the ledger."
    assert "COMMIT: git commit -m 'Add whole cents'" in rows(*events, budget=40)
    assert rows(*events)[0].startswith("AGENT: The ledger must")


def test_of_a_long_reply_the_telling_sentences_are_shown_and_gaps_are_marked() -> None:
    telling = "`make ledger` fails when the tide table is missing, because it does not create one."
    chatter = [f"Let me look at the harbour number {n} and then go on with it." for n in range(40)]
    event = reply(" ".join([*chatter[:20], telling, *chatter[20:]]))
    [line] = rows(event, budget=60)
    assert telling in line
    assert " […] " in line
    assert rows(reply(telling), budget=60) == [f"AGENT: {telling}"]


def test_adjoining_sentences_are_quoted_as_they_stand() -> None:
    text = "The pilot must announce the vessel first. Otherwise the lighthouse does not answer."
    assert rows(reply(text)) == [f"AGENT: {text}"]


def test_a_block_of_code_is_a_gap_and_items_are_sentences_of_their_own() -> None:
    text = "Two causes:\n- the tide\n- the wind\n```\nmake harbour\n```\nNothing else."
    assert list(sentences(text)) == ["Two causes:", "- the tide", "- the wind", "", "Nothing else."]
    assert "- the wind […] Nothing else." in rows(reply(text))[0]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("The build fails because the tide table is missing.", "The build fails, and the tide table is here."),
        ("The pilot must never announce two vessels at once.", "The pilot will announce both of the vessels."),
        ("Use cents instead of floats in every ledger we keep.", "Use cents and some floats in every ledger we keep."),
        (
            "`Ledger.add` takes the cents of every currency we add.",
            "It takes whole cents of every currency we add.",
        ),
        ("The vessel that was announced is moored at the pier.", "Now let me moor the announced vessel at the pier."),
    ],
)
def test_causes_norms_contrasts_and_names_rate_above_talk(better: str, worse: str) -> None:
    assert rate(better) > rate(worse)


def test_what_a_short_answer_refers_to_is_shown() -> None:
    options = "\n".join(f"{n}. the harbour of town number {n} gets a light" for n in range(1, 4))
    others = [reply(f"the vessel number {n} is moored at the pier of that town by now") for n in range(30)]
    question, answer = reply(options), prompt("yes, do 1")
    chosen = "\n".join(rows(*others, question, answer, budget=90))
    assert "1. the harbour of town number 1" in chosen
    unasked = "\n".join(rows(*others, question, *others, budget=90))
    assert "1. the harbour of town number 1" not in unasked


def test_words_typed_while_refusing_a_call_are_the_users() -> None:
    refused = make_event(
        **{**FAILURE, "exit_code": None}, command="git push --force", text=f"{REFUSED}never force-push"
    )
    assert rows(refused) == ["USER: never force-push"]
    assert not any(row.startswith("USER") for row in rows(make_event(**FAILURE, text="error: the user said:\nx")))


def test_an_agents_own_agents_are_not_shown() -> None:
    assert rows(make_event(kind="reply", text="The ledger must add cents.", trust="agent", agent="a1")) == []


@pytest.mark.parametrize(
    ("failed", "ended", "is_told"),
    [("make test one", "make test two", True), ("make test", "make build", False), ("make", "make", True)],
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


def test_a_command_without_a_failure_is_shown_once_for_each_program() -> None:
    runs = [make_event(**RESULT, command=f"git status {n}", text="ok") for n in range(3)]
    assert rows(*runs) == ["RAN: git status 0"]


def test_edits_of_one_file_in_a_row_are_one_line() -> None:
    names = ("a.py", "a.py", "b.py", "a.py")
    edits = [make_event(kind="file_edit", files=(name,), text="", trust="agent") for name in names]
    nothing = make_event(kind="file_edit", files=(), text="", trust="agent")
    assert rows(*edits, nothing) == ["EDIT: a.py", "EDIT: b.py", "EDIT: a.py"]


def test_an_empty_summary_is_not_delivered() -> None:
    assert rows(make_event(kind="compaction", text="", trust="agent")) == []
    assert rows(make_event(kind="compaction", text="So far.", trust="agent")) == ["SUMMARY: So far."]
    assert rows(make_event(kind="session_end", text="So far.", trust="agent")) == []


# Failures


def test_a_tool_that_failed_without_a_command_is_shown_by_its_telling_lines() -> None:
    failure = make_event(**{**FAILURE, "exit_code": None, "tool": "Read"}, text="error 1\nerror 2")
    assert rows(failure) == ["FAILED: error 1", "error 2"]


# Lengths


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({"kind": "prompt", "trust": "person"}, 1_200),
        ({"kind": "reply"}, 600),
        ({"kind": "compaction"}, 600),
    ],
)
def test_each_kind_of_line_has_a_length_of_its_own(fields: dict[str, Any], limit: int) -> None:
    whole, cut = (make_event(**{"trust": "agent", **fields}, text="a" * size) for size in (limit, limit + 1))
    assert rows(whole, budget=90_000)[0].endswith(": " + "a" * limit)
    assert rows(cut, budget=90_000)[0].endswith("a" * (limit * 2 // 3) + " […] " + "a" * (limit // 3))


def test_blanks_are_folded_and_line_breaks_stay() -> None:
    assert rows(prompt("  Use \t whole   cents\nfor money. ")) == ["USER: Use whole cents", "for money."]


def test_the_budget_is_never_exceeded() -> None:
    budget = 500
    events: list[Event] = []
    for n in range(300):
        events += [prompt(f"Use cents in ledger {n}."), reply(f"Ledger {n} must not use floats. It fails otherwise.")]
    digest = make_digest(events, budget=budget)
    assert budget * 0.9 <= digest.tokens <= budget
    assert len(digest.events) == digest.text.count("\n") + 1
