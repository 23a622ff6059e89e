"""The kit: receives a request, checks it by its row of the table, calls the operation in a thread, and answers.

The order is the same for every operation: method, encoding, headers, token, rate, right, size, body, values, and only
then the operation. A write is one transaction over lessons, documents, the audit log and the stored answer of its
idempotency key; no transaction is open while anything is received or sent.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import anyio
import anyio.to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from holdfast.domain.team import TeamCaller, Verb
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import InvalidValueError, StoreError
from holdfast.lean.texts import dumps
from holdfast.ports.team import TeamStores
from holdfast.surfaces.rest import writing
from holdfast.surfaces.rest.call import OpCall, Shared
from holdfast.surfaces.rest.feed import Feed
from holdfast.surfaces.rest.problems import RequestError, plain, problem_of
from holdfast.surfaces.rest.reading import read_body, read_lines, read_query, read_segment, single
from holdfast.surfaces.rest.table import PREFIX, Op, OpAnswer
from holdfast.team import access, answers

R = TypeVar("R")

READ_HEADERS = (
    "Authorization", "Content-Type", "Content-Length", "Content-Encoding", "If-Match", "Idempotency-Key",
    "Last-Event-ID", "Holdfast-After",
)  # fmt: skip
"""Headers that mean something here, each at most once in a request."""
MEDIA_TYPES = {"json": "application/json", "css": "text/css; charset=utf-8", "none": None}
JSON, NDJSON, PROBLEM = "application/json", "application/x-ndjson", "application/problem+json"
SAFE_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
PAGE_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"  # noqa: E501
}
OF_THE_WHOLE: frozenset[Verb] = frozenset({"administer", "audit"})
"""What a token for some projects alone may not do to the organisation."""
NOTES = "holdfast"
"""The key of the scope under which route and ids are noted for the server's log and metrics."""
NO_SUCH = "there is no such address"
NO_SUCH_HINT = "the page /v1 lists the addresses"

_log = logging.getLogger("holdfast.rest")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """What one request may take."""

    body_bytes: int = 1_000_000
    """Of a JSON document."""
    bulk_bytes: int = 32_000_000
    """Of a body of lines."""
    bulk_lines: int = 1_000
    body_s: float = 30.0
    """From the first to the last byte of a body."""
    work_s: float = 30.0
    """From the last byte of a request to the first of its answer."""
    bulk_s: float = 120.0
    """The same for a body in bulk."""
    threads: int = 16
    """Operations of a worker that run at the same time."""
    watchers: int = 500
    """Clients of a worker that follow changes at the same time."""


