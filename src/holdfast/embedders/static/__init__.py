"""Embeds with a table that ships with the package: a text's vector is the weighted sum of its word pieces' rows.

Nothing is downloaded and no text leaves the process. scripts/distil_embedder.py distilled the table from
all-MiniLM-L6-v2 on software text; docs/explanation/static-embedder.md describes how, and its quality. The table is read
for the first text, after its checksum is compared. Options: none.

Word pieces are BERT's uncased words, cut greedily into the longest pieces of a vocabulary. As in BERT, accents are
stripped, letters lowered, and a word's later pieces are written `##piece`. Two things differ, because the texts are
about code: an identifier is split where its case changes (`takeSnapshot` would otherwise start with the piece `takes`),
and punctuation marks are not words. Sources: Devlin et al., NAACL 2019; Wu et al. 2016, "Google's Neural Machine
Translation System" (word pieces).

A word that cannot be made of known pieces (another script, a hash) gets its own direction, drawn from its SHA-256: it
is similar only to itself. A text without words gets the empty word's direction.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import file_digest, sha256
from typing import TYPE_CHECKING, BinaryIO

from holdfast.errors import EmbedderError

if TYPE_CHECKING:
    import numpy as np  # 100 ms: only a process that embeds a text pays for it
    from numpy.typing import NDArray

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.bin")
SHA256 = "92e66d42e64aec4fbfb5549d1ec277ae0d3b110597e9196dc23a0f77a13afc81"
"""The table's digest. Another table is refused, since its vectors could not be compared."""
DIMENSION = 256
"""As many as SHA-256 has bits: an unknown word takes a sign from each."""
LONGEST = 20_000
"""Characters of a text that are embedded."""
SAMPLE = 1_024
"""Rows at the table's end, of words our own texts brought, whose lengths say what a word usually weighs."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A row of signed bytes and a scale for each piece; a piece's weight is the length of its row."""

    pieces: WordPieces
    scales: NDArray[np.float32]
    codes: NDArray[np.int8]
    usual: float
    """Median length of the rows in SAMPLE; the weight of a word without a row."""


class StaticEmbedder:
    """Unit vectors from the table."""

    id = f"holdfast-static@{SHA256[:12]}#{DIMENSION}"
    dimension = DIMENSION
    is_local = True

    def __init__(self, path: str = TABLE) -> None:
        self._path = path
        self._table: Table | None = None

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one unit vector per text, in order. Raises EmbedderError if the table is missing or wrong."""
        if self._table is None:
            self._table = load_table(self._path)
        return [_place(self._table, text[:LONGEST]) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of a question. Raises EmbedderError as `embed_documents` does."""
        return self.embed_documents([text])[0]


def make(options: Mapping[str, str]) -> StaticEmbedder:
    """Return the embedder; its table is not read yet. It has no options."""
    return StaticEmbedder()


@lru_cache(maxsize=2)
def load_table(path: str, expected: str = SHA256) -> Table:
    """Return the table in that file, read once a process; its rows stay on the disk until they are used.

    Layout: a line `rows dimension`, a half-precision scale a row, `dimension` signed bytes a row, the pieces one a
    line; little-endian. Raises EmbedderError if the file cannot be read or its checksum is wrong.
    """
    try:
        with open(path, "rb") as stream:
            if file_digest(stream, "sha256").hexdigest() != expected:
                raise EmbedderError(
                    f"{path} is damaged: its SHA-256 is not {expected[:12]}…", hint="install holdfast again"
                )
            stream.seek(0)
            return _read(stream)
    except OSError as exc:
        raise EmbedderError(f"{path}: {exc.strerror or exc}", hint="install holdfast again") from exc


def _read(stream: BinaryIO) -> Table:
    import numpy as np

    rows, dimension = map(int, stream.readline().split())
    scales = np.frombuffer(stream.read(2 * rows), "<f2").astype(np.float32)
    start = stream.tell()
    codes = np.asarray(np.memmap(stream, np.int8, "r", start, (rows, dimension)))
    stream.seek(start + rows * dimension)
    pieces = WordPieces(stream.read().decode("utf-8").split("\n"))
    lengths = scales[-SAMPLE:] * np.sqrt((codes[-SAMPLE:].astype(np.float32) ** 2).sum(axis=1))
    return Table(pieces=pieces, scales=scales, codes=codes, usual=float(np.median(lengths)))


def _place(table: Table, text: str) -> list[float]:
    import numpy as np

    rows, strange = table.pieces.cut(text)
    # a sum over the first axis adds row by row, with the same bits everywhere; a matrix product does not promise that
    total = (table.codes[rows] * table.scales[rows, None]).sum(axis=0)
    for word in strange:
        total += table.usual * _own_direction(word)
    length = float(np.sqrt((total * total).sum()))
    unit: list[float] = (total / length if length else _own_direction("")).tolist()
    return unit


def _own_direction(word: str) -> NDArray[np.float32]:
    """Return the word's own unit vector: a sign from each bit of its SHA-256."""
    import numpy as np

    bits = np.unpackbits(np.frombuffer(sha256(word.encode("utf-8", "replace")).digest(), np.uint8))
    return (bits.astype(np.float32) * 2 - 1) / np.float32(DIMENSION**0.5)


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
