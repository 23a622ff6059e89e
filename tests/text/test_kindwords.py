"""A lesson's words name its kind."""

from __future__ import annotations

import pytest

from holdfast.text.kindwords import kind_of


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("We tried celery and abandoned it because tasks got lost", "failed_approach"),
        ("Caching the tree didn't work", "convention"),
        ("The nightly crash was caused by two writers of one lock file", "bug_cause"),
        ("The root cause of the flaky login test was the clock", "bug_cause"),
        ("We decided to use msgpack instead of json", "decision"),
        ("We went with sqlite over postgres since it runs offline", "decision"),
        ("I prefer small commits", "preference"),
        ("Answer in Dutch", "preference"),
        ("Never add dependencies without asking me", "preference"),
        ("Never commit to main", "constraint"),
        ("Every migration must have a rollback", "constraint"),
        ("Start the server with `make up`", "tooling"),
        ("The staging database is called blue-heron", "tooling"),
        ("The token expires after a day", "tooling"),
        ("Amounts are whole cents", "convention"),
        ("Tests like these are named after the module", "convention"),
    ],
)
def test_words_show_the_kind(words: str, kind: str) -> None:
    assert kind_of(words) == kind


def test_without_such_words_the_usual_kind_of_the_source_stays() -> None:
    assert kind_of("Amounts are whole cents", "decision") == "decision"