@dataclass(kw_only=True)
class Kit:
    """What the endpoints of one application share."""

    shared: Shared
    limits: RequestLimits
    feed: Feed
    admit: Callable[[TeamCaller], None]
    """Counts a request of the caller. Raises RateLimitedError."""
    _threads: anyio.CapacityLimiter | None = field(default=None, init=False)

    async def in_thread(self, work: Callable[[], R], within_s: float = 0.0) -> R:
        """Return the work's answer; raise RequestError (503) where it takes too long, by default `work_s`."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(self.limits.threads)
        with anyio.move_on_after(within_s or self.limits.work_s):
            return await anyio.to_thread.run_sync(work, limiter=self._threads, abandon_on_cancel=True)
        raise RequestError(503, "the server did not finish in time", hint="a key makes it safe to send this again")

    async def lines(self, lines: Iterator[str]) -> AsyncIterator[bytes]:
        """Yield the lines, each read in a thread, so that nothing waits for a slow reader but its own answer."""
        end = object()
        while True:
            line = await self.in_thread(lambda: next(lines, end))
            if not isinstance(line, str):
                return
            yield line.encode("utf-8", "replace") + b"\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class PathEndpoint:
    """The operations of one path, as an ASGI application."""

    kit: Kit
    by_method: Mapping[str, Op]

    @property
    def allowed(self) -> str:
        """The value of the header Allow."""
        return ", ".join([*self.by_method, *(["HEAD"] if "GET" in self.by_method else []), "OPTIONS"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Never raises for what a client sent."""
        request = Request(scope, receive)
        notes = scope.setdefault(NOTES, {})
        number = notes.get("request") or self.kit.shared.requests.clock.new_id()
        op = self.by_method.get("GET" if request.method == "HEAD" else request.method)
        try:
            response = await self._response(request, op)
        except ClientDisconnect:
            return
        except Exception as exc:
            response = problem_response(exc, number, op.name if op else "")
        for name, value in SAFE_HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    async def _response(self, request: Request, op: Op | None) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers={"Allow": self.allowed})
        if op is None:
            raise RequestError(405, "this address has no such method", headers={"Allow": self.allowed})
        notes = request.scope[NOTES]
        notes["route"] = PREFIX + op.path
        headers = single(request.scope["headers"], READ_HEADERS)
        if headers.get("content-encoding", "identity") != "identity":
            raise RequestError(415, "an encoded body is not read", hint="send it without Content-Encoding")
        caller = await self._caller(op, headers)
        parameters = _parameters(request)
        if caller is not None:
            notes |= {"organisation": str(caller.organisation), "token": caller.token, "member": caller.member}
        body = await self._body(request, op, headers)
        work = _Work(kit=self.kit, op=op, headers=headers, caller=caller, parameters=parameters, body=body,
                     query=request.scope.get("query_string", b""), path=request.scope["path"], notes=notes)  # fmt: skip
        if op.medium == "events":
            return await self.kit.feed.response(await self.kit.in_thread(work.prepare), headers, request.method)
        is_bulk = op.line is not None or op.is_bulk
        done = await self.kit.in_thread(work.run, self.kit.limits.bulk_s if is_bulk else 0.0)
        return self._render(op, done, request.method)

    async def _caller(self, op: Op, headers: Mapping[str, str]) -> TeamCaller | None:
        if op.verb is None:
            return None
        text = bearer(headers.get("authorization", ""))
        shared = self.kit.shared
        caller = await self.kit.in_thread(lambda: access.authenticate(shared.backend, shared.requests.clock, text))
        self.kit.admit(caller)
        if caller.projects and "project" not in op.parameters:  # limited to some projects: nothing of the whole
            caller = replace(caller, verbs=caller.verbs - OF_THE_WHOLE)
        access.require(caller, op.verb)
        return caller

    async def _body(self, request: Request, op: Op, headers: Mapping[str, str]) -> bytes:
        takes = op.body or op.line
        most = self.kit.limits.bulk_bytes if op.line or op.is_bulk else self.kit.limits.body_bytes
        raw = await receive_body(request, most if takes else 0, self.kit.limits.body_s, headers)
        if not takes or (not raw and op.optional_body):
            return raw
        wanted = NDJSON if op.line else JSON
        media, _, rest = headers.get("content-type", "").partition(";")
        if media.strip().lower() != wanted or rest.strip().lower().replace('"', "") not in ("", "charset=utf-8"):
            raise RequestError(415, f"the body has to be {wanted}, in UTF-8")
        return raw

    def _render(self, op: Op, done: Done, method: str) -> Response:
        headers = dict(done.headers)
        if done.lines is not None:
            return StreamingResponse(
                self.kit.lines(done.lines if method != "HEAD" else iter(())), done.status, headers, NDJSON
            )
        if op.medium == "html":
            return HTMLResponse(done.body, done.status, headers | PAGE_HEADERS)
        media = MEDIA_TYPES[op.medium]
        return Response(done.body or None, done.status, headers, media)


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What an operation's answer is on the wire."""

    status: int
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    lines: Iterator[str] | None = None


