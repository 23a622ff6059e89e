"""A model that Ollama serves on this machine. Options: `model`, `url` (default `http://127.0.0.1:11434`).

Source: Ollama's API documentation, "Generate a chat completion".
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.errors import ModelError
from holdfast.models._http import count, host_of, post, required
from holdfast.ports.model import Completion, LanguageModel

URL = "http://127.0.0.1:11434"
CONTEXT_TOKENS = 16_384
"""Tokens of the context that is asked for; Ollama's default would cut a digest."""


class Ollama:
    """A model that Ollama serves."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._url = (options.get("url") or URL).rstrip("/") + "/api/chat"
        self._model = required(options, "model")
        self.id = f"{self._model}@{host_of(self._url)}"

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """Return the model's answer. Raises ModelError."""
        question = {
            "model": self._model,
            "stream": False,
            "format": "json",
            "options": {"num_ctx": CONTEXT_TOKENS, "temperature": 0},
            "messages": [{"role": "user", "content": prompt}],
        }
        answer = post(self._url, question, {}, timeout_s)
        message = answer.get("message")
        text = message.get("content") if isinstance(message, dict) else None
        if not isinstance(text, str) or not text.strip():
            raise ModelError(f"{self.id} answered no text")
        return Completion(
            text=text,
            input_tokens=count(answer.get("prompt_eval_count")),
            output_tokens=count(answer.get("eval_count")),
            cost_usd=0.0,
        )


def make(options: Mapping[str, str]) -> LanguageModel:
    """Return the model for those options; nothing is sent yet. Raises InvalidValueError."""
    return Ollama(options)
