"""The one ASGI application of a server process: probes, and what the surfaces answer, behind the gate."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio.to_thread
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast._version import __version__
from holdfast.server.config import ServeSettings
from holdfast.server.gate import Gate
from holdfast.server.health import Health
from holdfast.server.logs import log
from holdfast.server.metrics import Metrics
from holdfast.server.parent import end_with_parent
from holdfast.server.problems import problem
from holdfast.server.tracing import open_tracing


def make_application(settings: ServeSettings, check: Callable[[], None]) -> ASGIApp:
    """Return the application. `check` raises an error while the server cannot serve. Raises HoldfastError."""
    metrics, tracing = Metrics(), open_tracing()
    health = Health(settings, metrics, check)

    @asynccontextmanager
    async def lifespan(app: object) -> AsyncIterator[None]:
        end_with_parent()
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads
        log(logging.INFO, "started", version=__version__, threads=settings.threads)
        try:
            yield
        finally:
            health.is_stopping = True
            tracing.close()
            log(logging.INFO, "stopped")

    router = Router(routes=health.routes(), lifespan=lifespan, default=_answer_unknown)
    return Gate(router, settings, metrics, tracing)


async def _answer_unknown(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        await problem(404, "there is nothing here; GET /v1 lists what there is")(scope, receive, send)
