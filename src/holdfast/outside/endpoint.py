"""One URL that answers JSON to JSON over HTTP: limits of time and size, retries, errors without secrets.

httpx2 is imported at the first call, never before. Redirects are not followed: they would send the key elsewhere.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from email.utils import parsedate_to_datetime
from json import loads
from typing import TYPE_CHECKING, Any

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    import httpx2  # 100 ms: only a process that asks an endpoint pays for it

RETRIED = (408, 409, 425, 429, 500, 502, 503, 504)
"""Statuses that may be temporary; the request is repeated after a while."""

FIRST_WAIT_S = 0.5
"""Seconds to wait after the first try; it doubles after each further one."""
LONGEST_WAIT_S = 30.0

WORDS = {
    "ConnectError": "the connection was refused, or the name is unknown",
    "ProxyError": "the proxy refused the connection",
    "UnsupportedProtocol": "the address is neither http nor https",
    "ReadError": "the connection broke off",
    "WriteError": "the connection broke off",
    "CloseError": "the connection broke off",
    "RemoteProtocolError": "the server broke off, or does not speak HTTP",
    "DecodingError": "the answer cannot be unpacked",
    "TooManyRedirects": "the server redirects without end",
    "InvalidURL": "the address, or that of the proxy, is not valid",
    "ImportError": "the proxy needs a package that is not installed (httpx2[socks])",
    "ValueError": "the address, or that of the proxy, is not valid",
}
"""Words by the name of httpx2's error class, or of one of its base classes."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")


