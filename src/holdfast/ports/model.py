"""LanguageModel: answers one prompt with one text. It is called only where the user has agreed to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's answer and its cost, as far as the model reports it."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None: the model does not report it."""


class LanguageModel(Protocol):
    """A model behind an endpoint, or the user's own agent in headless mode."""

    id: str
    """Provider or host, and model."""

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """Return the answer to the prompt, which is at most 1 MB long.

        Raises ModelError when there is no answer in time; its message never holds a key or the prompt.
        """
