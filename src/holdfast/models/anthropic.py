"""Anthropic's Messages API. Options: `model`, `api_key_env` (name of the variable that holds the key), `url`.

Source: Anthropic API reference, "Messages".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import ModelError
from holdfast.models._http import MAX_OUTPUT_TOKENS, HttpModel, ModelAnswer, fields_of
from holdfast.outside.endpoint import checked_key
from holdfast.ports.plugins import LanguageModel

URL = "https://api.anthropic.com/v1/messages"
VERSION = "2023-06-01"


class Anthropic(HttpModel):
    """A model of Anthropic's."""

    def question(self, prompt: str) -> dict[str, Any]:
        """Return the request's body."""
        messages = [{"role": "user", "content": prompt}]
        return {"model": self.model, "max_tokens": MAX_OUTPUT_TOKENS, "messages": messages}

    def parse(self, answer: Mapping[str, Any]) -> ModelAnswer:
        """Return the texts of all blocks as one."""
        blocks = answer.get("content")
        texts = [block.get("text", "") for block in map(fields_of, blocks if isinstance(blocks, list) else ())]
        usage = fields_of(answer.get("usage"))
        text = "".join(texts) if all(isinstance(text, str) for text in texts) else None
        return ModelAnswer(text, usage.get("input_tokens"), usage.get("output_tokens"))


def make(options: Mapping[str, str]) -> LanguageModel:
    """Return the model for those options; nothing is sent yet. Raises InvalidValueError or ModelError."""
    key = checked_key(options.get("api_key", ""), ModelError)
    return Anthropic(options.get("url") or URL, options, {"x-api-key": key, "anthropic-version": VERSION})
