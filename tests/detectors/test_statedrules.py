from __future__ import annotations

import pytest

from holdfast.detectors._shared.statedrules import stated_rule


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
        ("the tests need a running redis", "the tests need a running redis", "fact"),
        ("the auth token gets rotated every 24 hours", "the auth token gets rotated every 24 hours", "fact"),
        ("integration tests only work when docker is up", "integration tests only work when docker is up", "fact"),
        ("dont touch src/generated its built by protoc", "dont touch src/generated its built by protoc", "rule"),
        ("you need to run make gen after changing anything in proto/",
         "you need to run make gen after changing anything in proto/", "rule"),
        ("all money amounts are integer cents, never floats",
         "all money amounts are integer cents, never floats", "rule"),
        ("python 3.9 is the minimum", "python 3.9 is the minimum", "rule"),
        ("for db access we only use the repository", "for db access we only use the repository", "rule"),
        ("http calls must go through lib/client.ts", "http calls must go through lib/client.ts", "rule"),
        ("dates are always stored in utc", "dates are always stored in utc", "rule"),
        ("no force pushes to shared branches, ever", "no force pushes to shared branches, ever", "rule"),
        ("we decided on msgpack over json because json was slow",
         "we decided on msgpack over json because json was slow",
         "decision"),
        ("we tried celery for this and abandoned it because tasks got lost",
         "we tried celery for this and abandoned it because tasks got lost", "cause"),
        ("the nightly crash was caused by two writers of the same lock file",
         "the nightly crash was caused by two writers of the same lock file", "cause"),
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
        "the tests need a fix",
        "the build needs to be green",
        "users must be able to log in with google because sales wants it",
        "the modal must close because it covers the page",
        "don't touch src/app.py, I am editing it",
        "run the tests after changing this",
        "no errors in the log",
        "the crash was caused by this change",
        "we tried it and it failed",
        "the request is not allowed by the proxy?",
        "a " * 20_000,
    ],
)
def test_reports_doubts_questions_and_the_hour_state_nothing(sentence: str) -> None:
    assert stated_rule(sentence) is None
