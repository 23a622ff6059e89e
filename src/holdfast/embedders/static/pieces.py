"""Cuts texts into word pieces: BERT's uncased words, cut greedily into the longest pieces of a vocabulary.

As in BERT, accents are stripped, letters lowered, and a word's later pieces are written `##piece`. Two things differ,
because the texts are about code: an identifier is split where its case changes (`takeSnapshot` would otherwise start
with the piece `takes`), and punctuation marks are not words.

Source: Devlin et al., NAACL 2019; Wu et al. 2016, "Google's Neural Machine Translation System" (word pieces).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

LONGEST_WORD = 100
"""Characters; a longer word has no pieces."""
KEPT_WORDS = 50_000
"""Words whose pieces are remembered."""
CONTROLS = dict.fromkeys(code for code in (*range(32), 127) if code not in (9, 10, 13))
DROPPED = ("Mn", "Cf")
"""Categories of characters that are dropped without ending a word: separated accents, format marks."""
CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f"
WORD = re.compile(rf"[{IDEOGRAPHS}]|[^\W_{IDEOGRAPHS}]+")
"""An ideograph or kana is a separate word: such scripts have no spaces."""


class WordPieces:
    """A vocabulary that cuts texts. A piece's row is its position in the vocabulary."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._rows = {piece: row for row, piece in enumerate(vocabulary)}
        self._known: dict[str, tuple[int, ...]] = {}

    def cut(self, text: str) -> tuple[list[int], list[str]]:
        """Return the rows of the text's pieces in order, and the words that cannot be made of pieces."""
        rows: list[int] = []
        strange: list[str] = []
        for word in words_of(text):
            pieces = self._known.get(word)
            if pieces is None:
                pieces = self._remember(word)
            rows += pieces
            if not pieces:
                strange.append(word)
        return rows, strange

    def _remember(self, word: str) -> tuple[int, ...]:
        if len(self._known) >= KEPT_WORDS:
            self._known.clear()
        pieces = self._known[word] = tuple(self._longest_first(word)) if len(word) <= LONGEST_WORD else ()
        return pieces

    def _longest_first(self, word: str) -> Iterator[int]:
        """Yield rows of the longest pieces from the left; nothing if a part of the word has no piece."""
        rows = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if mark + word[start:end] in self._rows), 0)
            if not end:
                return
            rows.append(self._rows[mark + word[start:end]])
            start = end
        yield from rows


def words_of(text: str) -> list[str]:
    """Return the text's words: runs of letters and digits, without accents, in lower case, identifiers split."""
    text = CASE_CHANGE.sub(" ", text.translate(CONTROLS))
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) not in DROPPED)
    return WORD.findall(text.lower())
