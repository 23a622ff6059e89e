"""How the constants of the fusion were chosen: each retriever's scores for every question, weighed in many ways.

    python -m benchmarks.fit_fusion --data DIR [--set locomo transcripts project_history] [--embedder NAME]
        [--embedder-option KEY=VALUE ...] [--limit 100] [--json FILE]

The questions of `benchmarks.recall` are put to every retriever once; then weights are tried on what they answered,
without freshness and the other multipliers. Printed for each choice: recall@5 (hit@3 for transcripts) in every variant;
and, for the choice that is best for all other corpora, what it reaches on the corpus left out. A constant is worth
changing only where that says so for more than one corpus.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.recall import locomo, project_history, transcripts
from benchmarks.recall.arena import Arena
from benchmarks.recall.cases import Ask, Corpus
from benchmarks.recall.trials import Options, _sample

from holdfast.lean.records import replace
from holdfast.ranking import fuse as fusion
from holdfast.ranking.retrievers import Hit
from holdfast.ranking.tuning import RETRIEVER_WEIGHTS
from holdfast.recall.question import with_vector
from holdfast.recall.retrieve import PARTICULAR, RETRIEVERS
from holdfast.recall.surroundings import linked_files

SETS = {"locomo": locomo, "transcripts": transcripts, "project_history": project_history}
DEPTH = 100
Choice = Mapping[str, float]
"""Retriever weights, and `power` for TEXT_POWER and `sure` for SURE_EXACT."""


def choices() -> dict[str, dict[str, float]]:
    """The shipped constants, each retriever left out, and each constant a step to either side."""
    shipped = {**RETRIEVER_WEIGHTS, "power": fusion.TEXT_POWER, "sure": fusion.SURE_EXACT}
    tried = {"shipped": shipped}
    for name in RETRIEVER_WEIGHTS:
        tried[f"without {name}"] = {**shipped, name: -1.0}
        for factor in (0.5, 0.75, 1.5, 2.0):
            tried[f"{name} x {factor}"] = {**shipped, name: shipped[name] * factor}
    for power in (1.0, 1.6, 2.0):
        tried[f"power {power}"] = {**shipped, "power": power}
    for sure in (0.4, 0.6, 0.9, 2.0):
        tried[f"sure from {sure}"] = {**shipped, "sure": sure}
    return tried


@dataclass(frozen=True)
class RankedQuestion:
    """One question: what each retriever answered and what would have been right."""

    set_name: str
    corpus: str
    variant: str
    gold: frozenset[str]
    retrievers: dict[str, list[Hit]]


@contextmanager
def chosen(choice: Choice) -> Iterator[None]:
    """The fusion with these constants instead of its own."""
    shipped = dict(RETRIEVER_WEIGHTS), fusion.TEXT_POWER, fusion.SURE_EXACT
    try:
        RETRIEVER_WEIGHTS.update({retriever: weight for retriever, weight in choice.items() if retriever in shipped[0]})
        fusion.TEXT_POWER, fusion.SURE_EXACT = choice["power"], choice["sure"]
        yield
    finally:
        RETRIEVER_WEIGHTS.update(shipped[0])
        fusion.TEXT_POWER, fusion.SURE_EXACT = shipped[1:]


def worth(question: RankedQuestion, choice: Choice) -> float:
    """recall@5 of the fused retrievers; hit@3 for transcripts, where several lessons answer as well."""
    retrievers = {retriever: hits for retriever, hits in question.retrievers.items() if choice.get(retriever, 1.0) >= 0}
    best = list(fusion.fuse(retrievers, 5))
    if question.set_name == "transcripts":
        return float(any(id_ in question.gold for id_ in best[:3]))
    return sum(id_ in question.gold for id_ in best) / len(question.gold)


def answers(arena: Arena, ask: Ask) -> dict[str, list[Hit]]:
    """What every retriever says, by names of items."""
    query, _ = with_vector(arena.services, arena.query(ask))
    if query.paths:
        query = replace(query, linked=linked_files(arena.services, arena.location, query.paths))
    retrievers = [retriever for retriever in PARTICULAR if retriever != "vector" or query.vector]
    hits_by_retriever = {
        retriever: RETRIEVERS[retriever](arena.services.store, query, DEPTH) for retriever in retrievers
    }
    return {
        retriever: [Hit(id=arena.names[hit.id], score=hit.score) for hit in hits]  # type: ignore[arg-type]
        for retriever, hits in hits_by_retriever.items()
    }


def gather(set_name: str, corpus: Corpus, options: argparse.Namespace) -> Iterator[RankedQuestion]:
    """Every question of a corpus, asked when what came before it is known."""
    pairs = [tuple(pair.partition("=")[::2]) for pair in options.embedder_option]
    with (
        tempfile.TemporaryDirectory() as folder,
        Arena(Path(folder) / "arena", corpus, options.embedder, pairs) as arena,
    ):
        asks = [ask for ask in _sample(corpus, Options(limit=options.limit)) if not ask.by_group]
        for ask in sorted(asks, key=lambda ask: ask.known or len(corpus.items)):
            arena.learn(ask.known)
            yield RankedQuestion(set_name, corpus.name, ask.variant, ask.gold, answers(arena, ask))


def table(questions: list[RankedQuestion], tried: Mapping[str, Choice]) -> dict[str, dict[str, dict[str, float]]]:
    """Choice, variant, corpus: the mean worth."""
    results: dict[str, dict[str, dict[str, float]]] = {}
    for name, choice in tried.items():
        worths: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        with chosen(choice):
            for question in questions:
                worths[question.variant][question.corpus].append(worth(question, choice))
        results[name] = {
            variant: {corpus: sum(values) / len(values) for corpus, values in by_corpus.items()}
            for variant, by_corpus in worths.items()
        }
    return results


def left_out(results: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, tuple[str, float, float]]:
    """For each corpus: the choice best for the others, what it reaches there and what the shipped one does."""
    means: dict[str, dict[str, list[float]]] = {name: defaultdict(list) for name in results}
    for name, variants in results.items():
        for by_corpus in variants.values():
            for corpus, value in by_corpus.items():
                means[name][corpus].append(value)
    worths = {
        name: {corpus: sum(values) / len(values) for corpus, values in rows.items()} for name, rows in means.items()
    }
    answer = {}
    for corpus in worths["shipped"]:
        best = max(results, key=lambda name: sum(v for other, v in worths[name].items() if other != corpus))
        answer[corpus] = best, worths[best][corpus], worths["shipped"][corpus]
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--set", dest="sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--embedder", default="", help="name of an embedder, or none")
    parser.add_argument("--embedder-option", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--limit", type=int, default=0, help="most questions of each corpus")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    questions = [
        question
        for name in options.sets
        for trial in SETS[name].load(options.data, 11)
        for corpus in trial.corpora
        for question in gather(name, corpus, options)
    ]
    results = table(questions, choices())
    variants = list(results["shipped"])
    print("\n".join(f"{n}: {variant}" for n, variant in enumerate(variants, start=1)))
    print(f"{'':20}" + "".join(f"{n:>8}" for n in range(1, len(variants) + 1)))
    for name, rows in results.items():
        means = [sum(rows[variant].values()) / len(rows[variant]) for variant in variants]
        print(f"{name:20}" + "".join(f"{mean:8.3f}" for mean in means))
    for corpus, (name, value, shipped) in left_out(results).items():
        print(f"left out: {corpus:40} {name:20} {value:.3f}  shipped {shipped:.3f}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
