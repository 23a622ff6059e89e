"""The made-up credentials of the tests: of every format as many as asked for, each as its format has it."""

from __future__ import annotations

from tests.credentials import ASSIGNED, PREFIXED, iter_assigned, iter_keys

LENGTHS = {
    "AWS access key": 20, "AWS temporary key": 20, "GitHub personal": 40, "GitHub fine-grained": 93,
    "GitLab personal": 26, "Anthropic": 108, "Google": 39, "npm": 40, "Hugging Face": 37, "Twilio": 34,
    "Postman": 64, "age": 74,
}  # fmt: skip
"""Characters of some formats, as their issuers document or write them."""


def test_every_format_is_drawn_as_often_as_requested_in_its_full_length() -> None:
    """`credentials.PREFIXED`."""
    drawn = [(name, key) for name, text, key in iter_keys(1, 2) if key in text]
    assert [name for name, _ in drawn] == [row[0] for row in PREFIXED for _ in range(2)]
    assert {name: len(key) for name, key in drawn if name in LENGTHS} == LENGTHS


def test_every_announcement_is_drawn_as_often_as_requested_with_its_secret() -> None:
    """`credentials.ASSIGNED`: no secret is drawn twice, and none is so short that it could stand by chance."""
    drawn = [(name, secret) for name, text, secret in iter_assigned(1, 2) if secret in text]
    assert [name for name, _ in drawn] == [row[0] for row in ASSIGNED for _ in range(2)]
    assert len({secret for _, secret in drawn}) == len(drawn)
    assert min(len(secret) for _, secret in drawn) >= 8
