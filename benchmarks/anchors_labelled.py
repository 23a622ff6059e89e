"""Anchors against labels: definitions of seven languages whose fate in git was read from the diffs.

    python -m benchmarks.anchors_labelled --data DIR [--json FILE] [--misses]

`anchors_labels.tsv` names a repository, two commits, a definition at the first of them, and where it is at the second:
moved (same name elsewhere), renamed, deleted, changed in place, untouched (the same text), layout (the same but for
white space). Moved, renamed and deleted were read from the diffs between the commits before the program was asked;
untouched and layout come from the bytes at the names that universal-ctags gives. Five labels were corrected when the
answers were read: an annotation above what ctags gives had changed (4), and a name meant two overloads (1). What was
wrong in Go, Java, C# and TypeScript was then mended; nothing was changed for Rust, PHP and Ruby.

`--data` holds the git directories, at `<owner>+<name>/repo`; a repository that is not there is left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.anchors_live import _git as git
from tests.contract.memorystore import MemoryStore

from holdfast.codeindex.local import LocalCodeIndex
from holdfast.codeindex.source import unnumbered
from holdfast.domain.symbol import Verdict
from holdfast.rendering.verdicts import verdict_words
from holdfast.stores.sqlite.indexfile import make_index
from holdfast.wiring import SystemClock
from holdfast.workspace.local import LocalWorkspace

LABELS = Path(__file__).with_name("anchors_labels.tsv")
FLAGGED = ("drifted", "changed", "orphaned")
SHARES = {
    "moved": "followed", "renamed": "followed", "changed": "found", "deleted": "followed",
    "untouched": "flagged", "layout": "flagged",
}  # fmt: skip
"""What is counted of each class."""


class Label(NamedTuple):
    """One row of the labels."""

    language: str
    repository: str
    before: str
    after: str
    kind: str
    path: str
    symbol: str
    now: str


class Answer(NamedTuple):
    """What was said of a label; no verdict where the definition could not be anchored."""

    label: Label
    verdict: Verdict | None

    @property
    def place(self) -> str:
        """Where it is now, as `path::name`; empty when it is said to be gone, or not to be told."""
        if self.verdict is None or self.verdict.freshness in ("orphaned", "unverified"):
            return ""
        return f"{self.verdict.anchor.path}::{unnumbered(self.verdict.anchor.symbol)}"

    @property
    def counts(self) -> bool:
        """Whether it adds to the share that its class is measured by."""
        state = self.verdict.freshness if self.verdict else ""
        if self.label.kind in ("untouched", "layout"):
            return state in FLAGGED
        return bool(self.place) if self.label.kind == "deleted" else self.place == self.label.now

    @property
    def is_right(self) -> bool:
        return self.counts == (self.label.kind in ("moved", "renamed", "changed"))


def main() -> int:
    options = _options()
    answers = list(_answers(options.data))
    if not answers:
        print(f"nothing to measure: none of the repositories is in {options.data}", file=sys.stderr)
        return 0
    report = _report(answers)
    for language, classes in report.items():
        cells = (f"{kind}: {row[SHARES[kind]]} of {row['of']} {SHARES[kind]}" for kind, row in classes.items())
        print(f"{language}: " + "; ".join(cells))
    if options.misses:
        for answer in answers:
            if answer.verdict is None or not answer.is_right:
                _print_miss(answer)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--misses", action="store_true", help="also print every answer that is wrong")
    return parser.parse_args()


def _answers(clones: Path) -> Iterator[Answer]:
    with LABELS.open(encoding="utf-8", newline="") as file:
        labels = [Label(*row) for row in list(csv.reader(file, delimiter="\t"))[1:]]
    missing = sorted({label.repository for label in labels if not (clones / label.repository / "repo").is_dir()})
    for folder in missing:
        print(f"{folder}: left out, it is not in {clones}", file=sys.stderr)
    labels = sorted((label for label in labels if label.repository not in missing), key=lambda label: label[1:4])
    for (folder, before, after), group in groupby(labels, key=lambda label: label[1:4]):
        yield from _replay(clones / folder / "repo", before, after, list(group))


def _replay(repository: Path, before: str, after: str, labels: list[Label]) -> Iterator[Answer]:
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        git(scratch, "clone", "-q", "--shared", "--no-checkout", str(repository), str(tree))
        git(tree, "checkout", "-q", "--detach", before)
        workspace = LocalWorkspace(MemoryStore(), SystemClock(), timeout_scale=20)
        index = make_index({"path": f"{scratch}/index.db"})
        with LocalCodeIndex(workspace, lambda location: index, SystemClock(), search_s=60) as code:
            location = workspace.locate(str(tree))
            anchors = [code.anchors(location, label.path, [label.symbol], None) for label in labels]
            git(tree, "checkout", "-q", "--detach", after)
            location = workspace.locate(str(tree))
            code.refresh(location)
            for label, label_anchors in zip(labels, anchors, strict=True):
                is_meant = bool(label_anchors) and unnumbered(label_anchors[0].symbol) == label.symbol
                yield Answer(label, code.verdict(location, label_anchors[0]) if is_meant else None)


def _report(answers: list[Answer]) -> dict[str, dict[str, dict[str, int]]]:
    """Per language and for all, per class: how many, how many could be anchored, and what is counted of the class."""
    report: dict[str, dict[str, dict[str, int]]] = {}
    for language in [*dict.fromkeys(answer.label.language for answer in answers), "all"]:
        own = [answer for answer in answers if language in ("all", answer.label.language)]
        report[language] = {
            kind: _measure(kind, [answer for answer in own if answer.label.kind == kind])
            for kind in SHARES
            if any(answer.label.kind == kind for answer in own)
        }
    return report


def _measure(kind: str, answers: list[Answer]) -> dict[str, Any]:
    judged = [answer.verdict for answer in answers if answer.verdict is not None]
    return {
        "of": len(answers),
        "anchored": len(judged),
        "unverified": sum(verdict.freshness == "unverified" for verdict in judged),
        SHARES[kind]: sum(answer.counts for answer in answers),
    }


def _print_miss(answer: Answer) -> None:
    label, verdict = answer.label, answer.verdict
    print(f"{label.language}  {label.kind}  {label.path}::{label.symbol}  {label.before[:9]}..{label.after[:9]}")
    verdict_text = (
        f"{verdict.freshness} {answer.place} ({verdict_words(verdict)})" if verdict else "it cannot be anchored"
    )
    print(f"      now {label.now or 'gone'}; told: {verdict_text}")


if __name__ == "__main__":
    sys.exit(main())
