"""Measure how well `compare.contradiction` tells what two lessons have to do with each other.

    python -m benchmarks.conflicts [--misses] [--repositories FOLDER] [--json FILE]

The pairs in `conflict_pairs.tsv` were written by hand from what the changelogs and guides of real repositories tell,
in words of our own. A pair's half follows from its id: rules are made on the development half alone. `--misses` prints
the wrong answers of that half; those of the held-out half are counted, never printed.

The pairs are short and each is about one thing. `--repositories` therefore also compares every two list items of each
repository's own guides and change logs (git repositories below FOLDER), where hardly any two contradict each other, and
prints each pair that is taken for a contradiction, to be read by eye.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from holdfast.compare.claims import read_claim
from holdfast.compare.contradiction import RELATIONS, relate, relation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAIRS = Path(__file__).with_name("conflict_pairs.tsv")
HALVES = ("development", "held out")
GUIDES = ("CLAUDE.md", "AGENTS.md", "CONTRIBUTING.md", "README.md", "CHANGELOG.md")
ITEM = re.compile(r"\s*(?:[-*]|\d+\.)\s+(.*)")
MARKS = re.compile(r"\*\*|\[([^\]]*)\]\([^)]*\)")
ITEMS = 400
"""List items of one repository that are compared with each other."""
LENGTHS = range(26, 200)


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
    sure = [pair for pair in pairs if relation(pair.one, pair.other).is_sure]
    wrong = sum(pair.label != "contradicts" for pair in sure)
    closing = {"sure": len(sure), "of_them_wrong": wrong}
    return {"pairs": len(pairs), "relations": by_relation, "closing": closing, "kinds": by_kind}


def list_items(repository: Path) -> list[str]:
    """The list items of the guides at the repository's HEAD, each once."""
    items: dict[str, None] = {}
    for name in GUIDES:
        command = ["git", "-C", str(repository), "show", f"HEAD:{name}"]
        text = subprocess.run(command, capture_output=True, check=False).stdout.decode("utf-8", "replace")
        for line in re.sub(r"```.*?```", "", text, flags=re.DOTALL).splitlines():
            if match := ITEM.match(line):
                item = MARKS.sub(lambda mark: mark.group(1) or "", match.group(1)).strip()
                items |= {item: None} if len(item) in LENGTHS else {}
    return list(items)[:ITEMS]


def found_in(repository: Path) -> Iterator[tuple[str, str, bool]]:
    """Pairs of list items taken for a contradiction, and whether that is sure."""
    items = list_items(repository)
    claims = [read_claim(item) for item in items]
    for at, claim in enumerate(claims):
        for before in range(at):
            answer = relate(claims[before], claim)
            if answer.kind == "contradicts":
                yield items[before], items[at], answer.is_sure


def score_repositories(folder: Path) -> dict[str, int]:
    """How many pairs of list items are taken for contradictions; each is printed."""
    totals = Counter(items=0, pairs=0, taken_for_contradiction=0, sure=0)
    for repository in sorted(path.parent for path in folder.glob("*/*/HEAD")):
        count = len(list_items(repository))
        totals.update(repositories=bool(count), items=count, pairs=count * (count - 1) // 2)
        for item, other, sure in found_in(repository):
            totals.update(taken_for_contradiction=1, sure=sure)
            print(f"{'sure' if sure else '    '} {repository.parent.name}\n    {item}\n    {other}")
    return dict(totals)


def main() -> None:
    """Print the scores of both halves."""
    options = argparse.ArgumentParser(description="Score the relation between labelled pairs of lessons.")
    options.add_argument("--misses", action="store_true", help="print wrong answers of the development half")
    options.add_argument("--repositories", type=Path, help="also compare the guides of the git repositories below")
    options.add_argument("--json", type=Path, help="write the scores to this file")
    chosen = options.parse_args()
    pairs = read_pairs()
    scores: dict[str, object] = {half: score([pair for pair in pairs if pair.half == half]) for half in HALVES}
    if chosen.repositories:
        scores["guides"] = score_repositories(chosen.repositories)
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
