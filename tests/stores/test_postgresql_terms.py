"""Words on PostgreSQL are cut and stemmed as SQLite's FTS5 does it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.store_questions import HOSTILE

from holdfast.lean.plain import clean
from holdfast.stores.postgresql.derived import columns_of, joined, phrase, terms_in, weights_of
from holdfast.stores.postgresql.terms import stems_of
from holdfast.testing.builders import make_lesson
from holdfast.text.words import word_set

SUFFIXES = sorted(
    word_set(
        """
        ational tional enci anci izer logi bli alli entli eli ousli ization ation ator alism iveness fulness ousness
        aliti iviti biliti ical ness icate iciti ful ative alize al ance ence er ic able ible ant ement ment ent ion
        sion tion ou ism ate iti ous ive ize ed ing eed s ies sses y e ll at bl iz
        """
    )
)


@pytest.fixture(scope="module")
def full_text() -> Iterator[sqlite3.Connection]:
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE texts USING fts5 (text, tokenize = 'porter unicode61')")
        connection.execute("CREATE VIRTUAL TABLE terms USING fts5vocab (texts, instance)")
        yield connection
    connection.close()


def stems_by_fts5(connection: sqlite3.Connection, text: str) -> list[str]:
    connection.execute("DELETE FROM texts")
    connection.execute("INSERT INTO texts VALUES (?)", (text,))
    return [term for (term,) in connection.execute("SELECT term FROM terms ORDER BY offset")]


@given(st.lists(st.builds(str.__add__, st.text("abcdeghilnorstuvwyz", max_size=7), st.sampled_from(SUFFIXES))))
def test_english_words_have_the_stems_that_fts5_gives_them(full_text: sqlite3.Connection, words: list[str]) -> None:
    text = " ".join(words)
    assert stems_of(text) == stems_by_fts5(full_text, text)


@given(st.text(st.characters(max_codepoint=0x24F, exclude_characters="\0")))
def test_latin_texts_are_cut_as_fts5_cuts_them(full_text: sqlite3.Connection, text: str) -> None:
    assert stems_of(text) == stems_by_fts5(full_text, text)


@pytest.mark.parametrize("text", [text for text in HOSTILE if "\0" not in text and clean(text) == text])
def test_any_script_is_cut_as_fts5_cuts_it(full_text: sqlite3.Connection, text: str) -> None:
    if len(text) < 1_000:  # a longer word is shortened to a key
        assert stems_of(text) == stems_by_fts5(full_text, text)


def test_a_phrase_stands_where_its_stems_are_neighbours_in_one_column() -> None:
    text = joined([["a", "b", "a", "b"], ["c"], ["a"]])
    assert text.count(phrase(["a", "b"])) == 2
    assert text.count(phrase(["b", "a"])) == 1
    assert phrase(["b", "c"]) not in text


def test_a_term_weighs_as_often_as_it_occurs_times_its_column() -> None:
    columns = columns_of(make_lesson(title="walrus", insight="walrus walrus", error_signature="WalrusError: 7"))
    weights = weights_of(columns)
    assert weights["walru"] >= 5 + 2 * 3
    assert (weights["!walruserror"], weights["!7"]) == (1, 1)
    assert set(terms_in(joined(columns))) == set(weights)
