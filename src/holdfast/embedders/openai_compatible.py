"""Embedder behind an endpoint that speaks OpenAI's `POST /embeddings` (OpenAI, vLLM, LiteLLM, llama.cpp, ...).

Options: `url` (up to and without `/embeddings`), `model`, `dimension`, `api_key_env` (name of the variable that holds
the key), `ask_dimension` (`true`: ask the endpoint for vectors of that dimension), `batch` (64), `timeout_s` (30),
`query_timeout_s` (2), `longest` (characters of a text, 8000).
Source: OpenAI API reference, "Create embeddings".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.embedders._remote import EmbeddingEndpoint, RemoteEmbedder, number_of, required
from holdfast.ports.plugins import Embedder


class OpenAICompatibleEmbedder(RemoteEmbedder):
    """Unit vectors from an OpenAI-compatible endpoint."""

    batch = 64

    def question(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return the request's body."""
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        if self.options.get("ask_dimension", "").lower() == "true":
            body["dimensions"] = self.dimension
        return body

    def rows(self, answer: Mapping[str, Any]) -> Any:
        """Return the vectors in the order of the texts, by `index` if present; None for a malformed answer."""
        items = answer.get("data")
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            return None
        places = [item.get("index", at) for at, item in enumerate(items)]
        if {place for place in places if isinstance(place, int)} != set(range(len(items))):
            return None
        return [item.get("embedding") for _, item in sorted(zip(places, items, strict=True), key=lambda pair: pair[0])]


def make(options: Mapping[str, str]) -> Embedder:
    """Return the embedder for those options; nothing is sent yet. Raises InvalidValueError if one is missing."""
    url = required(options, "url").rstrip("/")
    url = url if url.endswith("/embeddings") else url + "/embeddings"
    timeout_s = number_of(options, "timeout_s", 30.0, 0.01)
    return OpenAICompatibleEmbedder(
        EmbeddingEndpoint(url, api_key=options.get("api_key", ""), timeout_s=timeout_s), options
    )
