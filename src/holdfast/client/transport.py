"""Sends requests: one transport waits, the other is awaited. Both try again where that is safe, until the deadline."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Mapping
from typing import Any, Generic, TypeVar
from urllib.parse import urlsplit

from httpx2 import AsyncClient as AsyncHttp
from httpx2 import Client as Http
from httpx2 import HTTPError, Response

from holdfast._version import __version__
from holdfast.client.requests import AGAIN, HttpReply, HttpRequest, error_of, wait_of
from holdfast.errors import InvalidValueError, ServerUnreachableError
from holdfast.outside.endpoint import backoff_s, failure_words, host_in, is_loopback

T = TypeVar("T")
TIMEOUT_S = 30.0
"""How long one request may take, its repetitions included, unless the caller says otherwise."""
TRIES = 4
AFTER = "Holdfast-After"
"""The header of the position of a project's feed: which one is reached, or has to be."""


def check_url(url: str) -> str:
    """Return the server's address without a slash at its end.

    Raises InvalidValueError for one that is no http address, or would send the token unencrypted to another machine.
    """
    parts = urlsplit(url)
    if "@" in url or parts.query or parts.fragment:
        raise InvalidValueError("the address of a server has no user, query or fragment")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidValueError(f"not the address of a server: {url}", hint="such as https://memory.example.com")
    if parts.scheme == "http" and not is_loopback(parts.netloc):
        raise InvalidValueError(f"{url} would send the token unencrypted", hint="use https")
    return url.rstrip("/")


def _headers(token: str) -> dict[str, str]:
    return ({"Authorization": f"Bearer {token}"} if token else {}) | {
        "User-Agent": f"holdfast/{__version__}",
        "Accept": "application/json, application/x-ndjson, application/problem+json",
        "Accept-Encoding": "identity",
    }


def _content(request: HttpRequest[T]) -> dict[str, str]:
    return dict(request.headers) | ({"Content-Type": request.media_type} if request.body is not None else {})


def _reply(response: Response) -> HttpReply:
    headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}
    return HttpReply(status=response.status_code, headers=headers, content=response.content)


class _Positions:
    """How far the feed of each project was by the answers to this client's writes. Threads may share it.

    What a client says that it has seen must be in the answer; a server may answer with a replica that has it.
    """

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        self._lock = threading.Lock()

    def headers(self, request: HttpRequest[T]) -> dict[str, str]:
        """Return what the request says that its client has seen."""
        project = _project_of(request)
        return {AFTER: str(self._seen.get(project, 0))} if project else {}

    def note(self, request: HttpRequest[T], reply: HttpReply | HTTPError) -> None:
        """Remember the position that an answer names."""
        position = reply.headers.get(AFTER.lower(), "") if isinstance(reply, HttpReply) else ""
        if position.isascii() and position.isdigit():
            project = _project_of(request)
            with self._lock:
                self._seen[project] = max(int(position), self._seen.get(project, 0))


def _project_of(request: HttpRequest[T]) -> str:
    parts = request.path.split("/")
    return parts[2] if len(parts) > 3 and parts[1] == "projects" else ""


class _Line:
    """What both transports know: the server's address, the token, and what writes have been seen."""

    def __init__(self, url: str, token: str, timeout_s: float) -> None:
        self.url = check_url(url)
        self.headers = _headers(token)
        self.positions = _Positions()
        self.timeout_s = timeout_s
        self.is_trusting = not is_loopback(host_in(self.url))
        """Whether the environment may name a proxy."""


class _Attempt(Generic[T]):
    """One request: what to send at each try, whether and when to try again, and what the answer means."""

    def __init__(self, line: _Line, request: HttpRequest[T]) -> None:
        self._line, self._request = line, request
        self._until_s = time.monotonic() + line.timeout_s
        self._tries = 0

    @property
    def left_s(self) -> float:
        """The seconds that are left, at least a few milliseconds."""
        return max(0.01, self._until_s - time.monotonic())

    def options(self) -> dict[str, Any]:
        """Return the arguments of an HTTP library's `request`."""
        line, request = self._line, self._request
        return {
            "method": request.method,
            "url": line.url + request.target,
            "content": request.body,
            "headers": line.headers | line.positions.headers(request) | _content(request),
            "timeout": self.left_s,
        }

    def pause_after(self, reply: HttpReply | HTTPError) -> float | None:
        """Return the seconds to wait before the next try; None if this was the last one."""
        self._tries += 1
        pause, is_safe = backoff_s(self._tries), self._request.is_repeatable
        if isinstance(reply, HttpReply):
            if reply.status not in AGAIN:
                return None
            if reply.status in (429, 503):  # the server did nothing
                pause, is_safe = max(pause, wait_of(reply)), True
        return pause if is_safe and self._tries < TRIES and pause < self.left_s else None

    def settle(self, reply: HttpReply | HTTPError) -> T:
        """Return what the last answer says. Raises ServerUnreachableError, or the error that the server reports."""
        self._line.positions.note(self._request, reply)
        if isinstance(reply, HTTPError):
            raise ServerUnreachableError(
                f"no answer from {host_in(self._line.url)}: {failure_words(reply)}",
                hint="try again when it can be reached",
            ) from reply
        error = error_of(reply)
        if error is not None:
            raise error
        return self._request.read(reply)


class Transport:
    """Sends requests and waits for the answers. Threads may share it."""

    def __init__(self, url: str, token: str, timeout_s: float = TIMEOUT_S, http: Http | None = None) -> None:
        """Raises InvalidValueError for an address that cannot be used. `http` is for tests and special proxies."""
        self._line = _Line(url, token, timeout_s)
        self.url = self._line.url
        self._http = http or Http(follow_redirects=False, trust_env=self._line.is_trusting)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, request: HttpRequest[T]) -> T:
        """Return what the answer says. Raises ServerUnreachableError, or the error that the server reports."""
        attempt = _Attempt(self._line, request)
        while True:
            try:
                reply: HttpReply | HTTPError = _reply(self._http.request(**attempt.options()))
            except HTTPError as exc:
                reply = exc
            pause = attempt.pause_after(reply)
            if pause is None:
                return attempt.settle(reply)
            time.sleep(pause)


class AsyncTransport:
    """Sends requests and is awaited."""

    def __init__(self, url: str, token: str, timeout_s: float = TIMEOUT_S, http: AsyncHttp | None = None) -> None:
        """Raises InvalidValueError for an address that cannot be used. `http` is for tests and special proxies."""
        self._line = _Line(url, token, timeout_s)
        self.url = self._line.url
        self._http = http or AsyncHttp(follow_redirects=False, trust_env=self._line.is_trusting)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, request: HttpRequest[T]) -> T:
        """Return what the answer says. Raises ServerUnreachableError, or the error that the server reports."""
        attempt = _Attempt(self._line, request)
        while True:
            try:
                reply: HttpReply | HTTPError = _reply(await self._http.request(**attempt.options()))
            except HTTPError as exc:
                reply = exc
            pause = attempt.pause_after(reply)
            if pause is None:
                return attempt.settle(reply)
            await asyncio.sleep(pause)
