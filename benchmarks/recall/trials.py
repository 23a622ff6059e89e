"""Runs a trial: every system ranks for every question, in turns, and every delivery is counted in tokens."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.recall.arena import NO_BUDGET, Arena
from benchmarks.recall.baselines import DEPTH, Bm25, FullText, Vectors, reciprocal_rank_fusion
from benchmarks.recall.cases import Ask, Corpus, Trial
from benchmarks.recall.metrics import scores_of
from benchmarks.recall.unrelated import EVERYDAY_PROMPTS

from holdfast.recall.retrieve import PARTICULAR
from holdfast.text.words import STOP_WORDS

SHIPPED, ASKED, PUSHED = "holdfast", "holdfast, held to the threshold", "holdfast, pushed"
CUT = 10
GROUP_DEPTH = 100
"""How deep items are ranked where their groups are asked for."""
SHOWN = 3
"""Lessons of one delivery."""
FOREIGN = 60
"""Most questions of other projects that are put to each corpus as unrelated, and most prompts typed there."""
UNRELATED = ("typed elsewhere", "asked elsewhere", "everyday")


@dataclass(frozen=True)
class Options:
    """What to run and with what."""

    embedder: str = ""
    embedder_options: tuple[tuple[str, str], ...] = ()
    ablate: bool = False
    baselines: bool = True
    controls: bool = True
    seed: int = 11
    limit: int = 0
    """Most questions of each corpus; 0: all."""


@dataclass
class Outcome:
    """What came out, by variant, category and system."""

    scores: dict[tuple[str, str, str], list[dict[str, float]]] = field(default_factory=dict)
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    tokens: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    false: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    """Of unrelated questions, by kind and moment: 1 for each that was given something."""
    stored: int = 0
    stored_s: float = 0.0


def run(trial: Trial, options: Options, folder: Path) -> Outcome:
    """Put every corpus' questions, then what is unrelated to it."""
    outcome = Outcome()
    for n, corpus in enumerate(trial.corpora):
        with Arena(folder / str(n), corpus, options.embedder, options.embedder_options) as arena:
            _put_questions(arena, options, outcome)
            if options.controls:
                _put_unrelated(arena, trial, options, outcome)
            outcome.stored += arena.known
            outcome.stored_s += arena.stored_s
    return outcome


def _put_questions(arena: Arena, options: Options, outcome: Outcome) -> None:
    systems = Systems(arena, options)
    for ask in sorted(_sample(arena.corpus, options), key=lambda ask: ask.known or len(arena.corpus.items)):
        systems.learn(ask.known)
        for name, rank in systems.rankers(ask):
            begun = time.perf_counter()
            ranked = rank(ask)
            outcome.seconds.setdefault((ask.variant, name), []).append(time.perf_counter() - begun)
            scores = scores_of(_grouped(arena.corpus, ask, ranked), ask.gold)
            outcome.scores.setdefault((ask.variant, ask.category, name), []).append(scores)
        outcome.tokens.setdefault(ask.variant, []).append(_delivery(arena, ask))
        if options.controls:
            named = arena.named(arena.deliver(ask, SHOWN, "prompt").items)
            scores = scores_of(_grouped(arena.corpus, ask, named), ask.gold)
            outcome.scores.setdefault((ask.variant, ask.category, PUSHED), []).append(scores)
    systems.learn(None)


class Systems:
    """The shipped path and what it is compared with, over the same items."""

    def __init__(self, arena: Arena, options: Options) -> None:
        self._arena, self._options = arena, options
        self._text = FullText() if options.baselines else None
        self._telling = FullText(STOP_WORDS) if options.baselines else None
        self._bm25 = Bm25() if options.baselines else None
        embedder = arena.services.embedder() if options.baselines else None
        self._vectors = Vectors(embedder.embed_documents) if embedder else None
        self._asked: dict[str, str] = {}

    def learn(self, count: int | None) -> None:
        """Let every system know that many items."""
        new = self._arena.learn(count)
        for system in (self._text, self._telling, self._bm25, self._vectors):
            if system is not None and new:
                system.add(new)

    def rankers(self, ask: Ask) -> Iterator[tuple[str, Callable[[Ask], list[str]]]]:
        """Name and ranking of each system that has something to go on."""
        arena, depth = self._arena, GROUP_DEPTH if ask.by_group else CUT
        yield SHIPPED, lambda ask: arena.rank(ask, depth)
        yield ASKED, lambda ask: arena.named(arena.deliver(ask, depth, budget=NO_BUDGET).items)
        if self._options.ablate:
            for retriever in PARTICULAR:
                yield f"without {retriever}", lambda ask, retriever=retriever: arena.rank(ask, depth, without=retriever)  # type: ignore[misc]
        text, telling, bm25, vectors = self._text, self._telling, self._bm25, self._vectors
        if text and telling and bm25:
            yield "FTS5 porter alone", lambda ask: text.rank(ask.text, depth)
            yield "FTS5 without stop words", lambda ask: telling.rank(ask.text, depth)
            yield "BM25 without stop words", lambda ask: bm25.rank(ask.text, depth)
        if vectors:
            yield "vectors alone", lambda ask: vectors.rank(ask.text, depth)
        if text and vectors:
            yield (
                "plain RRF of both",
                lambda ask: reciprocal_rank_fusion([text.rank(ask.text, DEPTH), vectors.rank(ask.text, DEPTH)])[:depth],
            )


def _delivery(arena: Arena, ask: Ask) -> dict[str, float]:
    """Tokens of one delivery on demand, of the same lessons whole, and of a file with all that is known."""
    briefing = arena.deliver(ask, SHOWN)
    names = arena.named(briefing.items)
    return {
        "compiled": briefing.tokens,
        "whole": arena.whole_tokens(names),
        "file": arena.file_tokens(),
        "recall": scores_of(_grouped(arena.corpus, ask, names), ask.gold)[f"recall@{SHOWN}"],
        "answered": float(bool(names)),
    }


def _put_unrelated(arena: Arena, trial: Trial, options: Options, outcome: Outcome) -> None:
    rng = random.Random(f"{options.seed}:{arena.corpus.name}")
    others = [corpus for corpus in trial.corpora if corpus.name != arena.corpus.name]
    typed = [text for corpus in others for text in corpus.prompts] if arena.corpus.prompts else []
    questions = list(dict.fromkeys(ask.text for corpus in others for ask in corpus.asks if ask.text))
    for kind, texts in zip(UNRELATED, (typed, questions, EVERYDAY_PROMPTS), strict=True):
        for text in rng.sample(texts, min(FOREIGN, len(texts))):
            ask = Ask("unrelated", text, frozenset(), kind)
            for moment in ("prompt", "on_demand"):
                items = arena.deliver(ask, SHOWN, moment).items
                outcome.false.setdefault((kind, moment), []).append(float(bool(items)))


def _grouped(corpus: Corpus, ask: Ask, ranked: Sequence[str]) -> list[str]:
    """The groups of ranked items, each at its first, where the question is for groups."""
    if not ask.by_group:
        return list(ranked)
    return list(dict.fromkeys(corpus.groups[name] for name in ranked))


def _sample(corpus: Corpus, options: Options) -> list[Ask]:
    """All questions, or so many in every variant, drawn by the seed."""
    names = list(dict.fromkeys(ask.name for ask in corpus.asks))
    if not options.limit or len(names) <= options.limit:
        return list(corpus.asks)
    drawn = set(random.Random(f"{options.seed}:{corpus.name}").sample(names, options.limit))
    return [ask for ask in corpus.asks if ask.name in drawn]
