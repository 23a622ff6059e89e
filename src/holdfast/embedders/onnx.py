"""Embedder from a local folder: a transformer in ONNX form, run on the CPU by fastembed. Never reaches the network.

Needs the extra: `pip install 'holdfast-memory[onnx]'`.
Options: `path` (folder with the model file, `tokenizer.json`, `tokenizer_config.json` and `config.json`), `file` (the
model file in it; default the first of `model.onnx`, `onnx/model.onnx`), `pooling` (`mean`, the default, `cls` or
`last_token`), `dimension` (default `hidden_size` of `config.json`), `threads` (1: more only wait for each other on a
busy machine), `batch` (16), `longest` (characters of a text, 4000).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.util import find_spec
from typing import Any

from holdfast.embedders._remote import batches, checked, number_of
from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.lean.texts import loads
from holdfast.ports.plugins import Embedder

FILES = ("model.onnx", "onnx/model.onnx")
POOLINGS = ("mean", "cls", "last_token")
SAMPLE = 65_536
"""Bytes from either end of the model file that, with its size, tell one revision from another."""


class OnnxEmbedder:
    """Unit vectors from a model on this machine, which is loaded for the first text."""

    is_local = True

    def __init__(self, folder: str, file: str, options: Mapping[str, str]) -> None:
        self.dimension = int(number_of(options, "dimension", _hidden_size(folder), 1))
        self.id = f"{os.path.basename(folder)}@{fingerprint(os.path.join(folder, file))}#{self.dimension}"
        self._folder, self._file = folder, file
        self._pooling = _pooling(options)
        self._threads = int(number_of(options, "threads", 1, 1))
        self._batch = int(number_of(options, "batch", 16, 1))
        self._longest = int(number_of(options, "longest", 4_000, 1))
        self._model: Any = None

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one unit vector per text, in order. Raises EmbedderError."""
        vectors: list[list[float]] = []
        for batch in batches(texts, self._batch, self._longest):
            vectors += checked(self._rows(batch), len(batch), self.dimension, self._folder)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of a question. Raises EmbedderError."""
        return self.embed_documents([text])[0]

    def _rows(self, texts: list[str]) -> list[list[float]]:
        try:
            if self._model is None:
                self._model = self._load()
            return [[float(number) for number in row] for row in self._model.embed(texts, batch_size=len(texts))]
        except Exception as exc:  # fastembed, tokenizers and onnxruntime each raise their own
            hint = "the folder must hold the model, tokenizer.json, tokenizer_config.json and config.json"
            raise EmbedderError(f"{self._folder}: {type(exc).__name__}: {exc}", hint=hint) from exc

    def _load(self) -> Any:
        from fastembed import TextEmbedding
        from fastembed.common.model_description import ModelSource, PoolingType

        if not any(self.id.lower() == known["model"].lower() for known in TextEmbedding.list_supported_models()):
            TextEmbedding.add_custom_model(
                model=self.id,
                pooling=PoolingType[self._pooling.upper()],
                normalization=True,
                sources=ModelSource(url=self._folder),
                dim=self.dimension,
                model_file=self._file,
            )
        return TextEmbedding(
            model_name=self.id,
            specific_model_path=self._folder,
            local_files_only=True,
            threads=self._threads,
            providers=["CPUExecutionProvider"],
        )


def make(options: Mapping[str, str]) -> Embedder:
    """Return the embedder of that folder, not loaded yet. Raises EmbedderError without fastembed or the files."""
    if find_spec("fastembed") is None:
        raise EmbedderError("fastembed is not installed", hint="pip install 'holdfast-memory[onnx]'")
    if not options.get("path"):
        raise EmbedderError("no model", hint="holdfast embedder pull, or set `path` to a folder with one")
    folder = os.path.abspath(os.path.expanduser(options["path"]))
    names = (options["file"],) if options.get("file") else FILES
    file = next((name for name in names if os.path.isfile(os.path.join(folder, name))), "")
    if not file:
        raise EmbedderError(f"no {' or '.join(names)} in {folder}", hint="set `path` (and `file`) under [embedder]")
    return OnnxEmbedder(folder, file, options)


def fingerprint(path: str) -> str:
    """Return twelve hexadecimal digits of the file's size and both ends, so that a large file costs nothing."""
    with open(path, "rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        head = stream.read(SAMPLE)
        stream.seek(max(0, size - SAMPLE))
        return sha256(b"%d\0" % size + head + stream.read(SAMPLE)).hexdigest()[:12]


def _hidden_size(folder: str) -> float:
    """Return the dimension in the model's configuration; 0 if it names none."""
    try:
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as stream:
            config = loads(stream.read())
    except (OSError, ValueError):
        return 0
    size = config.get("hidden_size", 0) if isinstance(config, dict) else 0
    return float(size) if isinstance(size, int) else 0


def _pooling(options: Mapping[str, str]) -> str:
    name = options.get("pooling", "mean")
    if name not in POOLINGS:
        raise InvalidValueError(f"embedder: no pooling {name!r}", hint=f"one of {', '.join(POOLINGS)}")
    return name
