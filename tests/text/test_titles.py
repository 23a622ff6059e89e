"""A title states a lesson's verdict in at most twelve of its own words, and never the opposite."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.lesson import INSIGHT_LIMIT, TITLE_LIMIT
from holdfast.text import titles
from holdfast.text.meaning import read
from holdfast.text.titles import (
    CHARACTERS_MOST,
    WORDS_MOST,
    clipped,
    fault_of,
    is_topic,
    is_weak,
    kept_title,
    make_title,
    settled_title,
)
from tests.text.negations import sentences


def test_a_title_has_twelve_words_of_a_text_whose_beginning_is_read() -> None:
    assert (WORDS_MOST, CHARACTERS_MOST, TITLE_LIMIT) == (12, 100, 100)
    assert (titles.READ_LIMIT, titles.CLAUSES_MOST, titles.PARTNERS, titles.TOPIC_WORDS) == (1_200, 12, 3, 7)


MADE = {
    "Never deploy on Fridays.": "Never deploy on Fridays",
    "remember that release tags are cut from stable": "Release tags are cut from stable",
    "We should not log the customer_id in checkout().": "We should not log the customer_id in checkout()",
    "New functionality is expected to come with unit tests; add them without being asked.":
        "New functionality is expected to come with unit tests",
    "Keep the fallbacks in save() and load(): states of older versions have no type, so readers would stop.":
        "Keep the fallbacks in save() and load()",
    "Use GetGitDir() (makes relative paths absolute) instead of calling `git rev-parse` again; look for helpers first.":
        "Use GetGitDir() (makes relative paths absolute) instead of calling `git rev-parse` again",
    "Package strategy must not import package cli because cli imports it, and the compiler refuses cycles of packages.":
        "Package strategy must not import package cli",
    "Lint here: `mise run lint` with the flags of the pipeline":
        "Lint here: `mise run lint` with the flags of the pipeline",
    "Error handling. Every error of the gateway must be wrapped.": "Every error of the gateway must be wrapped",
    "Tests run here with `make test` (64 of 79 runs passed, in 17 sessions). Also used: `make t` (2 of 2).":
        "Tests run here with `make test`",
    "The queue drops messages, e.g. `ping`, when it is full.": "The queue drops messages, e.g. `ping`, when it is full",
    "Sizes are exact up to 2**53, and **never** more.": "Sizes are exact up to 2**53, and never more",
    "Pass **kwargs on; globs such as src/**/*.py stay as they are.": "Pass **kwargs on",
    "Name it `__file__` (and not `__path__`), since the loader of the plug-ins reads that attribute and nothing else":
        "Name it `__file__`",
}  # fmt: skip


@pytest.mark.parametrize(("insight", "title"), MADE.items(), ids=str)
def test_a_title_is_made_of_the_lessons_own_words(insight: str, title: str) -> None:
    assert make_title(insight) == title


@pytest.mark.parametrize(
    ("insight", "needed"),
    [
        ("Retries of the payment gateway that run in the background are capped at 3 unless the order is prepaid.",
         "unless"),
        ("Every committed file of the generated client stays as the generator wrote it, not as the formatter likes it",
         "not"),
        ("The exporter that reads everything the day has left in the queue of the harbour does not start at night",
         "not"),
    ],
)  # fmt: skip
def test_what_limits_a_clause_stays_in_its_title(insight: str, needed: str) -> None:
    assert needed in make_title(insight).split()
    assert len(make_title(insight)) <= CHARACTERS_MOST


def test_after_all_and_every_a_contrast_is_an_exception_and_elsewhere_it_is_not() -> None:
    alike = "{} command of the exporter goes to the log of the harbour master of the eastern sound, not passwords"
    assert "passwords" in make_title(alike.format("Every"))
    assert make_title(alike.format("The")).endswith("\u2026")


def test_the_quotes_words_are_taken_if_the_insight_only_names_a_topic() -> None:
    assert make_title("Release tags", "Release tags are cut from stable") == "Release tags are cut from stable"
    assert make_title("Release tags", "Tags") == "Release tags"


@pytest.mark.parametrize(
    "topic",
    [
        "Tests", "Error handling", "Attribution Line Ownership Tracking", "The test commands", "Commit message format",
        "Where the whole backend lives on disk", "How errors are handled", "Tests: `mise run test`", "Lint rules",
        "Shared test helpers", "Use cases", "\U0001f389\U0001f389", "Is it cached?", "Test plan",
    ],
)  # fmt: skip
def test_a_topic_is_no_title(topic: str) -> None:
    assert is_topic(topic)
    assert is_weak(topic)
    assert fault_of(topic, topic)


@pytest.mark.parametrize(
    "verdict",
    [
        "Every fix brings a test", "Run tests with `mise run test`", "Zeppelins need ballast",
        "`pytest` needs `SERVER_NAME=localhost` in front here",
        "Use pnpm", "Pin the formatter", "pnpm, not npm", "Retries capped at 3", "Test the parser", "Squash merges",
        "eslint `no-any`: no `any`", "Wire agentType through GetTranscript", "\u5148\u306b\u8d77\u52d5\u3059\u308b",
        "`main` is protected: push a branch and open a pull request", "checkpoint -> logging -> paths",
    ],
)  # fmt: skip
def test_a_verdict_is_one(verdict: str) -> None:
    assert not is_topic(verdict)
    assert not fault_of(verdict, verdict)


@pytest.mark.parametrize(
    ("title", "fault"),
    [
        ("Retries are capped at 3", ""),
        ("", "no words"),
        ("\u2026!", "no words"),
        ("Retries\nare capped", "one line"),
        ("t " * 51, "at most 100 characters"),
        ("Retries are capped at 3 " + "again " * 8, "13 words"),
        ("Retries are capped at 3 by `make a b c d e f g h`", ""),
        ("Retries", "topic"),
        ("Retries are capped at 4", "number 4"),
        ("Retries are not capped", "denies what the lesson affirms"),
    ],
)
def test_a_stated_title_is_checked_against_its_lesson(title: str, fault: str) -> None:
    reason = fault_of(title, "Retries are capped at 3 by `make a b c d e f g h`, again")
    assert fault in reason
    assert bool(reason) == bool(fault)


def test_a_models_title_stays_if_it_is_right_and_is_made_anew_if_it_is_not() -> None:
    insight = "The gateway must not be retried on 409, because the order exists already"
    assert settled_title("Do not retry the gateway on 409", insight) == "Do not retry the gateway on 409"
    for wrong in ("Retry the gateway on 409", "Gateway retries", "Do not retry the gateway on 429", ""):
        assert settled_title(wrong, insight) == "The gateway must not be retried on 409"
    assert settled_title("The bank bans us for retries on 409", insight, why="the bank bans us") != ""


def test_a_rules_title_is_shortened_and_a_cut_one_made_anew() -> None:
    insight = "Run `make fmt` before a commit"
    assert kept_title("`pytest` needs `A=1` in front here", insight) == "`pytest` needs `A=1` in front here"
    for weak in ("", "Formatting", "Run the formatter of the whole project before\u2026"):
        assert kept_title(weak, insight) == insight
    long = "Run `make db` first, because the tests of the store need a server with the newest schema of all"
    assert kept_title(long, insight) == "Run `make db` first"


def test_a_stated_title_is_cut_between_words_at_a_hundred_characters() -> None:
    assert clipped(" a  b\nc") == "a b"
    assert clipped("word " * 40) == "word " * 18 + "word word\u2026"[5:]
    assert clipped("t" * 101) == "t" * 99 + "\u2026"


def test_no_title_of_two_thousand_negated_sentences_changes_a_negation_a_number_or_a_name() -> None:
    """What a title says is compared without this package: each negation still stands before the same word."""
    fillers = {"a", "an", "the", "really", "simply", "actually"}
    cut = long = 0
    for sentence in sentences():
        title = make_title(sentence)
        words = [word.strip(".,;:()\u2026").lower() for word in sentence.split()]
        words = [word for word in words if word and word not in fillers]
        own = [word.strip(".,;:()\u2026").lower() for word in title.split()]
        own = [word for word in own if word and word not in fillers]
        pairs = list(zip(words, [*words[1:], ""], strict=True))
        for word, following in zip(own, [*own[1:], ""], strict=True):
            if re.fullmatch(r"not|never|no|nor|neither|cannot|without|unless|except|\w+n't", word):
                assert (word, following) in pairs, (sentence, title)
        for word, following in pairs:
            if re.fullmatch(r"not|never|no|cannot|\w+n't", word) and words.count(following) == 1 and following in own:
                assert word in own, (sentence, title)
        assert {*read(title).numbers} <= {*read(sentence).numbers}, (sentence, title)
        assert {*read(title).names} <= {*read(sentence).names}, (sentence, title)
        cut += "\u2026" in title
        long += len(title.split()) > WORDS_MOST
    assert long < 100
    assert cut < 600


@pytest.mark.parametrize(
    "text", ["a. " * 2_000, "(" * 4_000, "not " * 1_000, "x" * 4_000, "` " * 2_000, "\0", "é\n" * 900]
)
def test_huge_and_odd_texts_give_a_title_within_the_limit(text: str) -> None:
    assert 0 < len(make_title(text)) <= CHARACTERS_MOST
    assert make_title("") == ""


@given(st.text(max_size=INSIGHT_LIMIT // 4))
def test_any_text_gives_a_title_within_the_limit_or_none(text: str) -> None:
    title = make_title(text)
    assert len(title) <= CHARACTERS_MOST
    assert bool(title.strip()) == bool(text.strip())
    assert make_title(title) is not None
    is_topic(text)
    fault_of(text, title)


@pytest.mark.parametrize(
    ("title", "insight", "expected"),
    [
        (
            "Fix an empty type at the source, not by fallbacks everywhere",
            "When a type is empty, fix it at the source; the reader has fallbacks everywhere.",
            "Fix an empty type at the source",
        ),
        (
            "A harbour may hold several vessels of a fleet, the newest at the quay",
            "A harbour may hold several vessels of a fleet, with the newest one at the quay.",
            "Harbour may hold several vessels of fleet, newest at quay",
        ),
        (
            "Pilots announce nothing",
            "When the tide table of the northern harbour is older than all others are, announce the vessel first.",
            "Announce the vessel first",
        ),
    ],
)
def test_of_a_stated_title_what_is_wrong_goes_and_the_rest_stays(title: str, insight: str, expected: str) -> None:
    assert settled_title(title, insight) == expected


def test_a_title_never_states_what_a_correction_calls_wrong() -> None:
    insight = "Verify a claim with git log before trusting the tool; wrong: merges to main carry no trailers."
    assert make_title(insight) == "Verify a claim with git log before trusting the tool"
    assert make_title("For a list of files: wrong: gh pr diff --stat; right: gh pr diff --name-only.").endswith(
        "gh pr diff --name-only"
    )
