"""Predicting which files are edited together, on real repositories' histories.

    python benchmarks/coedit.py --repo PATH ... [--json FILE]

The newest 20 % of commits (without merges) are held out; pairs are learnt from the older 80 %. In every held-out commit
of 2 to 15 files each file is given in turn and the commit's other files are to be ranked: MRR (one over the rank of the
first hit) and recall@5. Files the older part does not know cannot be found by any method; they count against all.
Baselines: the most edited files, weighted by recency or not; the same folder, most edited first.
`--inner` repeats this within the older part alone; constants were chosen there and never on the held-out part.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from holdfast.codeindex.history import MOST_FILES, CommitFiles, age_weight, iter_commits, weigh

LARGEST = 15
HELD_OUT = 0.2
DEPTH = 50
"""Ranks that are looked at; a hit below counts nothing."""

Ranker = Callable[[str], list[str]]


def by_pairs(commits: Sequence[CommitFiles]) -> Ranker:
    """What Holdfast learns: the heaviest pairs of the file."""
    partners: dict[str, dict[str, float]] = {}
    for (file, other), weight in weigh(commits).items():
        if file != other:
            partners.setdefault(file, {})[other] = weight
            partners.setdefault(other, {})[file] = weight

    def rank(path: str) -> list[str]:
        weights = partners.get(path, {})
        return sorted(weights, key=weights.__getitem__, reverse=True)[:DEPTH]

    return rank


def by_pairs_then_frequency(commits: Sequence[CommitFiles]) -> Ranker:
    """The same, filled up with the files that are edited most lately: for files with few or no pairs."""
    pairs, frequent = by_pairs(commits), by_frequency(commits, recent=True)

    def rank(path: str) -> list[str]:
        return list(dict.fromkeys([*pairs(path), *frequent(path)]))[:DEPTH]

    return rank


def most_edited(commits: Sequence[CommitFiles], recent: bool) -> list[str]:
    """The files, most edited first; with `recent`, each edit counts by its age."""
    counts: dict[str, float] = {}
    for commit in commits:
        if len(commit.files) <= MOST_FILES:
            for path in commit.files:
                counts[path] = counts.get(path, 0) + (age_weight(commit.at_s) if recent else 1)
    return sorted(counts, key=counts.__getitem__, reverse=True)


def by_frequency(commits: Sequence[CommitFiles], recent: bool = False) -> Ranker:
    """The same files for everyone: those edited most."""
    best = most_edited(commits, recent)[: DEPTH + 1]
    return lambda path: [other for other in best if other != path][:DEPTH]


def by_folder(commits: Sequence[CommitFiles]) -> Ranker:
    """Files of the same folder, most edited first."""
    folders: dict[str, list[str]] = {}
    for path in most_edited(commits, False):
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    return lambda path: [other for other in folders.get(path.rpartition("/")[0], ()) if other != path][:DEPTH]


METHODS: dict[str, Callable[[Sequence[CommitFiles]], Ranker]] = {
    "edited together": by_pairs,
    "edited together, then frequency": by_pairs_then_frequency,
    "frequency": by_frequency,
    "frequency, recent": lambda commits: by_frequency(commits, recent=True),
    "same folder": by_folder,
}


def judge(rank: Ranker, held_out: Sequence[CommitFiles]) -> dict[str, float]:
    """MRR and recall@5 over every file given of every held-out commit."""
    reciprocal = recall = 0.0
    questions = 0
    for commit in held_out:
        if not 2 <= len(commit.files) <= LARGEST:
            continue
        for file in commit.files:
            wanted = set(commit.files) - {file}
            ranked = rank(file)
            first = next((place for place, path in enumerate(ranked, 1) if path in wanted), 0)
            reciprocal += 1 / first if first else 0.0
            recall += len(wanted.intersection(ranked[:5])) / min(5, len(wanted))
            questions += 1
    return {"mrr": reciprocal / max(1, questions), "recall_at_5": recall / max(1, questions), "asked": questions}


def split(commits: Sequence[CommitFiles], inner: bool) -> tuple[list[CommitFiles], list[CommitFiles]]:
    """(older, held out), both newest first. With `inner`, of the older part only."""
    whole = list(commits)
    if inner:
        whole = whole[int(len(whole) * HELD_OUT) :]
    at = int(len(whole) * HELD_OUT)
    return whole[at:], whole[:at]


def measure(repository: Path, inner: bool) -> dict[str, object]:
    commits = list(iter_commits(str(repository), "HEAD"))
    older, held_out = split(commits, inner)
    rows = {name: judge(make(older), held_out) for name, make in METHODS.items()}
    return {"commits": len(commits), "learnt_from": len(older), "held_out": len(held_out), "methods": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repo", type=Path, nargs="+", required=True, help="git repositories, with their history")
    parser.add_argument("--inner", action="store_true", help="measure within the older part only, to choose constants")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = {}
    for repository in options.repo:
        name = "/".join(repository.resolve().parts[-2:])
        results[name] = measured = measure(repository, options.inner)
        print(
            f"\n{name}: {measured['commits']} commits, {measured['learnt_from']} learnt from, "
            f"{measured['held_out']} held out"
        )
        print(f"{'':34}{'MRR':>8}{'recall@5':>10}{'asked':>8}")
        for method, row in measured["methods"].items():  # type: ignore[attr-defined]
            print(f"{method:34}{row['mrr']:8.3f}{row['recall_at_5']:10.3f}{row['asked']:8}")
    if options.json:
        options.json.write_text(json.dumps({"inner": options.inner, "repositories": results}, indent=2) + "\n")


if __name__ == "__main__":
    main()
