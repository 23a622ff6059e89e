"""Shared by models behind an HTTP endpoint: one POST of JSON, answered by a JSON object of limited size.

A failed request is not repeated here: the caller keeps a queue and tries the session again later.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidValueError, ModelError, ModelUnavailableError
from holdfast.outside import endpoint
from holdfast.outside.weburl import host_in

ANSWER_LIMIT = 1_000_000
"""Bytes; a longer answer is refused."""

MAX_OUTPUT_TOKENS = 4_000


class CompletionEndpoint(endpoint.Endpoint):
    """One URL that returns completions for prompts."""

    error = ModelError
    refusal_error = ModelUnavailableError

    def no_answer(self, failure: endpoint.NoAnswerError, limit_s: float) -> ModelError:
        """Return the error for a failed request; trying later is safe."""
        if isinstance(failure, endpoint.LateError):
            return ModelError(f"{self.host} did not answer within {limit_s:.0f} s")
        if failure.status:
            hint = "check `url` and `model`"
            return ModelUnavailableError(f"{self.host} answered status {failure.status}", hint=hint)
        return ModelUnavailableError(f"{self.host} cannot be asked: {failure}", hint="check `url` and the network")


def post(url: str, question: Mapping[str, Any], headers: Mapping[str, str], timeout_s: float) -> dict[str, Any]:
    """Return the endpoint's JSON object. Raises ModelError, whose message never holds a key or the question."""
    return CompletionEndpoint(url, host_of(url), headers).ask(question, timeout_s, ANSWER_LIMIT, tries=1)


def host_of(url: str) -> str:
    """Return host and port of an http(s) URL, without a login. Raises InvalidValueError for anything else."""
    host = host_in(url)
    if not host:
        raise InvalidValueError("a model's url must be http://... or https://...", hint="set `url` under [distil]")
    return host


def bearer(options: Mapping[str, str]) -> dict[str, str]:
    """Return the header that carries the key, if there is one. Raises ModelError for a key that no header can hold."""
    return endpoint.bearer(options.get("api_key", ""), ModelError)


def checked_key(options: Mapping[str, str]) -> str:
    """Return the key of the options. Raises ModelError, without the key, if no header can hold it."""
    return endpoint.checked_key(options.get("api_key", ""), ModelError)


def required(options: Mapping[str, str], name: str) -> str:
    """Return an option that has no default. Raises InvalidValueError if it is missing."""
    if not options.get(name):
        raise InvalidValueError(f"the model needs `{name}`", hint=f"holdfast distil use ... {name}=VALUE")
    return options[name]


def count(value: object) -> int:
    """Return a number of tokens from an answer; 0 if it is no number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
