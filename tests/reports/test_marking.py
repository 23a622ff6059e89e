"""The words of a question in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.reports.marking import excerpt, mark, marks_of
from holdfast.reports.tuning import EXCERPT_BEFORE, EXCERPT_SHOWN


def marked(text: str, question: str) -> str:
    return "".join(f"[{piece.text}]" if piece.is_match else piece.text for piece in mark(text, marks_of(question)))


@pytest.mark.parametrize(
    ("text", "question", "expected"),
    [
        ("Retries are capped at 5", "retry", "[Retries] are capped at 5"),
        ("retry, then RETRY", "Retries", "[retry], then [RETRY]"),
        ("Call CarrierClient.status first", "carrier", "Call [CarrierClient].status first"),
        ("a file_edit", "edit", "a [file_edit]"),
        ("retries in the carrier", "the in", "retries in the carrier"),
        ("先に起動する", "起動", "先に[起動]する"),
        ("nothing here", "", "nothing here"),
        ("", "word", ""),
        ("<b>word</b>", "word", "<b>[word]</b>"),
    ],
)  # fmt: skip
def test_words_of_the_question_are_marked_whatever_their_ending(text: str, question: str, expected: str) -> None:
    assert marked(text, question) == expected


@given(st.text(max_size=80), st.text(max_size=30))
def test_the_pieces_are_the_text(text: str, question: str) -> None:
    assert "".join(piece.text for piece in mark(text, marks_of(question))) == text


def test_a_long_text_is_cut_at_words_around_the_first_word_of_the_question() -> None:
    words = " ".join(f"filler{number}" for number in range(100))
    part = excerpt(f"{words} needle {words}", marks_of("needle"))
    assert part.startswith("… filler")
    assert part.endswith(" …")
    assert part.index("needle") <= EXCERPT_BEFORE + len("… filler99 ")
    assert len(part) <= EXCERPT_SHOWN + 4
    assert excerpt("short\n text", marks_of("x")) == "short text"
    assert excerpt(words, marks_of("")).startswith("filler0 filler1")


@given(st.text(max_size=900), st.text(max_size=20))
def test_an_excerpt_is_never_much_longer_than_allowed(text: str, question: str) -> None:
    assert len(excerpt(text, marks_of(question))) <= EXCERPT_SHOWN + 4
