from __future__ import annotations

import pytest

from holdfast.domain.briefing import LaneShare
from holdfast.ranking.bar import ASKED, PUSHED, passes, passes_by_words
from holdfast.ranking.relevance import Fit, fit_of, lesson_stems, stem, weigh
from holdfast.testing.builders import make_lesson

LESSON = make_lesson(
    insight="The retry queue must be drained before shutdown; jobs are lost otherwise.",
    path="src/queue/worker.py",
    symbol="Worker.drainQueue",
)


def fit(question: str) -> Fit:
    return fit_of(weigh(question), lesson_stems(LESSON))


@pytest.mark.parametrize(
    ("form", "other_form"),
    [("retries", "retry"), ("draining", "drained"), ("jobs", "job"), ("stopped", "stop"), ("caches", "cache")],
)
def test_forms_of_a_word_have_one_stem(form: str, other_form: str) -> None:
    assert stem(form) == stem(other_form)


@pytest.mark.parametrize(
    ("word", "root"),
    [
        ("cat", "cat"), ("cats", "cat"), ("ties", "tie"), ("flies", "fly"), ("glass", "glass"), ("status", "status"),
        ("basis", "basis"), ("king", "king"), ("doing", "doing"), ("making", "mak"), ("need", "need"), ("freed", "fre"),
        ("stopping", "stop"), ("added", "add"), ("calling", "call"), ("code", "code"), ("cache", "cach"),
        ("buzzing", "buzz"), ("abcs2", "abcs2"), ("putting", "putt"),
    ],
)  # fmt: skip
def test_a_stem_is_cut_from_words_that_are_long_enough(word: str, root: str) -> None:
    assert stem(word) == root


@pytest.mark.parametrize(
    "question",
    [
        "why do we lose jobs when the retry queue is shut down",
        "draining the retry queue",
        "please fix drainQueue so that retries survive a shutdown",
    ],
)
def test_a_question_about_the_lesson_passes_the_bar(question: str) -> None:
    assert passes_by_words(fit(question), PUSHED)


@pytest.mark.parametrize(
    "question",
    [
        "what is the capital of Portugal",
        "yes, go ahead",
        "add a test for the new file and update the docs",
        "the build is red, please fix the error in the function",
        "bump the version before the release and write the notes",
        "",
    ],
)
def test_everyday_words_do_not(question: str) -> None:
    assert not passes_by_words(fit(question), PUSHED)


def test_who_asks_is_answered_by_weaker_matches_than_are_pushed() -> None:
    weak = fit("how does the worker treat a shutdown signal of the idle container in a Kubernetes cluster overnight")
    assert passes_by_words(weak, ASKED)
    assert not passes_by_words(weak, PUSHED)


def test_a_shared_name_or_place_is_enough_and_a_neighbour_is_not() -> None:
    def share(lane: str, raw: float) -> tuple[LaneShare]:
        return (LaneShare(lane=lane, rank=1, raw=raw, share=0.1),)

    assert passes(share("exact", 0.9), Fit(), PUSHED)
    assert passes(share("path", 1.0), Fit(), PUSHED)
    assert not passes(share("path", 0.4), Fit(), PUSHED)
    assert not passes(share("exact", 0.1), Fit(), PUSHED)
    assert not passes(share("recent", 1e9), Fit(), PUSHED)
    assert not passes(share("text", 30.0), Fit(), PUSHED)
