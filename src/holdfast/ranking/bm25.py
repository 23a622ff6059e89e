"""BM25 over a few texts in memory, such as the sections of one file: how well each text answers a question.

Words are split and stemmed as everywhere (`words.terms`, `relevance.stem`); each counts once a line. A store has its
own text index; this module is for texts outside a store.

Source: Robertson & Zaragoza, The Probabilistic Relevance Framework, 2009 (k1 = 1.2, b = 0.75); with 1 added in the
idf's logarithm, so that a term that most texts have never lowers a score.
"""

from __future__ import annotations

from collections import Counter
from math import log

from holdfast.ranking.relevance import stem
from holdfast.ranking.tuning import K1, B
from holdfast.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def bm25(question: str, texts: Sequence[str]) -> list[float]:
    """Return the score of each text, in order; 0 for a text without a word of the question."""
    counts = [_counts(text) for text in texts]
    sizes = [sum(count.values()) for count in counts]
    average = sum(sizes) / max(len(sizes), 1)
    scores = [0.0] * len(counts)
    for term in dict.fromkeys(map(stem, terms(question))):
        holding = [at for at, count in enumerate(counts) if term in count]
        rarity = log(1 + (len(counts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for at in holding:
            times = counts[at][term]
            scores[at] += rarity * times * (K1 + 1) / (times + K1 * (1 - B + B * sizes[at] / average))
    return scores


def _counts(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for line in text.splitlines():
        counts.update(set(map(stem, terms(line))))
    return counts
