"""What is said in a conversation becomes a sentence that stands alone, or nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.detectors._shared.wording import headline, is_norm, stand_alone

RULES = {
    "can we use `orderId` instead of `oid` in src/orders.ts?": "Use `orderId` instead of `oid` in src/orders.ts.",
    "Can we not commit the notes in docs/testing?": "Do not commit the notes in docs/testing.",
    "could you please always run the linter before a commit?": "Always run the linter before a commit.",
    "should we be using the date helper from textutil?": "We should use the date helper from textutil.",
    "why don't we keep the parser in one module?": "Keep the parser in one module.",
    "why not adding the cache folder to .gitignore?": "Add the cache folder to .gitignore.",
    "I'm wondering if we should rather fail on a missing file": "We should fail on a missing file.",
    "shouldn't the timeout be read from the settings?": "The timeout should be read from the settings.",
    "we only write to the branch if files have changed, right?": "We only write to the branch if files have changed.",
}


@pytest.mark.parametrize(("sentence", "rule"), RULES.items(), ids=str)
def test_a_rule_in_a_question_becomes_a_statement(sentence: str, rule: str) -> None:
    assert stand_alone(sentence).text == rule


@pytest.mark.parametrize(
    ("sentence", "rule"),
    [
        ("we should not log the customer_id in checkout()", "We should not log the customer_id in checkout()."),
        ("we should not touch/polute the default ssh config", "We should not touch/polute the default ssh config."),
        ("ok, so we should never retry on 4xx", "We should never retry on 4xx."),
        ("We should not use print, right?", "We should not use print."),
        ("should we not retry on 4xx?", ""),
        ("I wonder if we should not retry on 4xx", ""),
        ("Why Not Just Reset the Shadow Branch?", ""),
        ("why can't we use the cache?", ""),
    ],
)
def test_a_rule_that_denies_is_never_turned_into_one_that_does_not(sentence: str, rule: str) -> None:
    assert stand_alone(sentence).text == rule


@pytest.mark.parametrize(
    "sentence",
    [
        "can you take a look at the failing job?",
        "can we add a test for the new flag?",
        "why is the build red?",
        "how does the session get its name?",
        "is this the right folder for the helper?",
        "are the tests green now, or do we need another run?",
        "what about the second branch?",
        "why not?",
    ],
)
def test_a_question_without_a_rule_is_no_statement(sentence: str) -> None:
    assert stand_alone(sentence).text == ""


@pytest.mark.parametrize(
    ("sentence", "left"),
    [
        ("ok, so I think we should keep the old format", "We should keep the old format."),
        ("no wait, the hook needs the full path", "The hook needs the full path."),
        ("Q: the index is rebuilt on every start", "The index is rebuilt on every start."),
        ("2. the index is rebuilt on every start", "The index is rebuilt on every start."),
        ("the cache is shared between workers, can you check?", "The cache is shared between workers."),
        ("the cache is shared between workers :)", "The cache is shared between workers."),
        ("(we use the library to not need a checkout)", "We use the library to not need a checkout."),
        ("no longer needed flags stay for one release", "No longer needed flags stay for one release."),
        ("now that Go 1.24 is out tests run in parallel", "Now that Go 1.24 is out tests run in parallel."),
        ("Good - the parser reads the whole file", "The parser reads the whole file."),
        ("well-known names come first", "well-known names come first."),
        ("I see the issue - the hook runs twice on a merge", "The hook runs twice on a merge."),
        ("the issue is that the hook runs twice on a merge", "The hook runs twice on a merge."),
        ("an id in the paths package is not fully correct", "An id in the paths package is not fully correct."),
        ("parseArgs() returns null on an empty line", "parseArgs() returns null on an empty line."),
    ],
)  # fmt: skip
def test_openings_and_endings_of_talk_go(sentence: str, left: str) -> None:
    assert stand_alone(sentence).text == left


@pytest.mark.parametrize(
    "sentence",
    [
        "it must be read before the first prompt",
        "this is still wrong on Windows machines",
        "keep them apart until the next release",
        "don't give it a number in the file",
        "for 4: option 2 sounds better to me",
        "the first part is not correct as far as I see",
        "I would like to look at option 2 first",
        "there are three ways to mend the parser:",
        "which removes the folder from the list",
        "let me run the tests again",
        "I can see the tests are failing because of the old format",
        "3, but enabled by default",
        "the changes you made break the parser",
    ],
)
def test_what_leans_on_the_conversation_is_no_statement(sentence: str) -> None:
    assert stand_alone(sentence).text == ""


def test_a_leaning_sentence_takes_the_one_before_along() -> None:
    wording = stand_alone("It drops the connection after a failure.", "The pool keeps ten clients.")
    assert wording.text == "The pool keeps ten clients. It drops the connection after a failure."
    assert wording.with_before


@pytest.mark.parametrize(
    "before", ["", "That is how it goes.", "Is the pool full?", "There are two reasons:", "x" * 300]
)
def test_a_leaning_sentence_does_not_take_a_leaning_one_along(before: str) -> None:
    assert stand_alone("It drops the connection after a failure.", before).text == ""


def test_a_norm_behind_a_leaning_part_stands_for_the_whole() -> None:
    sentence = "that is not correct, we don't ignore the whole config folder"
    assert stand_alone(sentence).text == "We don't ignore the whole config folder."


def test_the_condition_comes_first() -> None:
    assert stand_alone("run make gen when a proto file changed").text == "When a proto file changed, run make gen."
    assert stand_alone("use the cache unless it is stale").text == "Use the cache unless it is stale."


@pytest.mark.parametrize(
    "rule",
    [
        "We should use the strong types instead of strings wherever we can.",
        "We don't gitignore the whole config folder.",
        "Never hardcode an agent's name.",
        "Use orderId instead of oid.",
        "Other places use the library, we only shell out for the work tree.",
    ],
)
def test_a_norm_is_known_by_its_form(rule: str) -> None:
    assert is_norm(rule)


@pytest.mark.parametrize(
    "sentence",
    [
        "We should add a column for the name.",
        "I guess we don't always have the name.",
        "Add a test so we don't break the parser again.",
        "If we don't have a name, the parser fails.",
        "We don't set the branch up properly.",
        "Don't fix the parser, but validate that it works.",
        "The parser reads the settings.",
    ],
)
def test_a_task_a_doubt_and_a_fact_are_no_norms(sentence: str) -> None:
    assert not is_norm(sentence)


def test_a_headline_ends_where_the_reason_begins() -> None:
    long = "Use the library's plumbing for other branches, because a checkout of them would touch the files of the user"
    assert headline(long, 60) == "Use the library's plumbing for other branches"
    assert headline("Use tabs.", 60) == "Use tabs."
    assert headline("The cache (one a worker, since 2.0) is shared by all of the tests", 60) == (
        "The cache is shared by all of the tests"
    )
    assert headline("word " * 40, 60).endswith("word…")


@given(st.text(max_size=400), st.text(max_size=200))
def test_any_text_gives_a_wording_of_bounded_length(sentence: str, before: str) -> None:
    wording = stand_alone(sentence, before)
    assert len(wording.text) <= len(sentence) + len(before) + 40
    assert "?" not in wording.text
    assert len(headline(sentence, 100)) <= 100
    assert stand_alone(wording.text).text in ("", wording.text) or not wording.with_before
