"""`/v1/projects/{project}/digest.atom`: the digest as a feed, for readers that can send no cookie.

The token is the one of REST, in the header `Authorization`. It may also be the end of the address
(`…/digest.atom/hf_…`), for feed readers into which a person can only paste a link: then it has to be a reader's, as for
`/v1/mcp`. The feed is what others may see, whoever asks: the address of a feed travels.
"""

from __future__ import annotations

from datetime import timedelta
from urllib.parse import quote

import anyio.to_thread
from httpx2 import ASGITransport, AsyncClient
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.client.client import AsyncClient as TeamClient
from holdfast.client.transport import AsyncTransport
from holdfast.errors import ForbiddenError, HoldfastError, NotFoundError, NotSignedInError, RateLimitedError, StoreError
from holdfast.ports.services import Clock
from holdfast.ports.team import TeamBackend
from holdfast.reports.digest import digest_of
from holdfast.reports.digesttext import render_atom
from holdfast.server.config import ServeSettings
from holdfast.server.gate import NOTES
from holdfast.server.mcp import HERE
from holdfast.server.problems import problem
from holdfast.team import access

FEED, FEED_LINK = "/v1/projects/{project}/digest.atom", "/v1/projects/{project}/digest.atom/{key}"
PERIOD = timedelta(days=30)
"""A feed reader asks more often than that."""
ATOM_TYPE = "application/atom+xml; charset=utf-8"


class FeedEndpoint:
    """Answers feed readers, through the operations of REST in this process."""

    def __init__(self, settings: ServeSettings, backend: TeamBackend, clock: Clock, rest: ASGIApp) -> None:
        self._settings = settings
        self._backend = backend
        self._clock = clock
        self._http = AsyncClient(transport=ASGITransport(rest), trust_env=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        scope[NOTES]["route"] = FEED_LINK if "key" in scope.get("path_params", {}) else FEED
        response = await self._response(Request(scope, receive))
        response.headers["cache-control"] = "no-store"
        response.headers["referrer-policy"] = "no-referrer"
        await response(scope, receive, send)

    async def close(self) -> None:
        """Close what it holds."""
        await self._http.aclose()

    async def _response(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return problem(405, "a feed is read", {"allow": "GET, HEAD"})
        header, key = request.headers.get("authorization", ""), str(request.path_params.get("key", ""))
        scheme, _, shown = header.partition(" ")
        text = shown.strip() if scheme.lower() == "bearer" else ("" if header else key)
        try:
            caller = await anyio.to_thread.run_sync(access.authenticate, self._backend, self._clock, text)
            request.scope[NOTES].update(organisation=caller.organisation, token=caller.token, member=caller.member)
            if not header and caller.may("write"):
                return problem(403, "a token in a link has to be a reader's: make one with the role reader")
            return await self._feed(str(request.path_params["project"]), text)
        except NotSignedInError as exc:
            return problem(401, f"{exc}", {"www-authenticate": 'Bearer realm="holdfast"'})
        except (NotFoundError, ForbiddenError):
            return problem(404, "there is no such project")
        except RateLimitedError as exc:
            return problem(429, f"{exc}")
        except StoreError:
            return problem(503, "the database cannot be used")
        except HoldfastError:
            return problem(500, "the digest cannot be made")

    async def _feed(self, project: str, token: str) -> Response:
        since = self._clock.now() - PERIOD
        client = TeamClient.through(AsyncTransport(HERE, token, http=self._http), project=project)
        plain = await client.digest(since=since, audience="team")
        here = quote(project, safe="")
        page = f"{self._settings.url}/p/{here}/digest"
        feed = render_atom(digest_of(plain), f"{self._settings.url}/v1/projects/{here}/digest.atom", page)
        return Response(feed, media_type=ATOM_TYPE)
