"""Embedder behind an Ollama server: `POST /api/embed`.

Options: `model`, `dimension`, `url` (default the local server, http://127.0.0.1:11434), `api_key_env` (for a server
behind a gateway), `batch` (32), `timeout_s` (60: the first call may load the model), `query_timeout_s` (2),
`longest` (characters of a text, 8000), `keep_alive` (how long the server keeps the model loaded, such as `30m`).
Source: Ollama's API documentation, "Generate Embeddings".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.embedders._remote import EmbeddingEndpoint, RemoteEmbedder, number_of
from holdfast.ports.plugins import Embedder

LOCAL = "http://127.0.0.1:11434"


class OllamaEmbedder(RemoteEmbedder):
    """Unit vectors from an Ollama server."""

    batch = 32

    def question(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return the request's body."""
        body: dict[str, Any] = {"model": self.model, "input": list(texts), "truncate": True}
        if self.options.get("keep_alive"):
            body["keep_alive"] = self.options["keep_alive"]
        return body

    def rows(self, answer: Mapping[str, Any]) -> Any:
        """Return the vectors in the order of the texts."""
        return answer.get("embeddings")


def make(options: Mapping[str, str]) -> Embedder:
    """Return the embedder for those options; nothing is sent yet. Raises InvalidValueError if one is missing."""
    url = (options.get("url") or LOCAL).rstrip("/")
    timeout_s = number_of(options, "timeout_s", 60.0, 0.01)
    endpoint = EmbeddingEndpoint(url + "/api/embed", api_key=options.get("api_key", ""), timeout_s=timeout_s)
    return OllamaEmbedder(endpoint, options)
