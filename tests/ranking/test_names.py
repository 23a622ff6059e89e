"""Whether a question names a lesson: by topic key or tag, with a slip of the keyboard forgiven."""

from __future__ import annotations

import pytest

from holdfast.ranking.relevance import EVERYDAY_NAME, TELLING, UNNAMED, naming, runs_of
from holdfast.ranking.tuning import NAME_CHARACTERS, SLIPS_AMONG
from holdfast.testing.builders import make_lesson


def named(text: str, *names: str) -> int:
    return naming(make_lesson(tags=names), runs_of(text))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("where do dead letters go", "dead letter"),
        ("is K8S up?", "k8s"),
        ("use react.js here", "react.js"),
        ("what about Mongoose", "moongoose"),
        ("a kuberentes question", "Kubernetes"),
        ("kuberntes settings", "kubernetes"),
        ("redis, please", "redis"),
    ],
)
def test_a_name_in_the_question_is_found(text: str, name: str) -> None:
    assert named(text, name) == TELLING


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("letters to the dead", "dead letter"),
        ("mango pooling", "mongo"),  # a wrong letter is another word
        ("k9s", "k8s"),
        ("how do I reach it", "react"),
        ("predis", "redis"),  # the first letter is sure
        ("", "redis"),
        ("redis", ""),
        ("all of it", "a name of too many words to be one"),
    ],
)
def test_what_only_looks_alike_is_no_name(text: str, name: str) -> None:
    assert named(text, name) == UNNAMED


def test_an_everyday_word_is_hardly_a_name() -> None:
    assert named("the tests fail", "test") == EVERYDAY_NAME
    assert named("the tests fail", "test", "the tests") == TELLING


def test_the_topic_key_is_a_name() -> None:
    assert naming(make_lesson(topic_key="error_handling"), runs_of("on error handling")) == TELLING


def test_a_name_of_more_than_four_words_or_a_run_of_more_has_no_slip() -> None:
    assert named("the dead letter queue topic", "dead let ter queue topic") == UNNAMED
    assert named("the dead let ter queue topic", "dead letter queue topic") == UNNAMED
    assert named("the deadletter queue", "dead letter queue") == TELLING


def test_an_everyday_name_stays_hardly_a_name_whatever_other_names_are_not_there() -> None:
    assert named("the tests fail", "walrus", "test", "heron") == EVERYDAY_NAME
    assert named("the tesst", "test", "tests") == UNNAMED
    assert named("the walrus tests", "test", "walrus", "test") == TELLING


@pytest.mark.parametrize(
    ("text", "is_slip"),
    [
        ("kubernete", True), ("kubernetess", True), ("kuberneets", True), ("kubernetesss", False), ("kubernet", False),
        ("ukbernetes", False), ("kubernetea", False), ("kbuernetse", False), ("kubernees", True), ("kubernnetes", True),
    ],
)  # fmt: skip
def test_one_letter_more_or_less_or_two_swapped_is_a_slip(text: str, is_slip: bool) -> None:
    assert (named(text, "kubernetes9") == TELLING) is False
    assert (named(f"{text}9", "kubernetes9") == TELLING) is is_slip


def test_slips_are_not_looked_for_in_a_long_text() -> None:
    assert named("kuberntes " + "word " * 60, "kubernetes") == UNNAMED
    assert named("kubernetes " + "word " * 60, "kubernetes") == TELLING


def test_names_stand_in_the_beginning_of_a_question_and_slips_in_a_short_one() -> None:
    assert named("oil".rjust(NAME_CHARACTERS), "oil") == TELLING
    assert named("oil".rjust(NAME_CHARACTERS + 1), "oil") == UNNAMED
    assert named("kakfa" + " word" * (SLIPS_AMONG - 1), "kafka") == TELLING
    assert named("kakfa" + " word" * SLIPS_AMONG, "kafka") == UNNAMED
    assert named("drat", "dart") == UNNAMED
