"""Measure how well `ranking.contradiction` tells what two lessons have to do with each other.

    python -m benchmarks.conflicts [--misses] [--json FILE]

The pairs in `conflict_pairs.tsv` were written by hand from what the changelogs and guides of real repositories tell,
in words of our own. A pair's half follows from its id: rules are made on the development half alone. `--misses` prints
the wrong answers of that half; those of the held-out half are counted, never printed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from holdfast.ranking.contradiction import RELATIONS, relation

if TYPE_CHECKING:
    from collections.abc import Sequence

PAIRS = Path(__file__).with_name("conflict_pairs.tsv")
HALVES = ("development", "held out")


class Pair(NamedTuple):
    """Two lessons and what they have to do with each other, as a person labelled it."""

    id: str
    label: str
    kind: str
    repository: str
    one: str
    other: str

    @property
    def half(self) -> str:
        """The half it belongs to, by a hash of its id."""
        return HALVES[int(sha256(self.id.encode()).hexdigest(), 16) % 2]


def read_pairs() -> list[Pair]:
    """All labelled pairs."""
    lines = PAIRS.read_text("utf-8").splitlines()[1:]
    return [Pair(*line.split("\t")) for line in lines]


def score(pairs: Sequence[Pair]) -> dict[str, object]:
    """Precision and recall of each relation, and the share of right answers for each kind of pair."""
    answers = [(pair, relation(pair.one, pair.other).kind) for pair in pairs]
    by_relation = {}
    for label in RELATIONS:
        right = sum(pair.label == answer == label for pair, answer in answers)
        answered = sum(answer == label for _, answer in answers)
        labelled = sum(pair.label == label for pair, _ in answers)
        by_relation[label] = {
            "pairs": labelled,
            "answered": answered,
            "precision": round(right / answered, 3) if answered else None,
            "recall": round(right / labelled, 3) if labelled else None,
        }
    totals, rights = Counter(pair.kind for pair in pairs), Counter(p.kind for p, a in answers if p.label == a)
    false_closings = Counter(p.kind for p, a in answers if a == "contradicts" != p.label)
    by_kind = {
        kind: {"pairs": count, "right": rights[kind], "taken_for_contradiction": false_closings[kind]}
        for kind, count in sorted(totals.items())
    }
    return {"pairs": len(pairs), "relations": by_relation, "kinds": by_kind}


def main() -> None:
    """Print the scores of both halves."""
    options = argparse.ArgumentParser(description="Score the relation between labelled pairs of lessons.")
    options.add_argument("--misses", action="store_true", help="print wrong answers of the development half")
    options.add_argument("--json", type=Path, help="write the scores to this file")
    chosen = options.parse_args()
    pairs = read_pairs()
    scores = {half: score([pair for pair in pairs if pair.half == half]) for half in HALVES}
    if chosen.misses:
        for pair in pairs:
            answer = relation(pair.one, pair.other)
            if pair.half == "development" and answer.kind != pair.label:
                print(f"{pair.id} {pair.label}/{pair.kind} -> {answer.kind} {answer.slot} {answer.values}")
                print(f"    {pair.one}\n    {pair.other}")
    text = json.dumps(scores, indent=2)
    print(text)
    if chosen.json:
        chosen.json.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
