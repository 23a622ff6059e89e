"""The one ASGI application of a server process: probes, and what the surfaces answer, behind the gate."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
import anyio.to_thread
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from holdfast._version import __version__
from holdfast.ports.services import Clock
from holdfast.ports.team import TeamBackend
from holdfast.server.config import ServeSettings
from holdfast.server.cursorkey import load_cursor_key
from holdfast.server.feed import FEED, FEED_LINK, FeedEndpoint
from holdfast.server.gate import Gate
from holdfast.server.health import Health
from holdfast.server.logs import log
from holdfast.server.mcp import LINK, PATH, McpEndpoint
from holdfast.server.metrics import Metrics
from holdfast.server.parent import end_with_parent
from holdfast.server.signin import SignIn
from holdfast.server.tracing import open_tracing
from holdfast.server.upkeep import keep_tidy
from holdfast.server.website import ServedEntrance, served_pages
from holdfast.surfaces.rest.app import app as rest_app
from holdfast.surfaces.rest.kit import RequestLimits
from holdfast.surfaces.web.app import WebApp
from holdfast.wiring import RequestServices, open_backend


@dataclass(frozen=True, slots=True, kw_only=True)
class AppServices:
    """What the application is made of."""

    backend: TeamBackend
    clock: Clock
    requests: RequestServices
    rest: ASGIApp
    """The REST interface, which answers every address that nothing else does."""


def make_application(settings: ServeSettings, services: AppServices) -> ASGIApp:
    """Return the application; it closes the backend at its end. Raises HoldfastError."""
    metrics, tracing = Metrics(), open_tracing()
    health = Health(settings, metrics, services.backend.check)
    mcp = McpEndpoint(settings, services.backend, services.clock, services.rest)
    feed = FeedEndpoint(settings, services.backend, services.clock, services.rest)
    entrance = ServedEntrance(settings, services.backend, services.requests, services.rest)

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        end_with_parent()
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads
        log(logging.INFO, "started", version=__version__, threads=settings.threads)
        try:
            async with mcp.manager.run(), anyio.create_task_group() as tasks:
                tasks.start_soon(keep_tidy, services.backend, services.clock)
                yield
                tasks.cancel_scope.cancel()
        finally:
            health.is_stopping = True
            await mcp.close()
            await feed.close()
            entrance.close()
            await anyio.to_thread.run_sync(services.backend.__exit__, None, None, None)
            tracing.close()
            log(logging.INFO, "stopped")

    doors = [Route(PATH, mcp), Route(LINK, mcp), Route(FEED, feed), Route(FEED_LINK, feed)]
    routes = [*health.routes(), *doors, *SignIn(settings, services.backend, services.clock).routes()]
    pages = served_pages(WebApp(entrance, threads=settings.threads), services.rest)
    router = Router(routes=routes, lifespan=lifespan, default=pages, redirect_slashes=False)
    return Gate(router, settings, metrics, tracing)


def open_application(settings: ServeSettings) -> ASGIApp:
    """Return the application of a worker process, over the store of the settings. Raises HoldfastError."""
    requests = RequestServices(settings.common)
    backend = open_backend(
        settings.common, replicas=settings.replicas, places=settings.places, connections=settings.threads
    )
    limits = RequestLimits(threads=settings.threads, watchers=settings.connections)
    rest = rest_app(
        backend, settings.common, limits=limits, workers=settings.worker_count, requests=requests,
        cursor_key=load_cursor_key(settings.common.home),
    )  # fmt: skip
    return make_application(settings, AppServices(backend=backend, clock=requests.clock, requests=requests, rest=rest))
