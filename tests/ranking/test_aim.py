from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.ranking.aim import Aim, kinds_asked, says_only_when, task_of
from holdfast.ranking.fuse import multipliers
from holdfast.ranking.tuning import AIM_CHARACTERS, RANGES
from holdfast.testing.builders import START, make_lesson
from holdfast.text.timespan import LOOKED_AT, span_in

NOW = datetime(2026, 11, 21, 12, 7, tzinfo=UTC)
"""A Saturday."""


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("what did we decide last week?", "2026-11-09", "2026-11-16"),
        ("Yesterday the build broke", "2026-11-20", "2026-11-21"),
        ("why did we drop it in March", "2026-03-01", "2026-04-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("everything since 2026-10-01, please", "2026-10-01", ""),
        ("before 2026-10", "", "2026-10-01"),
        ("after October", "2026-11-01", ""),
        ("in the last 3 days", "2026-11-18", ""),
        ("3 days ago", "2026-11-17", "2026-11-19"),
        ("two weeks ago", "2026-10-31", "2026-11-14"),
        ("on Monday", "2026-11-16", "2026-11-17"),
        ("what happened on 15 May 2023?", "2023-05-15", "2023-05-16"),
        ("since May 3rd", "2026-05-03", ""),
        ("since 3 May", "2026-05-03", ""),
        ("in 2025", "2025-01-01", "2026-01-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("this morning", "2026-11-21", ""),
    ],
)
def test_a_time_in_a_question_is_a_span(text: str, since: str, until: str) -> None:
    span = span_in(text, NOW)
    assert span is not None
    assert [end and f"{end:%Y-%m-%d}" for end in span] == [since or None, until or None]


@pytest.mark.parametrize(
    "text",
    [
        "before the release", "we may fix it", "march on", "the last 3 commits", "version 3.11", "fix 3 tests",
        "2026-13-45", "2023-02-31", "99999999999999999999 days ago", "the sun is up", "last", "ago", "0 days ago", "",
    ],
)  # fmt: skip
def test_what_is_no_time_or_cannot_be_resolved_is_none(text: str) -> None:
    assert span_in(text, NOW) is None


WORDS = ["last", "3", "days", "week", "ago", "since", "before", "May", "march", "31", "2024-02-30", "a", "in", "monday"]


@pytest.mark.parametrize(("end", "is_seen"), [(LOOKED_AT, True), (LOOKED_AT + 1, False)])
def test_a_time_is_looked_for_at_the_beginning_of_a_long_question(end: int, is_seen: bool) -> None:
    text = "yesterday".rjust(end, "-").replace("-yes", " yes")
    assert (span_in(text, NOW) is not None) is is_seen


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=6), max_size=8))
def test_any_words_give_a_span_in_order_or_none(words: list[str]) -> None:
    since, until = span_in(" ".join(words), NOW) or (None, None)
    assert since is None or until is None or since < until


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("the login page crashes on save", "fix"),
        ("please write tests for the parser", "test"),
        ("refactor the store", "refactor"),
        ("review this branch", "review"),
        ("deploy to staging", "operate"),
        ("implement the export dialog", "feature"),
        ("hello", ""),
        ("x" * 500 + " fix", ""),
    ],
)
def test_a_task_is_recognised_by_its_first_words(text: str, task: str) -> None:
    assert task_of(text) == task


def test_a_question_of_time_alone_has_no_subject() -> None:
    assert says_only_when("What did we learn last week?")
    assert not says_only_when("what did we learn about caching last week?")


def test_aim_lifts_what_was_learnt_then_and_the_kinds_the_task_asks_for() -> None:
    lesson = make_lesson(kind="fix")
    plain, aimed = (dict(multipliers(lesson, "fresh", START, aim)) for aim in (Aim(), Aim(task="fix", since=START)))
    assert (plain["time"], plain["task"]) == (1.0, 1.0)
    assert (aimed["time"], aimed["task"]) == (RANGES["time"][1], RANGES["task"][1])
    assert not Aim(until=START).names_time_of(lesson)


@pytest.mark.parametrize(
    ("text", "kinds", "subject"),
    [
        ("what failed before with the migration?", {"failed_approach", "bug_cause", "fix"}, "migration"),
        ("Which constraints are there on the public API", {"constraint"}, "public API"),
        ("what did we decide about retries?", {"decision"}, "retries"),
        ("any preferences?", {"preference"}, ""),
        ("conventions for tests", {"convention", "preference"}, "tests"),
        ("What caused the flaky login", {"bug_cause", "fix"}, "flaky login"),
        ("which commands build the docs", {"tooling"}, "build the docs"),
    ],
)
def test_a_question_for_a_kind_is_understood(text: str, kinds: set[str], subject: str) -> None:
    asked_kinds, rest = kinds_asked(text)
    assert set(asked_kinds) == kinds
    assert rest == subject


@pytest.mark.parametrize(
    "text", ["fix the decisions table", "the constraints.py import fails", "", "decisionstore", "decisions2 of it"]
)
def test_a_question_about_something_else_asks_for_no_kind(text: str) -> None:
    assert kinds_asked(text) == ((), "")


WORDINGS: dict[str, str] = {
    "what failed before|what has failed before|what went wrong before|what did not work|failed before|"
    "what didn't work|what was tried|what did we try|what have we tried|failed approaches|failed attempts|"
    "known failures|what failed|dead ends": "failed_approach",
    "which constraints|what constraints|any constraints|constraints|what must i not|what is forbidden|"
    "what is not allowed|which limits": "constraint",
    "what did we decide|what was decided|what have we decided|which decisions|what decisions|any decisions|"
    "why did we choose|why did we decide|decisions": "decision",
    "any preferences|which preferences|what preferences|what does the user prefer|preferences|what do i prefer|"
    "what are my preferences": "preference",
    "which conventions|what conventions|any conventions|conventions|which rules|what rules|any rules|style rules":
        "convention",
    "what caused|known bugs|which bugs|any bugs|root causes|root cause": "bug_cause",
    "which commands|what commands|which tools|what tools|tooling": "tooling",
}  # fmt: skip


@pytest.mark.parametrize(
    ("wording", "kind"), [(wording, kind) for row, kind in WORDINGS.items() for wording in row.split("|")]
)
def test_each_wording_asks_for_its_kind(wording: str, kind: str) -> None:
    kinds, subject = kinds_asked(f"{wording} walrus")
    assert kind in kinds
    assert subject == "walrus"
    assert kinds_asked(f"{wording}!") == (kinds, "")


def test_a_task_and_a_kind_are_recognised_by_the_beginning_of_a_question() -> None:
    assert task_of("fix".rjust(AIM_CHARACTERS)) == "fix"
    assert task_of("fix".rjust(AIM_CHARACTERS + 1)) == ""
    question = "what failed before with "
    assert kinds_asked(question.ljust(AIM_CHARACTERS, "x"))[0]
    assert not kinds_asked(question.ljust(AIM_CHARACTERS + 1, "x"))[0]


def test_a_time_has_a_beginning_an_end_or_neither() -> None:
    end = START + timedelta(days=1)
    aim = Aim(since=START, until=end)
    assert not aim.names_time_of(make_lesson(recorded_at=end, valid_from=end))
    assert Aim(until=end).names_time_of(make_lesson())
    assert not Aim(since=end).names_time_of(make_lesson())
    assert not Aim().names_time_of(make_lesson())
