"""What embedders behind an HTTP endpoint share: one POST with retries, and the check of what came back.

httpx is imported at the first call, never before. Nothing here is reached unless the user named an endpoint.
"""

from __future__ import annotations

import time
from math import isfinite, sqrt

from holdfast.domain.errors import EmbedderError, InvalidValueError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)
"""Statuses that may pass: asked again after a while."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")


class Endpoint:
    """One URL that answers JSON to JSON.

    `tries` counts the first attempt too; the wait doubles after each, or is what the server's Retry-After says, at
    most 30 s. Messages of the errors raised never hold the key or the request's text.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str = "",
        timeout_s: float = 30.0,
        tries: int = 4,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.url = url
        self.host = host_of(url)
        self.timeout_s = timeout_s
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._tries = tries
        self._sleep = sleep

    def post(self, question: Mapping[str, Any], timeout_s: float = 0.0, tries: int = 0) -> dict[str, Any]:
        """The answer's JSON object. Raises EmbedderError when there is none in time."""
        import httpx

        direct = self.host.rpartition(":")[0] in LOOPBACK or self.host in LOOPBACK
        last, wait = "", 0.0
        with httpx.Client(timeout=timeout_s or self.timeout_s, headers=self._headers, trust_env=not direct) as client:
            for attempt in range(1, (tries or self._tries) + 1):
                if attempt > 1:
                    self._sleep(wait)
                try:
                    answer = client.post(self.url, json=question)
                except httpx.HTTPError as exc:
                    last, wait = type(exc).__name__, backoff_s(attempt)
                    continue
                if answer.status_code not in RETRIED:
                    return self._parse(answer)
                last = f"status {answer.status_code}"
                wait = backoff_s(attempt, answer.headers.get("retry-after", ""))
        raise EmbedderError(f"{self.host} did not answer: {last}", hint="holdfast embedder status")

    def _parse(self, answer: Any) -> dict[str, Any]:
        if answer.status_code in (401, 403):
            raise EmbedderError(f"{self.host} refused the key", hint="check the variable that `api_key_env` names")
        if answer.status_code != 200:
            raise EmbedderError(f"{self.host} answered status {answer.status_code}", hint="check `url` and `model`")
        try:
            told = answer.json()
        except ValueError as exc:
            raise EmbedderError(f"{self.host} answered something that is not JSON", hint="check `url`") from exc
        if not isinstance(told, dict):
            raise EmbedderError(f"{self.host} answered no JSON object", hint="check `url`")
        return told


class RemoteEmbedder:
    """Unit vectors from an endpoint, batch by batch. A sub-class says what is asked and where the rows stand.

    One text alone is a question somebody waits for: one try of `query_timeout_s` seconds.
    """

    batch = 32
    """Texts of one request, unless the option `batch` says otherwise."""

    def __init__(self, endpoint: Endpoint, options: Mapping[str, str]) -> None:
        self.options = options
        self.model = required(options, "model")
        self.dimension = int(number_of(options, "dimension", 0, 1))
        self.id = f"{self.model}@{endpoint.host}#{self.dimension}"
        self._endpoint = endpoint
        self._batch = int(number_of(options, "batch", self.batch, 1))
        self._longest = int(number_of(options, "longest", 8_000, 1))
        self._query_timeout_s = number_of(options, "query_timeout_s", 2.0, 0.01)

    def question(self, texts: Sequence[str]) -> dict[str, Any]:
        """The request's body."""
        raise NotImplementedError

    def rows(self, told: Mapping[str, Any]) -> Any:
        """The vectors in the order of the texts, unchecked."""
        raise NotImplementedError

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order. Raises EmbedderError."""
        alone = len(texts) == 1
        vectors: list[list[float]] = []
        for batch in batches(texts, self._batch, self._longest):
            body = self.question(batch)
            told = self._endpoint.post(body, self._query_timeout_s, 1) if alone else self._endpoint.post(body)
            vectors += checked(self.rows(told), len(batch), self.dimension, self._endpoint.host)
        return vectors

    def measure(self) -> int:
        """The dimension the endpoint answers with, asked patiently. Raises EmbedderError."""
        rows = self.rows(self._endpoint.post(self.question(["dimension"])))
        if not isinstance(rows, list) or len(rows) != 1 or not isinstance(rows[0], list) or not rows[0]:
            raise EmbedderError(f"{self._endpoint.host} answered no vector", hint="check `url` and `model`")
        return len(rows[0])


def backoff_s(attempt: int, asked: str = "") -> float:
    """Seconds to wait after that many attempts: what the server asked for, else 0.5, 1, 2, ..., at most 30."""
    wait = float(asked) if asked.isascii() and asked.isdigit() else FIRST_WAIT_S * 2.0 ** (attempt - 1)
    return min(wait, LONGEST_WAIT_S)


def host_of(url: str) -> str:
    """Host and port of an http(s) URL, without a login. Raises InvalidValueError for anything else."""
    scheme, found, rest = url.partition("://")
    host = rest.partition("/")[0].partition("?")[0].rpartition("@")[2]
    if not found or scheme not in ("http", "https") or not host:
        raise InvalidValueError(
            "an embedder's url must be http://... or https://...", hint="set `url` under [embedder]"
        )
    return host


def checked(rows: Any, count: int, dimension: int, host: str) -> list[list[float]]:
    """Unit vectors from an answer's rows. Raises EmbedderError unless they are `count` of `dimension` numbers."""
    if not isinstance(rows, list) or len(rows) != count:
        found = len(rows) if isinstance(rows, list) else "no"
        raise EmbedderError(f"{host} answered {found} vectors to {count} texts", hint="lower `batch` under [embedder]")
    return [unit(row, dimension, host) for row in rows]


def unit(row: Any, dimension: int, host: str) -> list[float]:
    """The row scaled to length 1. Raises EmbedderError for a wrong dimension, NaN, infinity or zero length."""
    if not isinstance(row, list) or len(row) != dimension:
        found = len(row) if isinstance(row, list) else "no"
        raise EmbedderError(f"{host} answered {found} numbers, not {dimension}", hint="check `dimension` and `model`")
    if not all(isinstance(number, (int, float)) and isfinite(number) for number in row):
        raise EmbedderError(f"{host} answered a vector that is not all numbers", hint="check `model`")
    length = sqrt(sum(number * number for number in row))
    if not isfinite(length) or length == 0:
        raise EmbedderError(f"{host} answered a vector without a direction", hint="check `model`")
    return [number / length for number in row]


def batches(texts: Sequence[str], size: int, longest: int) -> list[list[str]]:
    """The texts, each cut to `longest` characters and never empty, in lists of at most `size`."""
    cut = [text[:longest] or " " for text in texts]
    return [cut[at : at + size] for at in range(0, len(cut), size)]


def number_of(options: Mapping[str, str], name: str, default: float, least: float) -> float:
    """A number among the options. Raises InvalidValueError when it is none or too small."""
    told = options.get(name, "")
    try:
        value = float(told) if told else default
    except ValueError:
        value = float("nan")
    if not value >= least or not isfinite(value):
        raise InvalidValueError(
            f"embedder: {name} must be a number from {least:g}", hint=f"set `{name}` under [embedder]"
        )
    return value


def required(options: Mapping[str, str], name: str) -> str:
    """An option that has no default. Raises InvalidValueError when it is not there."""
    if not options.get(name):
        raise InvalidValueError(f"embedder: {name} is not set", hint=f"set `{name}` under [embedder] in config.toml")
    return options[name]
