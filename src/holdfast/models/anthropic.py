"""Anthropic's Messages API. Options: `model`, `api_key_env` (name of the variable that holds the key), `url`.

Source: Anthropic API reference, "Messages".
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.errors import ModelError
from holdfast.models._http import MAX_OUTPUT_TOKENS, checked_key, count, host_of, post, required
from holdfast.ports.model import Completion, LanguageModel

URL = "https://api.anthropic.com/v1/messages"
VERSION = "2023-06-01"


class Anthropic:
    """A model of Anthropic's."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._url = options.get("url") or URL
        self._model = required(options, "model")
        self._key = checked_key(options)
        self.id = f"{self._model}@{host_of(self._url)}"

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """Return the model's answer. Raises ModelError."""
        question = {
            "model": self._model,
            "max_tokens": MAX_OUTPUT_TOKENS,
            "messages": [{"role": "user", "content": prompt}],
        }
        answer = post(self._url, question, {"x-api-key": self._key, "anthropic-version": VERSION}, timeout_s)
        blocks = answer.get("content")
        texts = [b.get("text", "") for b in blocks if isinstance(b, dict)] if isinstance(blocks, list) else []
        if not all(isinstance(text, str) for text in texts) or not "".join(texts).strip():
            raise ModelError(f"{self.id} answered no text")
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Completion(
            text="".join(texts),
            input_tokens=count(usage.get("input_tokens")),
            output_tokens=count(usage.get("output_tokens")),
        )


def make(options: Mapping[str, str]) -> LanguageModel:
    """Return the model for those options; nothing is sent yet. Raises InvalidValueError or ModelError."""
    return Anthropic(options)
