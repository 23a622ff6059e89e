"""How the delivery threshold was set: what passes of questions to their own lessons, and of questions about nothing
there.

    python -m benchmarks.calibrate_threshold --data DIR [--embedder NAME] [--questions 60] [--json FILE]

The sets and the unrelated questions are those of `benchmarks.recall`. First the curve: for each `told` the share of
unrelated questions that get something and what is left of the ranked recall@3, set by set. Then the fit: for every
repository and conversation in turn, `told` and `meaning` are chosen on all the others (the most recall with at most
AIM of the unrelated questions answered in each set) and tried on the one left out. Other constants of the threshold
are as shipped. Questions are held to the threshold as `recall` does, before a budget is filled.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.recall.arena import Arena
from benchmarks.recall.cases import Ask, Corpus, Trial
from benchmarks.recall.trials import FOREIGN, SHOWN
from benchmarks.recall.unrelated import EVERYDAY_PROMPTS
from tests.ranking.thresholds import meets_threshold

from holdfast.ranking.threshold import ASKED, PUSHED, Threshold
from holdfast.recall.question import question, with_vector
from holdfast.recall.retrieve import PARTICULAR, RetrievedLesson, retrieve, score_matches

SETS = ("transcripts", "locomo", "project_history")
VARIANTS = ("gist", "gist + quote + files", "turn", "session whole", "title", "task", "changelog")
"""Ways of asking in words alone: with places given, those decide."""
AIM = 0.05
TOLD = (0.1, 0.13, 0.16, 0.18, 0.2, 0.22, 0.24, 0.27, 0.3)
MEANING = (0.18, 0.21, 0.24, 0.27, 0.3)
SEED = 11

Answer = list[tuple[RetrievedLesson, bool]]
"""Weighed candidates, best first, and whether each is one that was wanted."""
Tally = tuple[int, int, int, int]
"""Unrelated questions that get something, of how many; own questions answered by the first few that pass, and by the
first few."""


@dataclass
class Group:
    """One repository's or conversation's answers."""

    trial: str
    name: str
    own: list[Answer] = field(default_factory=list)
    unrelated: list[Answer] = field(default_factory=list)

    tallies: dict[Threshold, Tally] = field(default_factory=dict)

    def tally(self, threshold: Threshold) -> Tally:
        """What passes that threshold."""
        if threshold not in self.tallies:
            answered = [any(holds(candidate, threshold) for candidate, _ in answer) for answer in self.unrelated]
            passed = [[wanted for candidate, wanted in answer if holds(candidate, threshold)] for answer in self.own]
            ranked = [[wanted for _, wanted in answer] for answer in self.own]
            passing_hits, hits = (sum(any(row[:SHOWN]) for row in rows) for rows in (passed, ranked))
            self.tallies[threshold] = sum(answered), len(answered), passing_hits, hits
        return self.tallies[threshold]


def holds(candidate: RetrievedLesson, threshold: Threshold) -> bool:
    """Whether it clears the threshold."""
    return meets_threshold(candidate.shares, candidate.overlap, threshold, candidate.corpus)


def answer(arena: Arena, ask: Ask) -> Answer:
    """What recall finds before the threshold."""
    query, _ = with_vector(arena.services, question(arena.services, arena.location, ask.text))
    retrieval = retrieve(arena.services, query, PARTICULAR)
    weighed = score_matches(arena.services, arena.location, retrieval.matches)
    return [(candidate, arena.names[candidate.lesson.id] in ask.gold) for _, candidate in weighed]


def gather(trial: Trial, corpus: Corpus, embedder: str, questions: int) -> Group:
    """The answers to a corpus' own questions, as they could be asked then, and to what is unrelated."""
    group = Group(trial.name, corpus.name)
    rng = random.Random(f"{SEED}:{corpus.name}")
    asks = [ask for ask in corpus.asks if ask.variant in VARIANTS]
    asks = rng.sample(asks, min(questions, len(asks)))
    foreign = dict.fromkeys(
        ask.text for other in trial.corpora if other is not corpus for ask in other.asks if ask.text
    )
    typed = [text for other in trial.corpora if other is not corpus for text in other.prompts if corpus.prompts]
    texts = [text for kind in (list(foreign), typed, EVERYDAY_PROMPTS) for text in _some(rng, kind)]
    with tempfile.TemporaryDirectory() as scratch, Arena(Path(scratch), corpus, embedder) as arena:
        for ask in sorted(asks, key=lambda ask: ask.known or len(corpus.items)):
            arena.learn(ask.known)
            group.own.append(answer(arena, ask))
        arena.learn(None)
        group.unrelated += [answer(arena, Ask("unrelated", text, frozenset(), "")) for text in texts]
    return group


