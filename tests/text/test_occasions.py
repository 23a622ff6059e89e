from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.lesson import Triggers
from holdfast.testing.builders import make_lesson
from holdfast.text.occasions import (
    command_kinds,
    group_keys,
    habit_of,
    is_standing,
    language_of,
    lint_languages,
    names_code,
    occasions,
)


def rule(insight: str, **over: Any) -> Any:
    return make_lesson(**{"insight": insight, "kind": "preference", "trust": "person", **over})


@pytest.mark.parametrize(
    "text",
    ["use `x`", "see src/app.py", "call close() last", "set max_size", "the flag --stat", "SaveChanges drops it",
     "os.Getwd is wrong", "main.go only"],
)  # fmt: skip
def test_a_text_with_a_file_an_identifier_a_flag_or_quoted_code_names_code(text: str) -> None:
    assert names_code(text)


@pytest.mark.parametrize(
    "text",
    ["Add tests with every change.", "Put before/after output into the PR.", "PRs stay small, e.g. one topic.",
     "Wait 2.5 seconds at most.", "Use test-first work (always)."],
)  # fmt: skip
def test_plain_words_name_no_code(text: str) -> None:
    assert not names_code(text)


def test_a_standing_rule_is_a_persons_preference_or_convention_without_code_or_what_is_marked_so() -> None:
    statement = "Add tests with every change."
    assert is_standing(rule(statement))
    assert not is_standing(rule(statement, trust="agent"))
    assert not is_standing(rule(statement, kind="tooling"))
    assert not is_standing(rule("Add tests to tests/unit with every change."))
    assert is_standing(rule(statement, trust="agent", kind="tooling", when=Triggers(standing=True)))


@pytest.mark.parametrize(
    "request_of_now",
    ["We also need to handle tasks of sub-agents.", "Sub-agents were a bit of a problem last time, so cover them.",
     "Leave the tests out for now."],
)  # fmt: skip
def test_a_request_about_the_work_at_hand_is_no_standing_rule(request_of_now: str) -> None:
    assert not is_standing(rule(request_of_now))


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("pytest -q tests", ("test",)),
        ("cd app && npm run test:unit", ("test",)),
        ("python -m pytest", ("test",)),
        ("go test ./... && git commit -m 'x'", ("test", "commit")),
        ("mise run lint", ("lint",)),
        ("golangci-lint run ./...", ("lint",)),
        ("gh pr create --fill", ("pr",)),
        ("gh pr view 3 --comments", ("review",)),
        ("gh api repos/a/b/pulls/3/comments", ("review",)),
        ("git status", ()),
        ("cat test.txt", ()),
        ("grep -rn test src", ()),
    ],
)
def test_commands_are_of_a_kind(line: str, kinds: tuple[str, ...]) -> None:
    assert command_kinds(line) == kinds


def test_a_languages_files_share_one_ending() -> None:
    assert language_of("src/app.tsx") == language_of("lib/a.js") == "ts"
    assert language_of("cmd/main.go") == "go"
    assert language_of("README") == ""
    assert language_of("notes.txt") == ""


def test_a_lesson_on_a_linter_is_delivered_at_the_first_edit_of_its_language() -> None:
    lesson = rule("errcheck rejects errors that are dropped.", kind="tooling", trust="verified")
    assert occasions(lesson) == ("edit go",)
    assert lint_languages(rule("Lint wants doc comments.", kind="tooling", path="src/app.py")) == {"py"}
    assert lint_languages(rule("The parser drops every second line.", kind="bug_cause", path="src/app.py")) == set()


def test_lessons_on_one_linter_one_command_or_one_habit_are_a_group() -> None:
    first = rule("errcheck rejects errors that are dropped.", kind="tooling")
    second = rule("golangci-lint's errcheck also rejects blank assignments.", kind="tooling")
    both = rule("errcheck and wrapcheck want every error handled and wrapped.", kind="tooling")
    assert group_keys(first) == group_keys(second)
    assert group_keys(first) < group_keys(both)
    ran = {"kind": "tooling", "when": Triggers(commands=("make check",))}
    assert group_keys(rule("Run make check first.", **ran)) == group_keys(rule("make check runs all.", **ran))
    assert group_keys(rule("A bug fix comes with a test.")) == group_keys(
        rule("New functionality is expected to come with tests.")
    )
    assert group_keys(rule("Name things well.")) != group_keys(rule("Name people well."))


@pytest.mark.parametrize(
    ("text", "habit"),
    [
        ("A bug fix is to come with a regression test.", "tests with the change"),
        ("Show the bug by a failing test first, then fix it.", "failing test first"),
        ("After fixing a bug search for the same pattern elsewhere.", "look elsewhere too"),
        ("Check for an existing helper before you write a function.", "reuse what is there"),
        ("Never add tests for a change of wording.", ""),
        ("The tests wait for the prompt.", ""),
    ],
)
def test_habits_are_known_in_many_wordings(text: str, habit: str) -> None:
    assert habit_of(text) == habit


def test_a_standing_rule_about_commits_or_reviews_waits_for_them() -> None:
    assert occasions(rule("Never commit unless asked.")) == ("commit",)
    assert occasions(rule("Answer every review thread.")) == ("review",)
    assert occasions(rule("Write plainly.")) == ("standing",)


def test_a_command_card_is_delivered_at_its_own_kind_of_command() -> None:
    card = rule("Tests run here with make test.", kind="tooling", trust="verified", topic_key="commands/test")
    assert occasions(card) == ("test",)
    assert group_keys(card) == {"commands/test"}
    assert occasions(rule("Build with make.", kind="tooling", topic_key="commands/build")) == ()
