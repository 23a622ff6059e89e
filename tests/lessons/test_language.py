"""A text's language is told by its function words or its script, or not at all."""

from __future__ import annotations

import pytest

from holdfast.lessons.material import FOREIGN_LETTERS, LEAST_WORDS, NOT_LATIN, language_of


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The pool is opened after the fork.", "en"),
        ("Bitte auf jedem Rechner den Dienst installieren, sonst wird der Zugang gesperrt.", "de"),
        ("Les modifications sont fusionnées par leur auteur, sans autre regard.", "fr"),
        ("所有数据库访问都应使用 dbrocket 包", NOT_LATIN),
        ("\u0412\u0441\u0435 \u0437\u0430\u043f\u0440\u043e\u0441\u044b", NOT_LATIN),
        ("def high(tide): return tide + 1", ""),
        ("3 passed, 1 failed", ""),
        ("the", ""),
        ("", ""),
        ("the and der und", ""),
    ],
)
def test_a_language_is_named_by_two_words_of_its_own_or_by_a_quarter_of_its_letters(text: str, language: str) -> None:
    assert language_of(text) == language


def test_a_quarter_of_foreign_letters_is_not_enough() -> None:
    assert (LEAST_WORDS, FOREIGN_LETTERS) == (2, 0.25)
    assert language_of("abc д") == ""
    assert language_of("abc дд") == NOT_LATIN
