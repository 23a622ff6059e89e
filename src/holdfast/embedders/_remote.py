"""Shared by embedders behind an HTTP endpoint: one POST with retries, and the check of the answer.

Nothing here is called unless the user named an endpoint.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from math import isfinite, sqrt
from typing import Any

from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.outside import endpoint
from holdfast.outside.endpoint import host_in

TRIES = 4
"""How often one request is sent at most."""
ANSWER_BYTES, VECTOR_BYTES = 1_000_000, 500_000
"""An answer may be that long, and that much longer for each text: a vector of 16,000 numbers, written at length."""


class EmbeddingEndpoint(endpoint.Endpoint):
    """One URL that returns vectors for texts."""

    error = EmbedderError

    def __init__(
        self,
        url: str,
        *,
        api_key: str = "",
        timeout_s: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(url, host_of(url), endpoint.bearer(api_key, EmbedderError), sleep, chance)
        self.timeout_s = timeout_s

    def post(
        self, question: Mapping[str, Any], texts: int = 1, timeout_s: float = 0.0, tries: int = TRIES
    ) -> dict[str, Any]:
        """Return the JSON object that answers a question about that many texts. Raises EmbedderError if there is none.

        `timeout_s` limits one try in all, connecting included; 0 means the endpoint's own limit.
        """
        return self.ask(question, timeout_s or self.timeout_s, ANSWER_BYTES + texts * VECTOR_BYTES, tries)

    def no_answer(self, failure: endpoint.NoAnswerError, limit_s: float) -> EmbedderError:
        """Return the error with the last failure, and the server's requested delay if that is too long."""
        is_long = failure.wait_s > endpoint.LONGEST_WAIT_S
        later = f"; it asks clients to wait {failure.wait_s:.0f} s" if is_long else ""
        return EmbedderError(f"{self.host} did not answer: {failure}{later}", hint="holdfast embedder status")


class RemoteEmbedder:
    """Unit vectors from an endpoint, batch by batch. A subclass defines the request and where the rows are."""

    batch = 32
    """Texts of one request, unless the option `batch` says otherwise."""

    def __init__(self, endpoint: EmbeddingEndpoint, options: Mapping[str, str]) -> None:
        self.options = options
        self.model = required(options, "model")
        self.dimension = int(number_of(options, "dimension", 0, 1))
        self.id = f"{self.model}@{endpoint.host}#{self.dimension}"
        self._endpoint = endpoint
        self._batch = int(number_of(options, "batch", self.batch, 1))
        self._longest = int(number_of(options, "longest", 8_000, 1))
        self._query_timeout_s = number_of(options, "query_timeout_s", 2.0, 0.01)

    def question(self, texts: Sequence[str]) -> dict[str, Any]:
        """Return the request's body."""
        raise NotImplementedError

    def rows(self, answer: Mapping[str, Any]) -> Any:
        """Return the vectors in the order of the texts, unchecked."""
        raise NotImplementedError

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one unit vector per text, in order, with retries. Raises EmbedderError."""
        return [vector for batch in batches(texts, self._batch, self._longest) for vector in self._ask(batch)]

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of a question: one try of `query_timeout_s` seconds. Raises EmbedderError."""
        (batch,) = batches([text], 1, self._longest)
        return self._ask(batch, self._query_timeout_s, 1)[0]

    def _ask(self, batch: Sequence[str], *limits: Any) -> list[list[float]]:
        answer = self._endpoint.post(self.question(batch), len(batch), *limits)
        return checked(self.rows(answer), len(batch), self.dimension, self._endpoint.host)

    def measure(self) -> int:
        """Return the dimension of the endpoint's vectors, with retries. Raises EmbedderError."""
        rows = self.rows(self._endpoint.post(self.question(["dimension"])))
        if not isinstance(rows, list) or len(rows) != 1 or not isinstance(rows[0], list) or not rows[0]:
            raise EmbedderError(f"{self._endpoint.host} answered no vector", hint="check `url` and `model`")
        return len(rows[0])


def host_of(url: str) -> str:
    """Return host and port of an http(s) URL, without a login. Raises InvalidValueError for anything else."""
    host = host_in(url)
    if not host:
        raise InvalidValueError(
            "an embedder's url must be http://... or https://...", hint="set `url` under [embedder]"
        )
    return host


def checked(rows: Any, count: int, dimension: int, host: str) -> list[list[float]]:
    """Return unit vectors from an answer's rows; EmbedderError unless they are `count` of `dimension` numbers."""
    if not isinstance(rows, list) or len(rows) != count:
        number = len(rows) if isinstance(rows, list) else "no"
        raise EmbedderError(f"{host} answered {number} vectors to {count} texts", hint="lower `batch` under [embedder]")
    return [unit(row, dimension, host) for row in rows]


def unit(row: Any, dimension: int, host: str) -> list[float]:
    """Return the row scaled to length 1. Raises EmbedderError for a wrong dimension, NaN, infinity or zero length."""
    if not isinstance(row, list) or len(row) != dimension:
        count = len(row) if isinstance(row, list) else "no"
        raise EmbedderError(f"{host} answered {count} numbers, not {dimension}", hint="check `dimension` and `model`")
    try:
        sound = all(type(number) in (int, float) and isfinite(number) for number in row)
        length = sqrt(sum(number * number for number in row)) if sound else 0.0
    except OverflowError:  # whole numbers beyond any float
        sound = False
    if not sound:
        raise EmbedderError(f"{host} answered a vector that is not all numbers", hint="check `model`")
    if not isfinite(length) or length == 0:
        raise EmbedderError(f"{host} answered a vector without a direction", hint="check `model`")
    return [number / length for number in row]


def batches(texts: Sequence[str], size: int, longest: int) -> list[list[str]]:
    """Return the texts, each cut to `longest` characters and never empty, in lists of at most `size`."""
    cut = [text[:longest] or " " for text in texts]
    return [cut[at : at + size] for at in range(0, len(cut), size)]


def number_of(options: Mapping[str, str], name: str, default: float, least: float) -> float:
    """Return a number from the options. Raises InvalidValueError if it is no number or too small."""
    text = options.get(name, "")
    try:
        value = float(text) if text else default
    except ValueError:
        value = float("nan")
    if not value >= least or not isfinite(value):
        raise InvalidValueError(
            f"embedder: {name} must be a number from {least:g}", hint=f"set `{name}` under [embedder]"
        )
    return value


def required(options: Mapping[str, str], name: str) -> str:
    """Return an option that has no default. Raises InvalidValueError if it is missing."""
    if not options.get(name):
        raise InvalidValueError(f"the embedder needs `{name}`", hint=f"add {name}=VALUE to the command")
    return options[name]
