"""`/v1/mcp`: who may enter, and the operations that the tools ask, in this process.

The token is the one of REST, in the header `Authorization`. It may also be the end of the address (`/v1/mcp/hf_…`), for
programs into which a person can only paste a link: then it has to be a reader's, because links are shown and kept in
more places than headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import anyio.to_thread
from httpx2 import ASGITransport, AsyncClient
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.client.requests import HttpReply, HttpRequest, body
from holdfast.client.transport import AsyncTransport
from holdfast.domain.team import TeamCaller
from holdfast.errors import HoldfastError, NotSignedInError, StoreError
from holdfast.ports.services import Clock
from holdfast.ports.team import TeamBackend
from holdfast.server.config import ServeSettings
from holdfast.server.gate import NOTES
from holdfast.server.problems import problem
from holdfast.surfaces.mcp.online import CALLER, OnlineCaller, http_transport
from holdfast.team import access

PATH, LINK = "/v1/mcp", "/v1/mcp/{key}"
HERE = "http://localhost"
"""The address of the REST interface within this process."""
PROJECT_HEADER = "holdfast-project"


class McpEndpoint:
    """Answers MCP over HTTP. Its `manager` has to run (`manager.run()`) while it does."""

    def __init__(self, settings: ServeSettings, backend: TeamBackend, clock: Clock, rest: ASGIApp) -> None:
        self._settings = settings
        self._backend = backend
        self._clock = clock
        self._http = AsyncClient(transport=ASGITransport(rest), trust_env=False)
        self.manager = http_transport()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope[NOTES]["route"] = LINK if scope.get("path_params") else PATH
        request = Request(scope, receive)
        admitted = await self._admit(request)
        if isinstance(admitted, Response):
            await admitted(scope, receive, send)
        else:
            await self.manager.handle_request({**scope, CALLER: admitted}, receive, send)

    async def close(self) -> None:
        """Close what it holds."""
        await self._http.aclose()

    async def _admit(self, request: Request) -> OnlineCaller | Response:
        """Return who asks, or the answer that refuses it."""
        if request.method != "POST":  # there are no sessions that could be listened to or ended
            return problem(405, "MCP here is stateless: send every message by POST", {"allow": "POST"})
        origin = request.headers.get("origin")
        if origin is not None and (urlsplit(origin).hostname or "") not in self._settings.hosts:
            return problem(403, "a page of another site may not ask this server")
        query = dict(parse_qsl(request.url.query))
        header, key = request.headers.get("authorization", ""), str(request.path_params.get("key", ""))
        scheme, _, shown = header.partition(" ")
        text = shown.strip() if scheme.lower() == "bearer" else ("" if header else key)
        try:
            caller = await anyio.to_thread.run_sync(access.authenticate, self._backend, self._clock, text)
        except NotSignedInError as exc:
            return problem(401, f"{exc}", {"www-authenticate": 'Bearer realm="holdfast"'})
        except StoreError:
            return problem(503, "the database cannot be used")
        request.scope[NOTES].update(organisation=caller.organisation, token=caller.token, member=caller.member)
        if not header and caller.may("write"):
            return problem(403, "a token in a link has to be a reader's: make one with the role reader")
        return OnlineCaller(
            ask=_Asking(self._http, text), project=_project_of(query, request, caller),
            session=f"mcp-{caller.token}", may_write=caller.may("write"),
        )  # fmt: skip


def _project_of(query: Mapping[str, str], request: Request, caller: TeamCaller) -> str:
    """Return the project that the address or a header names, or the only one that the token is for."""
    only = caller.projects[0] if len(caller.projects) == 1 else ""
    return query.get("project") or request.headers.get(PROJECT_HEADER) or only


class _Asking:
    """Asks operations of REST with one token; see `surfaces.mcp.online.Ask`."""

    def __init__(self, http: AsyncClient, token: str) -> None:
        self._transport = AsyncTransport(HERE, token, http=http)

    async def __call__(
        self, method: str, path: str, fields: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[Any, str]:
        """Return the JSON value and the entity tag of the answer. Raises the HoldfastError that it reports."""
        request: HttpRequest[tuple[Any, str]] = HttpRequest(
            method=method, path=path.removeprefix("/v1"), read=_read, headers=headers or {},
            body=None if fields is None else body(**fields),
        )  # fmt: skip
        try:
            return await self._transport.send(request)
        except NotSignedInError as exc:  # revoked since the request began
            raise HoldfastError(str(exc), hint="sign in again") from exc


def _read(reply: HttpReply) -> tuple[Any, str]:
    return reply.json(), reply.headers.get("etag", "")
