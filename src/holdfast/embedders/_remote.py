"""What embedders behind an HTTP endpoint share: one POST with retries, and the check of what came back.

httpx is imported at the first call, never before. Nothing here is reached unless the user named an endpoint.
"""

from __future__ import annotations

import random
import threading
import time
from math import isfinite, sqrt

from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.text.httpfailure import failure_words
from holdfast.text.weburl import host_in, is_loopback

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    import httpx

RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)
"""Statuses that may pass: asked again after a while."""

FIRST_WAIT_S = 0.5
LONGEST_WAIT_S = 30.0
TRIES = 4
ANSWER_BYTES, VECTOR_BYTES = 1_000_000, 500_000
"""An answer may be that long, and that much longer for each text: a vector of 16,000 numbers, written at length."""
TOO_SLOW = "not in time"


class _PassingError(Exception):
    """Why a try failed that may be repeated; `retry_after` is what the server asked for."""

    def __init__(self, why: str, retry_after: str = "") -> None:
        super().__init__(why)
        self.retry_after = retry_after


class Endpoint:
    """One URL that answers JSON to JSON.

    A request that fails in a way that may pass is repeated: the wait doubles each time, less a random part of up to a
    half, or is what the server's Retry-After says; one that asks for more than 30 s is not waited for. Messages of the
    errors raised never hold the key, a login in the URL or the request's text.
    """

    def __init__(
        self,
        url: str,
        *,
        api_key: str = "",
        timeout_s: float = 30.0,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.url = url
        self.host = host_of(url)
        self.timeout_s = timeout_s
        self._headers = _headers(api_key)
        self._sleep = sleep
        self._chance = chance

    def post(
        self, question: Mapping[str, Any], texts: int = 1, timeout_s: float = 0.0, tries: int = TRIES
    ) -> dict[str, Any]:
        """The JSON object answered to a question about that many texts. Raises EmbedderError when there is none.

        `timeout_s` is how long one try may take in all, connecting included; 0: the endpoint's own patience.
        """
        limit_s, longest = timeout_s or self.timeout_s, ANSWER_BYTES + texts * VECTOR_BYTES
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._parse(*_within(limit_s, lambda until: self._exchange(question, until, longest)))
            except _PassingError as exc:
                wait = backoff_s(attempt, exc.retry_after)
                pause = wait if exc.retry_after else wait * (1 - self._chance() / 2)
                if attempt >= tries or wait > LONGEST_WAIT_S:
                    later = f"; it asks to be left alone for {wait:.0f} s" if wait > LONGEST_WAIT_S else ""
                    raise EmbedderError(
                        f"{self.host} did not answer: {exc}{later}", hint="holdfast embedder status"
                    ) from None
            self._sleep(pause)

    def _exchange(self, question: Mapping[str, Any], until: float, longest: int) -> tuple[int, bytes]:
        """Status and body, whole by the monotonic instant `until` and no longer than that."""
        import httpx

        timeout = max(0.001, until - time.monotonic())
        try:
            with (
                httpx.Client(timeout=timeout, headers=self._headers, trust_env=not is_loopback(self.host)) as client,
                client.stream("POST", self.url, json=question) as answer,
            ):
                if answer.status_code in RETRIED:
                    raise _PassingError(f"status {answer.status_code}", answer.headers.get("retry-after", ""))
                return answer.status_code, b"".join(self._blocks(answer, until, longest))
        except httpx.TimeoutException:
            raise _PassingError(TOO_SLOW) from None
        except httpx.HTTPError as exc:
            raise _PassingError(failure_words(exc)) from None
        except (httpx.InvalidURL, ImportError, ValueError) as exc:
            # a proxy's address that is none, a SOCKS proxy without its package: their words may hold a login
            hint = "check `url` and the proxy variables"
            raise EmbedderError(f"{self.host} cannot be asked: {failure_words(exc)}", hint=hint) from None

    def _blocks(self, answer: httpx.Response, until: float, longest: int) -> Iterator[bytes]:
        left = longest
        for block in answer.iter_bytes():
            left -= len(block)
            if left < 0:
                raise EmbedderError(f"{self.host} answered more than {longest:,} bytes", hint="check `url` and `model`")
            if time.monotonic() > until:
                raise _PassingError(TOO_SLOW)
            yield block

    def _parse(self, status: int, body: bytes) -> dict[str, Any]:
        from json import loads

        if status in (401, 403):
            raise EmbedderError(f"{self.host} refused the key", hint="check the variable that `api_key_env` names")
        if status != 200:
            raise EmbedderError(f"{self.host} answered status {status}", hint="check `url` and `model`")
        try:
            answer = loads(body)
        except (ValueError, RecursionError):
            raise EmbedderError(f"{self.host} answered something that is not JSON", hint="check `url`") from None
        if not isinstance(answer, dict):
            raise EmbedderError(f"{self.host} answered no JSON object", hint="check `url`")
        return answer


def _within(limit_s: float, ask: Callable[[float], tuple[int, bytes]]) -> tuple[int, bytes]:
    """What `ask` returns or raises, given the instant it has time until; _PassingError when it has not ended by then.

    httpx limits the wait for each packet, not for all of them. So it runs in a thread: one that is too late is left
    alone and ends with the next packet.
    """
    from concurrent.futures import Future

    ended: Future[tuple[int, bytes]] = Future()
    until = time.monotonic() + limit_s

    def run() -> None:
        try:
            ended.set_result(ask(until))
        except Exception as exc:
            ended.set_exception(exc)

    threading.Thread(target=run, daemon=True, name="holdfast-embedder").start()
    try:
        return ended.result(limit_s)
    except TimeoutError:
        raise _PassingError(TOO_SLOW) from None


def _headers(api_key: str) -> dict[str, str]:
    """Raises EmbedderError, without the key, for one that no header can hold."""
    key = api_key.strip()
    if not key:
        return {}
    if not key.isascii() or not key.isprintable():
        raise EmbedderError(
            "the key holds characters that no key has", hint="check the variable that `api_key_env` names"
        )
    return {"Authorization": f"Bearer {key}"}


class RemoteEmbedder:
    """Unit vectors from an endpoint, batch by batch. A sub-class says what is asked and where the rows stand."""

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

    def rows(self, answer: Mapping[str, Any]) -> Any:
        """The vectors in the order of the texts, unchecked."""
        raise NotImplementedError

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order, with retries. Raises EmbedderError."""
        return [vector for batch in batches(texts, self._batch, self._longest) for vector in self._ask(batch)]

    def embed_query(self, text: str) -> list[float]:
        """The unit vector of a question: one try of `query_timeout_s` seconds. Raises EmbedderError."""
        (batch,) = batches([text], 1, self._longest)
        return self._ask(batch, self._query_timeout_s, 1)[0]

    def _ask(self, batch: Sequence[str], *limits: Any) -> list[list[float]]:
        answer = self._endpoint.post(self.question(batch), len(batch), *limits)
        return checked(self.rows(answer), len(batch), self.dimension, self._endpoint.host)

    def measure(self) -> int:
        """The dimension the endpoint answers with, asked patiently. Raises EmbedderError."""
        rows = self.rows(self._endpoint.post(self.question(["dimension"])))
        if not isinstance(rows, list) or len(rows) != 1 or not isinstance(rows[0], list) or not rows[0]:
            raise EmbedderError(f"{self._endpoint.host} answered no vector", hint="check `url` and `model`")
        return len(rows[0])


def backoff_s(attempt: int, retry_after: str = "") -> float:
    """Seconds to wait after that many attempts: what a Retry-After asks for, else 0.5, 1, 2, ..., at most 30.

    Source: RFC 9110, section 10.2.3: seconds, or a date.
    """
    usual = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (attempt - 1))
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    return _until(retry_after, usual) if retry_after else usual


def _until(date: str, usual: float) -> float:
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return usual


def host_of(url: str) -> str:
    """Host and port of an http(s) URL, without a login. Raises InvalidValueError for anything else."""
    host = host_in(url)
    if not host:
        raise InvalidValueError(
            "an embedder's url must be http://... or https://...", hint="set `url` under [embedder]"
        )
    return host


def checked(rows: Any, count: int, dimension: int, host: str) -> list[list[float]]:
    """Unit vectors from an answer's rows. Raises EmbedderError unless they are `count` of `dimension` numbers."""
    if not isinstance(rows, list) or len(rows) != count:
        number = len(rows) if isinstance(rows, list) else "no"
        raise EmbedderError(f"{host} answered {number} vectors to {count} texts", hint="lower `batch` under [embedder]")
    return [unit(row, dimension, host) for row in rows]


def unit(row: Any, dimension: int, host: str) -> list[float]:
    """The row scaled to length 1. Raises EmbedderError for a wrong dimension, NaN, infinity or zero length."""
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
    """The texts, each cut to `longest` characters and never empty, in lists of at most `size`."""
    cut = [text[:longest] or " " for text in texts]
    return [cut[at : at + size] for at in range(0, len(cut), size)]


def number_of(options: Mapping[str, str], name: str, default: float, least: float) -> float:
    """A number among the options. Raises InvalidValueError when it is none or too small."""
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
    """An option that has no default. Raises InvalidValueError when it is not there."""
    if not options.get(name):
        raise InvalidValueError(f"the embedder needs `{name}`", hint=f"add {name}=VALUE to the command")
    return options[name]
