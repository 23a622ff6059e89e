"""Any endpoint that speaks OpenAI's `POST /chat/completions` (OpenAI, vLLM, LiteLLM, llama.cpp, ...).

Options: `url` (up to and without `/chat/completions`), `model`, `api_key_env` (name of the variable with the key).
Source: OpenAI API reference, "Create chat completion".
"""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.errors import ModelError
from holdfast.models._http import bearer, count, host_of, post, required
from holdfast.ports.model import Completion, LanguageModel

ENDING = "/chat/completions"


class OpenAICompatible:
    """A chat model behind such an endpoint."""

    def __init__(self, options: Mapping[str, str]) -> None:
        url = required(options, "url").rstrip("/")
        self._url = url if url.endswith(ENDING) else url + ENDING
        self._model = required(options, "model")
        self._headers = bearer(options)
        self.id = f"{self._model}@{host_of(self._url)}"

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """Return the model's answer. Raises ModelError."""
        question = {"model": self._model, "messages": [{"role": "user", "content": prompt}]}
        answer = post(self._url, question, self._headers, timeout_s)
        try:
            text = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError):
            text = None
        if not isinstance(text, str) or not text.strip():
            raise ModelError(f"{self.id} answered no text")
        usage = answer.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        return Completion(
            text=text,
            input_tokens=count(usage.get("prompt_tokens")),
            output_tokens=count(usage.get("completion_tokens")),
        )


def make(options: Mapping[str, str]) -> LanguageModel:
    """Return the model for those options; nothing is sent yet. Raises InvalidValueError or ModelError."""
    return OpenAICompatible(options)
