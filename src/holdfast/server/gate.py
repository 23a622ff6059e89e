"""What every request passes: its number, the names that are allowed, the limit of its body, headers, log and metrics.

The surfaces behind it fill `scope["holdfast"]` with the template of the route and with ids, which go into the log and
the metrics. Nothing else of a request does.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from uuid import uuid4

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.server.config import ServeSettings
from holdfast.server.logs import log, log_failure
from holdfast.server.metrics import Metrics
from holdfast.server.problems import problem
from holdfast.server.tracing import Tracing

NOTES = "holdfast"
"""The key of the scope under which the surfaces note the route and ids."""
NOTED = ("organisation", "token", "member", "project")
"""Ids that go into the log."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OPEN_TO_ANY_HOST = frozenset({"/v1/live", "/v1/ready"})
"""What a load balancer asks by address, and what tells nothing."""
HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
CLOSED_PAGE = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
"""The policy of an answer that states none of its own: it loads and runs nothing."""
HSTS = (b"strict-transport-security", b"max-age=31536000")
GONE = 499
"""Logged where the client left before it had an answer, as nginx does."""


class Gate:
    """The outermost application."""

    def __init__(self, app: ASGIApp, settings: ServeSettings, metrics: Metrics, tracing: Tracing) -> None:
        self._app = app
        self._settings = settings
        self._metrics = metrics
        self._tracing = tracing
        self._headers = [*HEADERS, *([HSTS] if settings.is_https else [])]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or pass on the start and the end of the server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        passage = _Passage(scope, receive, send, self._headers, self._settings.body_bytes)
        began = time.monotonic()
        self._metrics.open.inc()
        try:
            with self._tracing.span(passage.method) as span:
                await self._pass(passage)
                span.end_with(passage.route, passage.status, passage.ids)
        finally:
            self._metrics.open.dec()
            took = time.monotonic() - began
            self._metrics.requests.labels(passage.method, passage.route, str(passage.status)).inc()
            self._metrics.seconds.labels(passage.method, passage.route).observe(took)
            log(
                logging.INFO, "request", request=passage.number, method=passage.method, route=passage.route,
                status=passage.status, ms=round(took * 1000, 1), **passage.ids,
            )  # fmt: skip

    async def _pass(self, passage: _Passage) -> None:
        scope = passage.scope
        if scope["path"] not in OPEN_TO_ANY_HOST and not self._is_allowed(scope):
            await passage.refuse(400, "the server is not called that: see serve.public_url and serve.allowed_hosts")
            return
        if passage.declares_too_much():
            await passage.refuse(413, f"a request may hold {passage.limit} bytes")
            return
        try:
            await self._app(scope, passage.receive, passage.send)
            await passage.end_stream()
        except ClientDisconnect:
            pass
        except Exception as exc:
            if not passage.is_over:
                log_failure("failed", exc, request=passage.number, route=passage.route, **passage.ids)
            if passage.has_begun and not passage.has_ended:  # the client must see that its answer is not whole
                passage.status = 500
                raise _CutError from None
            if not passage.is_over and not passage.has_begun:
                await passage.refuse(500, f"a fault of the server; its log has it as {passage.number}")
        if passage.is_over and not passage.has_begun:
            await passage.refuse(413, f"a request may hold {passage.limit} bytes")

    def _is_allowed(self, scope: Scope) -> bool:
        names = [value for name, value in scope["headers"] if name == b"host"]
        if len(names) != 1:
            return False
        name = names[0].decode("latin-1").lower()
        name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
        return name in self._settings.hosts


class _CutError(Exception):
    """The answer broke off; uvicorn closes the connection."""


class _Passage:
    """One request on its way, and what is known of it."""

    def __init__(
        self, scope: Scope, receive: Receive, send: Send, headers: list[tuple[bytes, bytes]], limit: int
    ) -> None:
        self.scope = scope
        self.limit = limit
        self.number = uuid4().hex
        self.method = scope["method"] if scope["method"] in METHODS else "OTHER"
        self.status = GONE
        self.has_begun = self.has_ended = False
        self.is_over = False
        """Whether more has arrived than is allowed."""
        self._receive, self._send = receive, send
        self._headers = headers
        self._arrived = 0
        self._is_stream = False
        scope[NOTES] = {"request": self.number}

    @property
    def route(self) -> str:
        """The template of the route; `unknown` where nothing answers."""
        return str(self.scope[NOTES].get("route") or "unknown")

    @property
    def ids(self) -> dict[str, str]:
        """Ids that the surfaces noted."""
        noted = self.scope[NOTES]
        return {name: str(noted[name]) for name in NOTED if noted.get(name)}

    def declares_too_much(self) -> bool:
        """Return whether the head says that the body is too long."""
        for name, value in self.scope["headers"]:
            if name == b"content-length":
                with suppress(ValueError):
                    return int(value) > self.limit
        return False

    async def receive(self) -> Message:
        """Return the next part of the request; once it is too long, say that the client is gone."""
        if self.is_over:
            return {"type": "http.disconnect"}
        message = await self._receive()
        self._arrived += len(message.get("body", b""))
        if self._arrived > self.limit:
            self.is_over = True
            return {"type": "http.disconnect"}
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer, with the headers that every answer has."""
        if self.is_over and not self.has_begun:
            return  # whatever is said of a body that was not read to its end; the refusal follows
        if message["type"] == "http.response.start":
            self.has_begun = True
            self.status = message["status"]
            own = dict(message.get("headers", []))
            self._is_stream = own.get(b"content-type", b"").startswith(b"text/event-stream")
            added = [pair for pair in (*self._headers, CLOSED_PAGE) if pair[0] not in own]
            if b"cache-control" not in own:
                added.append((b"cache-control", b"no-store"))
            numbered = (b"holdfast-request", self.number.encode())
            message = {**message, "headers": [*message.get("headers", []), *added, numbered]}
        elif not message.get("more_body", False):
            self.has_ended = True
        await self._send(message)

    async def end_stream(self) -> None:
        """End a stream of events that stopped because the server does: its client comes back and misses nothing."""
        if self._is_stream and not self.has_ended:
            await self.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def refuse(self, status: int, detail: str) -> None:
        """Answer with a problem, and close the connection: what is left of the request is not read."""
        self.is_over = False
        answer = problem(status, detail, {"connection": "close"})
        await answer(self.scope, self._receive, self.send)