POSITION_DIGITS = 18
"""Longest position of a feed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What is done for a request in a thread."""

    kit: Kit
    op: Op
    headers: Mapping[str, str]
    caller: TeamCaller | None
    parameters: Mapping[str, str]
    body: bytes
    query: bytes
    path: str
    notes: dict[str, str]
    """For the server's log: ids."""

    def prepare(self) -> OpCall:
        """Return the call, its rights and values checked. Raises what `problems` knows."""
        shared, op, caller = self.kit.shared, self.op, self.caller
        opened = self._open(caller) if caller else None
        call = OpCall(op=op, shared=shared, parameters=self.parameters, query=op.query(), headers=self.headers,
                    identity=caller, opened=opened)  # fmt: skip
        call.check()
        self.notes["project"] = self.parameters.get("project", "")  # not before: what somebody made up is no id
        call.query = read_query(self.query, op.query)
        if op.body:
            call.body = read_body(self.body, op.body, optional=op.optional_body)
        if op.line:
            call.lines = read_lines(self.body, op.line, self.kit.limits.bulk_lines)
        if op.match == "required" and "if-match" not in self.headers:
            raise RequestError(428, "this change needs If-Match with the ETag of the version that you read")
        return call

    def _open(self, caller: TeamCaller) -> TeamStores:
        """Return the caller's stores; a reader who says what it has seen may be answered by a replica."""
        backend, after = self.kit.shared.backend, self.headers.get("holdfast-after")
        if after is None or not self.op.reads_after:
            return backend.open(caller.organisation)
        if not (after.isascii() and after.isdigit() and len(after) <= POSITION_DIGITS):
            raise RequestError(400, "Holdfast-After is a position of the feed: a number")
        project = ProjectId(self.parameters.get("project", ""))
        return backend.open_to_read(caller.organisation, project, int(after))

    def run(self) -> Done:
        """Return the answer of the operation."""
        call = self.prepare()
        if call.opened is None:
            return self._done(self.op.call(call))
        if not self.op.is_write:
            return self._done(self.op.call(call))
        return writing.with_retries(lambda: self._write(call))

    def _write(self, call: OpCall) -> Done:
        call.forget_reads()
        with call.stores.changing():
            writing.take_turn(call)
            key = self._key()
            if key:
                answer = answers.find_answer(call.team, call.caller, key, self._digest())
                if answer is not None:
                    replayed = (*answer.headers, ("Idempotency-Replayed", "true"))
                    return Done(status=answer.status, headers=replayed, body=answer.body)
            answered = self.op.call(call)
            after = writing.finish(call, answered)
            done = self._done(answered, after)
            if key:
                headers = tuple(pair for pair in done.headers if pair[0] in writing.KEPT_HEADERS)
                answers.keep_answer(
                    call.team, call.caller, key, self._digest(), status=done.status, headers=headers, body=done.body
                )
        return done

    def _key(self) -> str:
        if not self.op.idempotent or "idempotency-key" not in self.headers:
            return ""
        key = self.headers["idempotency-key"]
        if not 0 < len(key) <= writing.LONGEST_KEY or not key.isprintable() or " " in key:
            raise RequestError(400, f"an idempotency key has 1 to {writing.LONGEST_KEY} characters and no blanks")
        return key

    def _digest(self) -> str:
        return answers.digest_of(self.op.method, f"{self.path}?{self.query.decode('latin-1')}", self.body)

    def _done(self, answer: OpAnswer, after: Mapping[str, str] | None = None) -> Done:
        headers = dict(after or {})
        if answer.etag:
            headers["ETag"] = f'"{answer.etag}"'
        if answer.location:
            headers["Location"] = answer.location
        status = answer.status or self.op.status
        if answer.lines is not None:
            return Done(status=status, headers=tuple(headers.items()), lines=answer.lines)
        if self.op.medium in ("html", "css"):
            return Done(status=status, headers=tuple(headers.items()), body=str(answer.value))
        body = "" if self.op.medium == "none" else dumps(answer.value)
        return Done(status=status, headers=tuple(headers.items()), body=body)


def bearer(header: str) -> str:
    """Return the token of an Authorization header; empty for another scheme."""
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def problem_response(error: Exception, number: str, name: str) -> Response:
    """Return the error as problem+json. What is our own fault goes to the log, without the request's content."""
    problem, headers = problem_of(error, number)
    if problem.status >= 500:
        words = f"{type(error).__name__}: {error}" if isinstance(error, StoreError) else type(error).__name__
        _log.error("request %s of %s: %s", number, name or "nothing", words, exc_info=_trace(error))
    return Response(dumps(plain(problem)), problem.status, headers | SAFE_HEADERS, PROBLEM)


def _trace(error: Exception) -> Exception | None:
    """Return an error whose trace helps; a store's own message says enough and may hold a path."""
    return None if isinstance(error, StoreError | RequestError) else error


def _parameters(request: Request) -> dict[str, str]:
    """Return the path's parameters, decoded. Raises RequestError (404) for what can be no name."""
    values: dict[str, str] = {}
    for name, raw in request.path_params.items():
        value = read_segment(raw)
        if value is None:
            raise RequestError(404, NO_SUCH, hint=NO_SUCH_HINT)
        values[name] = value
    return values


async def receive_body(request: Request, most: int, within_s: float, headers: Mapping[str, str]) -> bytes:
    """Return the body. Raises RequestError for one that is too large (413) or too slow (408)."""
    stated = headers.get("content-length", "")
    if stated.isdigit() and int(stated) > most:
        raise RequestError(413, f"at most {most:,} bytes" if most else "this operation has no body",
                           headers={"Connection": "close"})  # fmt: skip
    parts: list[bytes] = []
    size = 0
    with anyio.move_on_after(within_s) as limit:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise RequestError(413, f"at most {most:,} bytes" if most else "this operation has no body",
                                   headers={"Connection": "close"})  # fmt: skip
            parts.append(part)
    if limit.cancelled_caught:
        raise RequestError(408, f"the body did not arrive within {within_s:g} seconds",
                           headers={"Connection": "close"})  # fmt: skip
    return b"".join(parts)


def endpoints(kit: Kit, table: Sequence[Op]) -> dict[str, PathEndpoint]:
    """Return an endpoint for each path of the table, below the prefix. Raises InvalidValueError for a row twice."""
    paths: dict[str, dict[str, Op]] = {}
    for op in table:
        methods = paths.setdefault(op.path, {})
        if op.method in methods:
            raise InvalidValueError(f"{op.method} {op.path} is in the table twice")
        methods[op.method] = op
    return {path: PathEndpoint(kit=kit, by_method=methods) for path, methods in paths.items()}
