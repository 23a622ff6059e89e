"""Shared by models behind an HTTP endpoint: one POST of JSON, answered by a JSON object of limited size.

A failed request is not repeated here: the caller keeps a queue and tries the session again later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from holdfast.errors import InvalidValueError, ModelError, ModelUnavailableError
from holdfast.outside.endpoint import Endpoint, LateError, NoAnswerError, host_in
from holdfast.ports.plugins import Completion

ANSWER_LIMIT = 1_000_000
"""Bytes; a longer answer is refused."""
MAX_OUTPUT_TOKENS = 4_000


class ModelAnswer(NamedTuple):
    """What an endpoint answered, as it wrote it: nothing is checked."""

    text: object
    input_tokens: object = None
    output_tokens: object = None


class CompletionEndpoint(Endpoint):
    """One URL that returns completions for prompts."""

    error = ModelError
    refusal_error = ModelUnavailableError

    def no_answer(self, failure: NoAnswerError, limit_s: float) -> ModelError:
        """Return the error for a failed request; trying later is safe."""
        if isinstance(failure, LateError):
            return ModelError(f"{self.host} did not answer within {limit_s:.0f} s")
        if failure.status:
            hint = "check `url` and `model`"
            return ModelUnavailableError(f"{self.host} answered status {failure.status}", hint=hint)
        return ModelUnavailableError(f"{self.host} cannot be asked: {failure}", hint="check `url` and the network")


class HttpModel:
    """A model behind an endpoint. A subclass defines the question and where the answer is."""

    cost_usd: float | None = None
    """What each call costs; None if it is not known."""

    def __init__(self, url: str, options: Mapping[str, str], headers: Mapping[str, str]) -> None:
        self.model = required(options, "model")
        host = host_in(url)
        if not host:
            raise InvalidValueError("a model's url must be http://... or https://...", hint="set `url` under [distil]")
        self.id = f"{self.model}@{host}"
        self._endpoint = CompletionEndpoint(url, host, headers)

    def question(self, prompt: str) -> dict[str, Any]:
        """Return the request's body."""
        raise NotImplementedError

    def parse(self, answer: Mapping[str, Any]) -> ModelAnswer:
        """Return the text and the counts of tokens in the endpoint's answer."""
        raise NotImplementedError

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """Return the model's answer. Raises ModelError, whose message never holds a key or the prompt."""
        text, input_tokens, output_tokens = self.parse(
            self._endpoint.ask(self.question(prompt), timeout_s, ANSWER_LIMIT, tries=1)
        )
        if not isinstance(text, str) or not text.strip():
            raise ModelError(f"{self.id} answered no text")
        return Completion(
            text=text, input_tokens=_count(input_tokens), output_tokens=_count(output_tokens), cost_usd=self.cost_usd
        )


def required(options: Mapping[str, str], name: str) -> str:
    """Return an option that has no default. Raises InvalidValueError if it is missing."""
    if not options.get(name):
        raise InvalidValueError(f"the model needs `{name}`", hint=f"holdfast distil use ... {name}=VALUE")
    return options[name]


def fields_of(value: object) -> Mapping[str, Any]:
    """Return the value if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def _count(value: object) -> int:
    """Return a number of tokens from an answer; 0 if it is no number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
