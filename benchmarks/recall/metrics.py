"""Scores of one ranking, and means with bootstrap intervals over many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

CUTS = (1, 3, 5, 10)
RESAMPLES = 1_000


def recall_at(ranked: Sequence[str], gold: AbstractSet[str], k: int) -> float:
    """Share of the gold among the first k."""
    return len(gold & set(ranked[:k])) / len(gold)


def hit_at(ranked: Sequence[str], gold: AbstractSet[str], k: int) -> float:
    """1 when any of the gold is among the first k, else 0."""
    return float(not gold.isdisjoint(ranked[:k]))


def reciprocal_rank(ranked: Sequence[str], gold: AbstractSet[str]) -> float:
    """1 / rank of the first of the gold; 0 without one."""
    return next((1 / rank for rank, name in enumerate(ranked, start=1) if name in gold), 0.0)


def ndcg_at(ranked: Sequence[str], gold: AbstractSet[str], k: int) -> float:
    """Normalised discounted cumulative gain with binary gains (Järvelin & Kekäläinen 2002)."""
    gain = sum(1 / math.log2(rank + 1) for rank, name in enumerate(ranked[:k], start=1) if name in gold)
    return gain / sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(gold)) + 1))


def scores_of(ranked: Sequence[str], gold: AbstractSet[str]) -> dict[str, float]:
    """Every measure of one ranking."""
    scores = {f"recall@{k}": recall_at(ranked, gold, k) for k in CUTS}
    scores |= {f"hit@{k}": hit_at(ranked, gold, k) for k in CUTS}
    return scores | {"mrr": reciprocal_rank(ranked, gold), "ndcg@10": ndcg_at(ranked, gold, 10)}


def interval(values: Sequence[float], seed: int, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The 95 % percentile bootstrap interval of the mean; the same for the same seed."""
    sample = np.asarray(values, dtype=np.float64)
    picks = np.random.default_rng(seed).integers(0, len(sample), size=(resamples, len(sample)))
    low, high = np.percentile(sample[picks].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which that share lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def summary(rows: Sequence[dict[str, float]], seed: int) -> dict[str, object]:
    """Mean and interval of each measure over the rows, and how many rows there are."""
    means: dict[str, object] = {"questions": len(rows)}
    for name in rows[0]:
        values = [row[name] for row in rows]
        low, high = interval(values, seed)
        means[name] = {"mean": sum(values) / len(values), "low": low, "high": high}
    return means
