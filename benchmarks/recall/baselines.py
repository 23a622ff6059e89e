"""What recall is compared with, in the same run: full text alone, vectors alone, and both fused with equal weights."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence

import numpy as np
from benchmarks.recall.cases import Item
from numpy.typing import NDArray

RRF_K = 60
DEPTH = 100
"""How deep each ranking is that is fused."""
WORD = re.compile(r"\w+")


class FullText:
    """SQLite's FTS5 with its porter stemmer over the plain text; any of the question's words, best BM25 first."""

    def __init__(self) -> None:
        self._sql = sqlite3.connect(":memory:")
        self._sql.execute("CREATE VIRTUAL TABLE items USING fts5(name UNINDEXED, text, tokenize = 'porter unicode61')")

    def add(self, items: Sequence[Item]) -> None:
        self._sql.executemany("INSERT INTO items VALUES (?, ?)", [(item.name, item.text) for item in items])

    def rank(self, text: str, depth: int) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(WORD.findall(text)))
        if not match:
            return []
        found = self._sql.execute("SELECT name FROM items WHERE items MATCH ? ORDER BY rank LIMIT ?", (match, depth))
        return [name for (name,) in found]


class Vectors:
    """Brute force cosine over the same embedder's vectors of the plain text."""

    def __init__(self, embed: Callable[[Sequence[str]], Sequence[Sequence[float]]]) -> None:
        self._embed = embed
        self._names: list[str] = []
        self._held: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)

    def add(self, items: Sequence[Item]) -> None:
        if not items:
            return
        new = np.asarray(self._embed([item.text for item in items]), dtype=np.float32)
        self._held = np.concatenate([self._held, new]) if self._names else new
        self._names += [item.name for item in items]

    def rank(self, text: str, depth: int) -> list[str]:
        if not self._names or not text.strip():
            return []
        scores = self._held @ np.asarray(self._embed([text])[0], dtype=np.float32)
        return [self._names[at] for at in np.argsort(-scores, kind="stable")[:depth]]


def reciprocal_rank_fusion(rankings: Sequence[Sequence[str]]) -> list[str]:
    """The names by the sum of 1 / (RRF_K + rank), equal weights (Cormack, Clarke & Buettcher 2009)."""
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, name in enumerate(ranking, start=1):
            scores[name] = scores.get(name, 0.0) + 1 / (RRF_K + rank)
    return sorted(scores, key=lambda name: (-scores[name], name))
