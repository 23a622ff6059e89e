"""The application: the table as Starlette routes, which `server` mounts and tests call in process."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.domain.team import TeamCaller
from holdfast.ports.team import TeamBackend
from holdfast.settings import Settings
from holdfast.surfaces.rest.call import Described, Shared
from holdfast.surfaces.rest.cursors import Cursors
from holdfast.surfaces.rest.feed import Feed
from holdfast.surfaces.rest.kit import NO_SUCH, NO_SUCH_HINT, Kit, RequestLimits, endpoints, problem_response
from holdfast.surfaces.rest.openapi import make_openapi
from holdfast.surfaces.rest.operations import OPERATIONS
from holdfast.surfaces.rest.page import make_page
from holdfast.surfaces.rest.problems import RequestError
from holdfast.surfaces.rest.table import PREFIX
from holdfast.team.quotas import RateLimiter
from holdfast.wiring import RequestServices

DEFAULT_LIMITS = RequestLimits()


def app(
    backend: TeamBackend,
    settings: Settings,
    *,
    limits: RequestLimits = DEFAULT_LIMITS,
    workers: int = 1,
    cursor_key: bytes = b"",
    requests: RequestServices | None = None,
) -> Starlette:
    """Return the application of all operations over a backend that somebody else opens and closes.

    `workers` is how many processes share the rates of callers. `cursor_key` seals cursors: all workers of a server need
    the same one; without it the key follows from the home's folder, which only keeps cursors of two servers apart.
    """
    requests = requests or RequestServices(settings)
    openapi = make_openapi(OPERATIONS)
    page, style = make_page(openapi)
    key = cursor_key or sha256(f"cursors of {settings.home}".encode()).digest()
    described = Described(openapi=openapi, page=page, style=style)
    shared = Shared(backend=backend, settings=settings, requests=requests, cursors=Cursors(key), described=described)
    feed = Feed(backend=backend, most=limits.watchers)
    kit = Kit(shared=shared, limits=limits, feed=feed, admit=_admit(workers, requests))
    feed.in_thread = kit.in_thread
    routes = [
        Route(PREFIX + (path if path != "/" else ""), endpoint, methods=None)
        for path, endpoint in sorted(endpoints(kit, OPERATIONS).items(), key=lambda item: "{" in item[0])
    ]
    application = Starlette(routes=routes)
    application.router.redirect_slashes = False
    application.router.default = _answer_unknown
    application.add_middleware(RawPaths)
    application.state.kit = kit
    return application


def _admit(workers: int, requests: RequestServices) -> Callable[[TeamCaller], None]:
    limiter = RateLimiter(workers, requests.clock.elapsed_s)
    return lambda caller: limiter.check(caller.token, caller.requests_a_minute)


async def _answer_unknown(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        unknown = RequestError(404, NO_SUCH, hint=NO_SUCH_HINT)
        await problem_response(unknown, scope.get("holdfast", {}).get("request", ""), "")(scope, receive, send)


class RawPaths:
    """Routes by the path as it was sent, so that `%2F` in an id is no separator. Parameters are decoded afterwards."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] == "http":
            raw = scope.get("raw_path") or quote(scope["path"]).encode()
            scope = {**scope, "path": raw.partition(b"?")[0].decode("ascii", "replace")}
        await self._inner(scope, receive, send)