def _some(rng: random.Random, texts: Sequence[str]) -> list[str]:
    return rng.sample(texts, min(FOREIGN, len(texts)))


def figures(groups: Iterable[Group], threshold: Threshold) -> tuple[float, float]:
    """The share of unrelated questions that get something, and of the ranked recall@3 that is kept."""
    answered, questions, passing_hits, hits = map(sum, zip(*(group.tally(threshold) for group in groups), strict=True))
    return answered / questions, passing_hits / max(1, hits)


def by_trial(groups: Iterable[Group], threshold: Threshold) -> dict[str, tuple[float, float]]:
    """The figures of each set."""
    all_groups = list(groups)
    names = dict.fromkeys(group.trial for group in all_groups)
    return {name: figures([group for group in all_groups if group.trial == name], threshold) for name in names}


def choose(groups: Sequence[Group], thresholds: Sequence[Threshold]) -> Threshold:
    """The threshold that keeps most, over the sets, with at most AIM in each; else the one that exceeds it least."""

    def worth(threshold: Threshold) -> tuple[float, float]:
        rows = by_trial(groups, threshold).values()
        return -max(0.0, *(false - AIM for false, _ in rows)), fmean(recall_share for _, recall_share in rows)

    return max(thresholds, key=worth)


def leave_one_out(groups: Sequence[Group], thresholds: Sequence[Threshold]) -> list[dict[str, Any]]:
    """What each group gets by the threshold that the others choose."""
    rows: list[dict[str, Any]] = []
    for group in groups:
        chosen = choose([other for other in groups if other.name != group.name], thresholds)
        false, recall_share = figures([group], chosen)
        row: dict[str, Any] = {
            "trial": group.trial,
            "group": group.name,
            "told": chosen.weighted_overlap,
            "meaning": chosen.meaning,
        }
        rows.append(
            row | {"false": false, "kept": recall_share, "unrelated": len(group.unrelated), "own": len(group.own)}
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--questions", type=int, default=60, help="most own questions of each corpus")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    trials = [
        trial
        for name in SETS
        for trial in importlib.import_module(f"benchmarks.recall.{name}").load(options.data, SEED)
    ]
    groups = [
        gather(trial, corpus, options.embedder, options.questions) for trial in trials for corpus in trial.corpora
    ]
    curve = {
        f"told {told_share}": by_trial(groups, replace(PUSHED, weighted_overlap=told_share)) for told_share in TOLD
    }
    curve |= {"PUSHED": by_trial(groups, PUSHED), "ASKED": by_trial(groups, ASKED)}
    print(f"{'false, kept':14}" + "".join(f"{name:>24}" for name in curve["PUSHED"]))
    for name, row in curve.items():
        print(f"{name:14}" + "".join(f"{false:17.3f}{recall_share:7.2f}" for false, recall_share in row.values()))
    meanings = (PUSHED.meaning,) if options.embedder == "none" else MEANING
    thresholds = [
        replace(PUSHED, weighted_overlap=told_share, meaning=meaning) for told_share in TOLD for meaning in meanings
    ]
    left_out = leave_one_out(groups, thresholds)
    for fit in left_out:
        print("{trial:22} {group:34} told {told} meaning {meaning}: false {false:.3f}, kept {kept:.2f}".format(**fit))
    if options.json:
        options.json.write_text(json.dumps({"curve": curve, "left_out": left_out}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
