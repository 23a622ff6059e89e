from __future__ import annotations

import pytest

from holdfast.detectors._shared.barerules import MESSAGE_LIMIT, bare_rules


@pytest.mark.parametrize(
    "message",
    [
        "use httpx instead of requests", "don't touch released migrations", "tests live beside the code",
        "API times are UTC", "use pnpm, not npm", "never log e-mail addresses", "staging is read-only",
        "commit messages are imperative", "we use tabs", "branch names start with the ticket number",
        "no emojis in code", "money is stored in cents", "feature flags live in config/flags.yaml",
        "Docker images are built with bazel", "add a test before merging",
    ],
)  # fmt: skip
def test_a_message_that_is_a_rule(message: str) -> None:
    assert bare_rules(message) == [(message, 0)]


@pytest.mark.parametrize(
    "message",
    [
        "tests are failing", "the build is broken", "prod is down", "login is slow", "don't do that",
        "use the other approach instead", "never mind, leave it", "don't worry about it", "use option 2 instead of 1",
        "is staging read-only?", "I think we use tabs", "yes", "then please go back and change your replies",
        "for the fixed ones, reply to the comment", "if my key is X give me the command that is needed",
        "use pnpm, not npm. Then add the page.", "don't commit yet", "tests are green now", "deploy is done",
    ],
)  # fmt: skip
def test_a_message_that_is_none(message: str) -> None:
    assert bare_rules(message) == []


def test_a_long_message_says_more_than_rules() -> None:
    assert bare_rules("money is stored in cents. " * (MESSAGE_LIMIT // 26))
    assert bare_rules("money is stored in cents. " * (MESSAGE_LIMIT // 26 + 1)) == []


def test_a_list_gives_each_rule_with_its_place() -> None:
    message = "Our rules:\n1. use pnpm, not npm\n2. API times are UTC"
    assert [(rule, message[at : at + len(rule)]) for rule, at in bare_rules(message)] == [
        ("use pnpm, not npm", "use pnpm, not npm"), ("API times are UTC", "API times are UTC"),
    ]  # fmt: skip
