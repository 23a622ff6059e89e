"""Which earlier commit matters to this change: commits are lessons, anchored to the files and symbols they touched.

Questions come as in life: a commit is known to those after it only, so lessons are stored in their order and each
question is asked when its predecessors, and no others, are known. Kind `prior`: a later commit whose author cited an
earlier one; kind `changelog`: a release note whose fix is the answer. `one file` adds one file of the change, drawn
by the seed, with its symbols: what is known before an edit.
"""

from __future__ import annotations

import json
import random
from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.recall.cases import Ask, Corpus, Item, MissingSetError, Trial, hashes_of, headline

SYMBOLS_KEPT = 60
"""Most anchors of one commit."""


def load(folder: Path, seed: int) -> list[Trial]:
    """One corpus a repository."""
    files = sorted((folder / "project_history").glob("*.json"))
    if not files:
        raise MissingSetError(f"{folder / 'project_history'} holds no *.json: nothing is downloaded")
    corpora = tuple(corpus_of(json.loads(file.read_text("utf-8")), file.stem, seed) for file in files)
    return [Trial("project_history", corpora, hashes_of(files))]


def corpus_of(history: dict[str, Any], name: str, seed: int) -> Corpus:
    """The commits in order, and every variant of every question."""
    memories = sorted(enumerate(history["memories"]), key=lambda pair: pair[1]["pos"])
    names = {index: f"{memory['pos']}-{memory['id']}" for index, memory in memories}
    positions = [memory["pos"] for _, memory in memories]
    items = tuple(item_of(names[index], memory) for index, memory in memories)
    asks: list[Ask] = []
    for query in history["queries"]:
        known = bisect_left(positions, query["pos"])
        gold = frozenset(names[index] for index in query["gold"])
        asks += [ask for ask in asks_of(query, gold, known, seed) if gold]
    return Corpus(name, items, tuple(asks))


def item_of(name: str, memory: dict[str, Any]) -> Item:
    """Subject as title and insight, body as the reason, what it touched as anchors."""
    subject, _, body = memory["text"].strip().partition("\n")
    subject = subject.strip() or memory["id"]
    symbols = [tuple(symbol.split("::", 1)) for symbol in memory["syms"]]
    places = [(path, "") for path in memory["files"]] + [pair for pair in symbols if len(pair) == 2]
    return Item(
        name,
        subject,
        title=headline(subject),
        why=body.strip()[:4000],
        at=datetime.fromtimestamp(memory["t"], UTC),
        anchors=tuple(places[:SYMBOLS_KEPT]),
    )


def asks_of(query: dict[str, Any], gold: frozenset[str], known: int, seed: int) -> Iterator[Ask]:
    """Title and task, each alone, with one file and with all."""
    at = datetime.fromtimestamp(query["t"], UTC)
    if query["kind"] == "changelog":
        yield Ask(query["qid"], query["title"], gold, "changelog", known=known, at=at)
        return
    every = tuple(query["files"]), tuple(query["syms"])
    single = _one_file(query, seed)
    for words, text in (("title", query["title"]), ("task", query["task"])):
        yield Ask(query["qid"], text, gold, words, known=known, at=at)
        for suffix, (paths, symbols) in ((" + one file", single), (" + all files", every)):
            short = tuple(symbol.split("::", 1)[-1] for symbol in symbols)
            yield Ask(query["qid"], text, gold, words + suffix, paths=paths, symbols=short, known=known, at=at)
    short = tuple(symbol.split("::", 1)[-1] for symbol in single[1])
    yield Ask(query["qid"], "", gold, "no words, one file", paths=single[0], symbols=short, known=known, at=at)


def _one_file(query: dict[str, Any], seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if not query["files"]:
        return (), ()
    path = random.Random(f"{seed}:{query['qid']}").choice(query["files"])
    return (path,), tuple(symbol for symbol in query["syms"] if symbol.startswith(path + "::"))
