from __future__ import annotations

import pytest

from holdfast.text.statedrules import stated_rule


@pytest.mark.parametrize(
    ("sentence", "rule", "sort"),
    [
        ("btw nobody touches the billing module without a ticket", "nobody touches the billing module without a ticket",
         "rule"),
        ("the api tests only work with the vpn on", "the api tests only work with the vpn on", "fact"),
        ("keep functions under fifty lines please, always", "keep functions under fifty lines please, always", "rule"),
        ("we don't do default exports here", "we don't do default exports here", "rule"),
        ("commits should reference a jira key", "commits should reference a jira key", "rule"),
        ("no one should call the payment api from the frontend", "no one should call the payment api from the frontend",
         "rule"),
        ("api keys belong in 1password, not in the repo", "api keys belong in 1password, not in the repo", "rule"),
        ("just so you know we squash merge everything", "we squash merge everything", "rule"),
        ("don't use floats for amounts in this package", "don't use floats for amounts in this package", "rule"),
        ("if it is empty, always exit with os.Exit(1)", "if it is empty, always exit with os.Exit(1)", "rule"),
        ("we chose grpc over rest because of streaming", "we chose grpc over rest because of streaming", "decision"),
        ("we should not touch the default ssh config", "we should not touch the default ssh config", "rule"),
    ],
)  # fmt: skip
def test_everyday_forms_are_read_in_the_persons_words(sentence: str, rule: str, sort: str) -> None:
    stated = stated_rule(sentence)
    assert stated is not None
    assert (stated.text, stated.sort) == (rule, sort)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "\0",
        "we should not have merged this",
        "we never got the token",
        "our tests fail on main",
        "no one knows why it breaks",
        "we agreed to leave it",
        "all tests must pass before I merge this branch",
        "use this, never mind the rest",
        "every button needs to be blue",
        "don't edit that file by hand now",
        "maybe we should always use the cache",
        "why do we never close the file",
        "the request is not allowed by the proxy?",
        "a " * 20_000,
    ],
)
def test_reports_doubts_questions_and_the_hour_state_nothing(sentence: str) -> None:
    assert stated_rule(sentence) is None
