"""What recall is compared with, in the same run: full text alone, vectors alone, and both fused with equal weights."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from math import log

import numpy as np
from benchmarks.recall.cases import Item
from numpy.typing import NDArray

from holdfast.ranking.relevance import stem
from holdfast.text.words import STOP_WORDS

RRF_K = 60
DEPTH = 100
"""How deep each ranking is that is fused."""
WORD = re.compile(r"\w+")


class FullText:
    """SQLite's FTS5 with its porter stemmer over the plain text; any of the question's words, best BM25 first.

    `stops`: words of a question that are not asked for, unless it has no others.
    """

    def __init__(self, stops: frozenset[str] = frozenset()) -> None:
        self._stops = stops
        self._sql = sqlite3.connect(":memory:")
        self._sql.execute("CREATE VIRTUAL TABLE items USING fts5(name UNINDEXED, text, tokenize = 'porter unicode61')")

    def add(self, items: Sequence[Item]) -> None:
        self._sql.executemany("INSERT INTO items VALUES (?, ?)", [(item.name, item.text) for item in items])

    def rank(self, text: str, depth: int) -> list[str]:
        words = list(dict.fromkeys(WORD.findall(text)))
        searched = [word for word in words if word.lower() not in self._stops] or words
        match = " OR ".join(f'"{word}"' for word in searched)
        if not match:
            return []
        rows = self._sql.execute("SELECT name FROM items WHERE items MATCH ? ORDER BY rank LIMIT ?", (match, depth))
        return [name for (name,) in rows]


class Bm25:
    """BM25 (k1 = 1.2, b = 0.75) in memory over the stems of the plain text, the question's stop words dropped."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._sizes: list[int] = []
        self._postings: dict[str, list[tuple[int, int]]] = {}

    def add(self, items: Sequence[Item]) -> None:
        for item in items:
            counts = Counter(stem(word) for word in WORD.findall(item.text.lower()))
            for word, count in counts.items():
                self._postings.setdefault(word, []).append((len(self._names), count))
            self._names.append(item.name)
            self._sizes.append(sum(counts.values()))

    def rank(self, text: str, depth: int) -> list[str]:
        scores: dict[int, float] = {}
        many, average = len(self._names), sum(self._sizes) / max(len(self._sizes), 1)
        words = [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
        for root in dict.fromkeys(map(stem, words)):
            posting = self._postings.get(root, [])
            rarity = log(1 + (many - len(posting) + 0.5) / (len(posting) + 0.5))
            for at, count in posting:
                weight = count * 2.2 / (count + 1.2 * (0.25 + 0.75 * self._sizes[at] / average))
                scores[at] = scores.get(at, 0.0) + rarity * weight
        return [self._names[at] for at in sorted(scores, key=lambda at: (-scores[at], at))[:depth]]


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