class NoAnswerError(Exception):
    """Why the last try failed, if another try may succeed."""

    def __init__(self, why: str, status: int = 0, retry_after: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.retry_after = retry_after
        self.wait_s = 0.0
        """How long the next try would have to wait."""


class LateError(NoAnswerError):
    """There was no complete answer in time."""

    def __init__(self) -> None:
        super().__init__("not in time")


class Endpoint:
    """One URL that answers JSON to JSON. A subclass names its error class and words the final failure.

    A temporary failure is repeated: the wait doubles each time, less a random part of up to a half, or follows the
    server's Retry-After; a request for more than 30 s ends the tries. Messages of the errors raised never hold the key,
    a login in the URL or the request's text.
    """

    error: type[HoldfastError]
    refusal_error: type[HoldfastError] | None = None
    """The error for a refused key, if it is another one."""

    def __init__(
        self,
        url: str,
        host: str,
        headers: Mapping[str, str],
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.url = url
        self.host = host
        self._headers = dict(headers)
        self._sleep = sleep
        self._chance = chance

    def no_answer(self, failure: NoAnswerError, limit_s: float) -> HoldfastError:
        """Return the error for a request whose last try failed in this way."""
        raise NotImplementedError

    def ask(self, question: Mapping[str, Any], limit_s: float, longest: int, tries: int) -> dict[str, Any]:
        """Return the JSON object answered, of at most `longest` bytes. Raises `error` if there is none.

        `limit_s` limits one try in all, connecting included.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._parse(*_within(limit_s, lambda until: self._exchange(question, until, longest)))
            except NoAnswerError as exc:
                exc.wait_s = backoff_s(attempt, exc.retry_after)
                if attempt >= tries or exc.wait_s > LONGEST_WAIT_S:
                    raise self.no_answer(exc, limit_s) from None
                pause_s = exc.wait_s if exc.retry_after else exc.wait_s * (1 - self._chance() / 2)
            self._sleep(pause_s)

    def _exchange(self, question: Mapping[str, Any], until: float, longest: int) -> tuple[int, bytes]:
        """Return status and body, complete by the monotonic instant `until`."""
        import httpx2

        timeout = max(0.001, until - time.monotonic())
        try:
            with (
                httpx2.Client(timeout=timeout, headers=self._headers, trust_env=not is_loopback(self.host)) as client,
                client.stream("POST", self.url, json=question) as response,
            ):
                status = response.status_code
                if status in RETRIED:
                    raise NoAnswerError(f"status {status}", status, response.headers.get("retry-after", ""))
                return status, b"".join(self._blocks(response, until, longest))
        except httpx2.TimeoutException:
            raise LateError from None
        except httpx2.HTTPError as exc:
            raise NoAnswerError(failure_words(exc)) from None
        except (httpx2.InvalidURL, ImportError, ValueError) as exc:
            # an invalid proxy address, a SOCKS proxy without its package: the exceptions' texts may hold a login
            hint = "check `url` and the proxy variables"
            raise self.error(f"{self.host} cannot be asked: {failure_words(exc)}", hint=hint) from None

    def _blocks(self, response: httpx2.Response, until: float, longest: int) -> Iterator[bytes]:
        left = longest
        for block in response.iter_bytes():
            left -= len(block)
            if left < 0:
                raise self.error(f"{self.host} answered more than {longest:,} bytes", hint="check `url` and `model`")
            if time.monotonic() > until:
                raise LateError
            yield block

    def _parse(self, status: int, body: bytes) -> dict[str, Any]:
        if status in (401, 403):
            refusal = self.refusal_error or self.error
            raise refusal(f"{self.host} refused the key", hint="check the variable that `api_key_env` names")
        if status != 200:
            raise self.error(f"{self.host} answered status {status}", hint="check `url` and `model`")
        try:
            answer = loads(body)
        except (ValueError, RecursionError):
            raise self.error(f"the answer of {self.host} is not JSON", hint="check `url`") from None
        if not isinstance(answer, dict):
            raise self.error(f"{self.host} answered no JSON object", hint="check `url`")
        return answer


def checked_key(key: str, error: type[HoldfastError]) -> str:
    """Return the key without blanks around it. Raises `error`, without the key, if no header can hold it."""
    key = key.strip()
    if not key.isascii() or not (key.isprintable() or not key):
        raise error("the key holds characters that no key has", hint="check the variable that `api_key_env` names")
    return key


def bearer(key: str, error: type[HoldfastError]) -> dict[str, str]:
    """Return the header that carries the key, if there is one. Raises `error` as `checked_key` does."""
    key = checked_key(key, error)
    return {"Authorization": f"Bearer {key}"} if key else {}


def backoff_s(attempt: int, retry_after: str = "") -> float:
    """Return the seconds to wait after that many attempts: Retry-After's value, else 0.5, 1, 2, ..., at most 30.

    Source: RFC 9110, section 10.2.3: seconds, or a date.
    """
    usual = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** (attempt - 1))
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after)
    return _until(retry_after, usual) if retry_after else usual


def _until(date: str, usual: float) -> float:
    try:
        return max(0.0, parsedate_to_datetime(date).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return usual


def _within(limit_s: float, ask: Callable[[float], tuple[int, bytes]]) -> tuple[int, bytes]:
    """Return or raise what `ask` does, given its end instant; raise LateError if it has not ended by then.

    httpx2 limits the wait for each packet, not for all of them. So `ask` runs in a thread; a late one is abandoned and
    ends with its next packet.
    """
    ended: Future[tuple[int, bytes]] = Future()
    until = time.monotonic() + limit_s

    def run() -> None:
        try:
            ended.set_result(ask(until))
        except Exception as exc:
            ended.set_exception(exc)

    threading.Thread(target=run, daemon=True, name="holdfast-endpoint").start()
    try:
        return ended.result(limit_s)
    except TimeoutError:
        raise LateError from None


def failure_words(exc: BaseException) -> str:
    """Return why the request failed. The error's own text is left out, since it may hold a login from an address."""
    names = (kind.__name__ for kind in type(exc).__mro__)
    return next((WORDS[name] for name in names if name in WORDS), "the request failed")


def host_in(url: str) -> str:
    """Return host and port of an http(s) URL, without a login; empty for anything else."""
    scheme, separator, rest = url.partition("://")
    host = rest.partition("/")[0].partition("?")[0].rpartition("@")[2]
    return host if separator and scheme in ("http", "https") else ""


def is_loopback(host: str) -> bool:
    """Return whether the host, with or without a port, is this machine; no proxy is used for it."""
    return host.rpartition(":")[0] in LOOPBACK or host in LOOPBACK
