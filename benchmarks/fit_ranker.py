"""Fits the weights of `ranking/ranker.py` on project histories, and tests them on a project left out.

    python -m benchmarks.fit_ranker --data DIR [--limit 60]

Every question of kind prior is put to the shipped retrievers, as a title and a task, alone, with one file and with all,
and without words. A linear model is fitted with softmax loss over the candidates of each question, once with the
embedder that ships and once by words alone. Printed: recall@5 of the fused order and of the model fitted on the other
project, then the weights fitted on all, in the order of `FEATURES`.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from benchmarks.recall import project_history
from benchmarks.recall.arena import Arena
from benchmarks.recall.cases import Corpus
from numpy.typing import NDArray

from holdfast.ranking.fuse import total
from holdfast.ranking.ranker import FEATURES
from holdfast.recall import ask as asking
from holdfast.recall.question import with_vector
from holdfast.recall.retrieve import PARTICULAR, retrieve
from holdfast.recall.surroundings import linked_files
from holdfast.recall.tuning import ASKED_POOL

SEED = 11
L2, STEPS, RATE = 10.0, 300, 0.03
Array = NDArray[np.float64]


class Example(NamedTuple):
    """One question: the features and fused scores of its candidates, which are right, and how many are."""

    variant: str
    features: Array
    fused: Array
    right: Array
    gold: int


def examples(corpus: Corpus, limit: int, embedder: str) -> list[Example]:
    """The candidates of each question, as the shipped path finds them."""
    names = sorted({ask.name for ask in corpus.asks if ask.variant == "title"})
    chosen = set(random.Random(SEED).sample(names, min(limit or len(names), len(names))))
    asks = [ask for ask in corpus.asks if ask.name in chosen and ask.variant != "changelog"]
    collected = []
    with tempfile.TemporaryDirectory() as scratch, Arena(Path(scratch) / "arena", corpus, embedder) as arena:
        for ask in sorted(asks, key=lambda ask: ask.known or 0):
            arena.learn(ask.known)
            arena.stand_at(ask)
            query, _ = with_vector(arena.services, arena.query(ask))
            query = (
                replace(query, linked=linked_files(arena.services, arena.location, query.paths))
                if query.paths
                else query
            )
            drawn = retrieve(arena.services, query, PARTICULAR, pool=ASKED_POOL).matches
            if drawn:
                rows = asking.rows_of(arena.services, query, drawn)
                right = [float(arena.names[candidate.lesson.id] in ask.gold) for candidate in drawn]
                fused = [total(candidate.shares) for candidate in drawn]
                collected.append(Example(ask.variant, np.array(rows), np.array(fused), np.array(right), len(ask.gold)))
    return collected


def fit(training: Sequence[Example]) -> Array:
    """Weights of the least softmax loss, by Adam, with a penalty on their squares after scaling."""
    usable = [example for example in training if example.right.any()]
    scale = np.concatenate([example.features for example in usable]).std(axis=0) + 1e-6
    weights, first, second = (np.zeros(len(FEATURES)) for _ in range(3))
    for step in range(1, STEPS + 1):
        gradient = L2 * weights
        for example in usable:
            scores = (example.features / scale) @ weights
            share = np.exp(scores - scores.max())
            gradient = gradient + (example.features / scale).T @ (
                share / share.sum() - example.right / example.right.sum()
            )
        gradient /= len(usable)
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        weights = weights - RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    fitted: Array = weights / scale
    return fitted


def recall_at_5(asked_of: Sequence[Example], weights: Array | None) -> dict[str, float]:
    """Mean by variant; without weights of the fused order."""
    sums: dict[str, list[float]] = {}
    for example in asked_of:
        order = np.argsort(-(example.fused if weights is None else example.features @ weights), kind="stable")[:5]
        sums.setdefault(example.variant, []).append(float(example.right[order].sum()) / example.gold)
    return {variant: round(float(np.mean(values)), 3) for variant, values in sorted(sums.items())}


def main() -> None:
    """Fit and print, with vectors and without."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=0, help="most questions of a project")
    options = parser.parse_args()
    for embedder in ("", "none"):
        projects = {}
        for file in sorted((options.data / "project_history").glob("*.json")):
            corpus = project_history.corpus_of(json.loads(file.read_text("utf-8")), file.stem, SEED)
            projects[file.stem] = examples(corpus, options.limit, embedder)
        print("without vectors" if embedder else "with vectors")
        for name, own in projects.items():
            others = [
                example for other, project_examples in projects.items() if other != name for example in project_examples
            ]
            print(f"  {name}: fused {recall_at_5(own, None)}")
            if others:
                print(f"  {name}: fitted elsewhere {recall_at_5(own, fit(others))}", flush=True)
        weights = fit([example for project_examples in projects.values() for example in project_examples])
        print("  weights", tuple(round(float(weight), 2) for weight in weights), flush=True)


if __name__ == "__main__":
    main()
