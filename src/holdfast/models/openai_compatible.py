"""Any endpoint that speaks OpenAI's `POST /chat/completions` (OpenAI, vLLM, LiteLLM, llama.cpp, ...).

Options: `url` (up to and without `/chat/completions`), `model`, `api_key_env` (name of the variable with the key).
Source: OpenAI API reference, "Create chat completion".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import ModelError
from holdfast.models._http import HttpModel, ModelAnswer, fields_of, required
from holdfast.outside.endpoint import bearer
from holdfast.ports.plugins import LanguageModel

ENDING = "/chat/completions"


class OpenAICompatible(HttpModel):
    """A chat model behind such an endpoint."""

    def question(self, prompt: str) -> dict[str, Any]:
        """Return the request's body."""
        return {"model": self.model, "messages": [{"role": "user", "content": prompt}]}

    def parse(self, answer: Mapping[str, Any]) -> ModelAnswer:
        """Return the text of the first choice."""
        choices = answer.get("choices")
        first = fields_of(choices[0]) if isinstance(choices, list) and choices else {}
        usage = fields_of(answer.get("usage"))
        text = fields_of(first.get("message")).get("content")
        return ModelAnswer(text, usage.get("prompt_tokens"), usage.get("completion_tokens"))


def make(options: Mapping[str, str]) -> LanguageModel:
    """Return the model for those options; nothing is sent yet. Raises InvalidValueError or ModelError."""
    url = required(options, "url").rstrip("/")
    headers = bearer(options.get("api_key", ""), ModelError)
    return OpenAICompatible(url if url.endswith(ENDING) else url + ENDING, options, headers)
