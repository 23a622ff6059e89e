"""Lessons of real coding sessions and later questions paraphrased to need them; one repository is a project.

Variants: the gist alone; the gist with the quote it rests on and its files, asked with the paths the work would
touch. The lesson or one that says the same answers a question: see `hit@k`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.recall.cases import Ask, Corpus, Item, Trial, hashes_of, require

KINDS = {"bug_root_cause": "bug_cause"}
FEWEST = 8
"""Repositories with fewer lessons are no place for what is unrelated: they have too little to confuse."""


def load(folder: Path, seed: int) -> list[Trial]:
    """Gists alone, and gists with quotes and files."""
    home = folder / "transcripts" / "dev"
    files = require(home, "labels.jsonl", "queries.jsonl")
    labels, queries = (list(_lines(file)) for file in files)
    prompts = _prompts(home, labels)
    repositories = list(dict.fromkeys(label["repo"] for label in labels))
    trials = []
    for name, full in (("transcripts", False), ("transcripts with files", True)):
        corpora = []
        for repository in repositories:
            items = tuple(item_of(label, full) for label in labels if label["repo"] == repository)
            asks = tuple(ask for q in queries if q["repo"] == repository for ask in asks_of(q, full))
            corpora.append(Corpus(repository, items, asks, prompts=prompts[repository] if len(items) >= FEWEST else ()))
        trials.append(Trial(name, tuple(corpora), hashes_of(files)))
    return trials


def item_of(label: dict[str, Any], full: bool) -> Item:
    """The gist as a lesson; in full with its quotes and the files and symbols it is about."""
    files = [str(name) for name in label["files"]] if full else []
    paths = [name for name in files if "/" in name or "." in name]
    symbols = [name for name in files if name not in paths]
    places = [(path, "") for path in paths] + [(paths[0], symbol) for symbol in symbols if paths]
    return Item(
        label["id"],
        label["gist"],
        snippets=tuple(span["quote"] for span in label["evidence"]) if full else (),
        session=label["session"],
        kind=KINDS.get(label["category"], label["category"]),
        anchors=tuple(places),
        tags=() if places else tuple(symbols),
    )


def asks_of(query: dict[str, Any], full: bool) -> Iterator[Ask]:
    """The question by itself and, in full, with the paths that would be touched then."""
    gold, words = frozenset(query["relevant"]), query["difficulty"].replace("_", " ")
    yield Ask(query["qid"], query["query"], gold, "gist + quote + files" if full else "gist", words)
    if full:
        paths = tuple(query["paths"])
        yield Ask(query["qid"], query["query"], gold, "gist + quote + files, paths given", words, paths=paths)


def _prompts(home: Path, labels: list[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    """What people typed in the sessions of each repository."""
    prompts: dict[str, dict[str, None]] = {label["repo"]: {} for label in labels}
    for session, repository in {label["session"]: label["repo"] for label in labels}.items():
        for turn in _lines(home / "sessions" / f"{session}.jsonl"):
            if turn["role"] == "user" and turn["kind"] == "text":
                prompts[repository][turn["text"]] = None
    return {repository: tuple(texts) for repository, texts in prompts.items()}


def _lines(file: Path) -> Iterator[dict[str, Any]]:
    if file.is_file():
        for line in file.read_text("utf-8").splitlines():
            yield json.loads(line)
