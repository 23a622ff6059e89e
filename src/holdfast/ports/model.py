"""LanguageModel: one prompt in, one text out. Asked only where the user said yes."""

from __future__ import annotations

from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object


class Completion(Frozen):
    """A model's answer and what it cost, as far as the model says."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None: the model does not say."""


class LanguageModel(Protocol):
    """A model behind an endpoint, or the user's own agent in headless mode."""

    id: str
    """Who is asked: provider or host, and model."""

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """The answer to the prompt, which is at most 1 MB long.

        Raises ModelError when there is none in time; its message never holds a key or the prompt.
        """
        ...
