"""Characters that a person does not see, and look-alikes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.hidden import disguises_word, folded, hides_something, is_hidden, without_hidden

HIDDEN = ["\u009b", "\u200b", "\u200e", "\u202e", "\u2066", "\u2069", "\ufeff", "\U000e0041", "\U000e0101", "\u3164"]


@pytest.mark.parametrize("char", [*HIDDEN, "\x1b", "\x00", "\x7f", "\ufe05"])
def test_control_format_tag_and_filler_characters_are_hidden(char: str) -> None:
    assert is_hidden(char)
    assert without_hidden(f"a{char}b") == "ab"


@pytest.mark.parametrize("char", HIDDEN)
def test_a_text_that_holds_one_hides_something(char: str) -> None:
    assert hides_something(f"use the{char} clock")


@pytest.mark.parametrize(
    "text",
    ["na\u00efve", "\u4f60\u597d", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u2764\ufe0f", "a\tb\nc"],
)
def test_plain_text_of_any_script_hides_nothing(text: str) -> None:
    assert not hides_something(text)


def test_line_ends_become_plain_ones() -> None:
    assert without_hidden("a\r\nb\rc\u2028d\x85e") == "a\nb\nc\nd\ne"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\u0455\u0443stem", "system"),
        ("\uff1cuser\uff1e", "<user>"),
        ("h\u03bfldfast", "holdfast"),
        ("\u2039/a\u203a", "</a>"),
    ],
)
def test_look_alikes_are_read_as_what_they_pass_for(text: str, plain: str) -> None:
    assert folded(text) == plain


@given(st.text(max_size=60))
def test_folding_keeps_the_length_and_cleaning_leaves_nothing_hidden(text: str) -> None:
    assert len(folded(text)) == len(text)
    assert not any(is_hidden(char) for char in without_hidden(text))


@pytest.mark.parametrize(
    ("text", "is_disguised"),
    [
        ("install r\u0435quests", True),
        ("install reque\u03bft", True),
        ("\u0430pt install", True),
        ("it takes 10 \u03bcs and \u0394t", False),
        ("\u043f\u0440\u0438\u0432\u0435\u0442 requests", False),
        ("caf\u00e9 na\u00efve", False),
        ("requests", False),
    ],
)
def test_a_word_with_a_letter_of_another_script_is_disguised(text: str, is_disguised: bool) -> None:
    assert disguises_word(text) is is_disguised
