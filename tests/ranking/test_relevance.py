from __future__ import annotations

import pytest
from tests.ranking.thresholds import meets_threshold

from holdfast.domain.briefing import RetrieverShare
from holdfast.ranking import relevance
from holdfast.ranking.relevance import LexicalOverlap, lesson_stems, overlap_of, stem, weigh
from holdfast.ranking.threshold import ASKED, PUSHED, words_meet_threshold
from holdfast.testing.builders import make_lesson
from holdfast.text.words import WORD_LIMIT

LESSON = make_lesson(
    insight="The retry queue must be drained before shutdown; jobs are lost otherwise.",
    path="src/queue/worker.py",
    symbol="Worker.drainQueue",
)


def overlap(question: str) -> LexicalOverlap:
    return overlap_of(weigh(question), lesson_stems(LESSON))


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


@pytest.mark.parametrize("word", ["gas", "as", "ipv4s", "k8s", "x2ing", "e2ed"])
def test_a_short_word_and_a_word_with_a_digit_are_their_own_stem(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize(
    ("question", "stems", "fits"),
    [
        ("log", {"blogger"}, False),
        ("log", {"log"}, True),
        ("気", {"天気"}, True),
        ("気", {"天"}, False),
        ("気", {"気"}, True),
    ],
)
def test_a_word_is_whole_and_a_character_of_a_script_in_runs_is_a_part(
    question: str, stems: set[str], fits: bool
) -> None:
    assert bool(overlap_of(weigh(question), frozenset(stems)).matched) is fits


def test_an_empty_question_fits_nothing() -> None:
    assert overlap_of(weigh(""), lesson_stems(LESSON)) == LexicalOverlap()


def test_stems_of_chunks_are_stored_up_to_a_number_and_a_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relevance, "KNOWN_CHUNKS", 2)
    known = relevance._Known()
    for chunk, remembered in (
        ("cats", ["cats"]),
        ("dogs", ["cats", "dogs"]),
        ("cats", ["cats", "dogs"]),
        ("cows", ["cows"]),
    ):
        assert known[chunk] == (chunk[:-1],)
        assert list(known) == remembered
    longest = "x" * WORD_LIMIT
    assert known[longest]
    assert known[longest + "x"] is not None
    assert list(known) == ["cows", longest]


@pytest.mark.parametrize(
    "question",
    [
        "why do we lose jobs when the retry queue is shut down",
        "draining the retry queue",
        "please fix drainQueue so that retries survive a shutdown",
    ],
)
def test_a_question_about_the_lesson_passes_the_bar(question: str) -> None:
    assert words_meet_threshold(overlap(question), PUSHED)


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
    assert not words_meet_threshold(overlap(question), PUSHED)


def test_who_asks_is_answered_by_weaker_matches_than_are_pushed() -> None:
    weak = overlap(
        "how does the worker treat a shutdown signal of the idle container in a Kubernetes cluster overnight"
    )
    assert words_meet_threshold(weak, ASKED)
    assert not words_meet_threshold(weak, PUSHED)


def test_a_shared_name_or_place_is_enough_and_a_neighbour_is_not() -> None:
    def share(retriever: str, raw: float) -> tuple[RetrieverShare]:
        return (RetrieverShare(lane=retriever, rank=1, raw=raw, share=0.1),)

    assert meets_threshold(share("exact", 0.9), LexicalOverlap(), PUSHED)
    assert meets_threshold(share("path", 1.0), LexicalOverlap(), PUSHED)
    assert not meets_threshold(share("path", 0.4), LexicalOverlap(), PUSHED)
    assert not meets_threshold(share("exact", 0.1), LexicalOverlap(), PUSHED)
    assert not meets_threshold(share("recent", 1e9), LexicalOverlap(), PUSHED)
    assert not meets_threshold(share("text", 30.0), LexicalOverlap(), PUSHED)
