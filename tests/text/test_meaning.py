"""A text in another form keeps its negations, numbers and names; a shorter one never says the opposite."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.detectors._shared.wording import stand_alone
from holdfast.text import meaning
from holdfast.text.meaning import keeps_meaning, limits, opposes, read, reverses
from tests.text.negations import sentences


def test_the_reaches_are_those_that_the_tests_below_were_written_for() -> None:
    assert (meaning.SCOPE, meaning.REPEATED) == (6, 0.6)


def test_a_reading_tells_negations_numbers_and_names_apart() -> None:
    reading = read("Don't pass `--force` 3 times to src/a.py; NOT twice, and `not this`.")
    assert [reading.words[at] for at in reading.negations] == ["don't", "not"]
    assert (reading.numbers, reading.names) == (("3",), ("--force", "not this", "src/a.py"))


@pytest.mark.parametrize(
    ("source", "rewritten"),
    [
        ("we should not log ids", "We should not log ids."),
        ("no, the hook needs the full path", "The hook needs the full path."),
        ("can we not commit notes?", "Do not commit notes."),
        ("shouldn't we use the cache?", "We should use the cache."),
        ("why not use the cache?", "Use the cache."),
        ("2. retry 3 times", "Retry 3 times."),
        ("use `a.py` if b_c is not set", "If b_c is not set, use `a.py`."),
        ("never call it, and don't read it", "Don't read it, and never call it"),
    ],
)
def test_the_same_in_another_form_keeps_its_meaning(source: str, rewritten: str) -> None:
    assert keeps_meaning(source, rewritten)


@pytest.mark.parametrize(
    ("source", "rewritten"),
    [
        ("we should not log ids", "We should log ids."),
        ("we should log ids", "We should not log ids."),
        ("retry 3 times", "Retry 4 times."),
        ("retry 3 times", "Retry."),
        ("use `a.py`", "Use `b.py`."),
        ("call load_all()", "Call it."),
        ("do not read but write", "Do read but not write."),
        ("we won't retry", "We retry."),
        ("use it unless it is stale", "Use it."),
    ],
)
def test_another_meaning_is_noticed(source: str, rewritten: str) -> None:
    assert not keeps_meaning(source, rewritten)


@pytest.mark.parametrize(
    ("text", "source", "reason"),
    [
        ("Never push to main", "Do not push to main directly, open a branch", ""),
        ("Avoid default exports", "Do not use default exports", ""),
        ("Use pnpm, not npm", "Use pnpm instead of npm", ""),
        ("Retry three times", "Retry at most three times", ""),
        ("Push to main", "Do not push to main", "denies"),
        ("Never push to main", "Push to main every evening", "denies what the lesson affirms"),
        ("Nothing is shared", "The cache is warm", "negation that the lesson lacks"),
        ("Retry 4 times", "Retry 3 times", "number 4"),
        ("Call `load_all`", "Call load_some", "`load_all`"),
    ],
)
def test_a_shorter_text_is_compared_with_what_it_stands_for(text: str, source: str, reason: str) -> None:
    assert reason in opposes(text, source)
    assert bool(opposes(text, source)) == bool(reason)


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("We should touch the default ssh config.", "we should not touch/polute the default ssh config", True),
        ("We should log the customer_id.", "we should not log the customer_id", True),
        ("We should not log the customer_id.", "we should log the customer_id", True),
        ("Ids are logged by the server alone.", "we should not log the customer_id", False),
        ("Never log the customer_id.", "we should not log the customer_id", False),
    ],
)
def test_a_text_that_repeats_its_source_must_not_reverse_it(text: str, source: str, expected: bool) -> None:
    assert reverses(text, source) == expected


@pytest.mark.parametrize(("text", "expected"), [("unless it rains", True), ("isn\u2019t so", True), ("a knot", False)])
def test_words_that_limit(text: str, expected: bool) -> None:
    assert limits(text) == expected


def test_no_wording_of_two_thousand_negated_sentences_changes_a_negation() -> None:
    count = worded = 0
    for sentence in sentences():
        negations = len(
            re.findall(r"\b(?:not|never|cannot|neither|nor|no longer|unless|without|nobody|except|\w+n't)\b", sentence)
        )
        count += 1
        text = stand_alone(sentence).text
        worded += bool(text)
        if text:
            assert len(read(text).negations) == negations, (sentence, text)
            assert read(text).names == read(sentence).names, (sentence, text)
    assert count > 2_000
    assert worded > count * 0.7


@given(st.text(max_size=300), st.text(max_size=300))
def test_any_text_can_be_compared(text: str, other: str) -> None:
    keeps_meaning(text, other)
    assert keeps_meaning(text, text)
    opposes(text, other)
    reverses(text, other)
