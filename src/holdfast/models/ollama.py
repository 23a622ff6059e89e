"""A model that Ollama serves on this machine. Options: `model`, `url` (default `http://127.0.0.1:11434`).

Source: Ollama's API documentation, "Generate a chat completion".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.models._http import HttpModel, ModelAnswer, fields_of
from holdfast.ports.plugins import LanguageModel

URL = "http://127.0.0.1:11434"
CONTEXT_TOKENS = 16_384
"""Tokens of the context that is asked for; Ollama's default would cut a digest."""


class Ollama(HttpModel):
    """A model that Ollama serves."""

    cost_usd = 0.0

    def question(self, prompt: str) -> dict[str, Any]:
        """Return the request's body."""
        return {
            "model": self.model,
            "stream": False,
            "format": "json",
            "options": {"num_ctx": CONTEXT_TOKENS, "temperature": 0},
            "messages": [{"role": "user", "content": prompt}],
        }

    def parse(self, answer: Mapping[str, Any]) -> ModelAnswer:
        """Return the message's text."""
        text = fields_of(answer.get("message")).get("content")
        return ModelAnswer(text, answer.get("prompt_eval_count"), answer.get("eval_count"))


def make(options: Mapping[str, str]) -> LanguageModel:
    """Return the model for those options; nothing is sent yet. Raises InvalidValueError."""
    return Ollama((options.get("url") or URL).rstrip("/") + "/api/chat", options, {})
