"""Whether the server lives, whether it can answer, and its numbers. None of it takes a token of an organisation."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from holdfast.errors import HoldfastError
from holdfast.server.config import ServeSettings, is_loopback
from holdfast.server.gate import NOTES
from holdfast.server.logs import log
from holdfast.server.metrics import MEDIA_TYPE, Metrics
from holdfast.server.problems import problem

READY_S = 5.0
"""How long the database may take to answer whether it is there."""
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")
"""Headers of a request that came through a proxy."""


class Health:
    """Answers probes. `check` raises an error while the server cannot serve."""

    def __init__(self, settings: ServeSettings, metrics: Metrics, check: Callable[[], None]) -> None:
        self._settings = settings
        self._metrics = metrics
        self._check = check
        self._probes = anyio.CapacityLimiter(2)  # probes must not wait behind requests, nor hold up the server
        self.is_stopping = False

    def routes(self) -> list[Route]:
        """Return the routes of the probes."""
        paths = {"/v1/live": self._live, "/v1/ready": self._ready, "/v1/metrics": self._numbers}
        return [Route(path, _noted(path, answer), methods=["GET"]) for path, answer in paths.items()]

    async def _live(self, request: Request) -> Response:
        return JSONResponse({"status": "live"})

    async def _ready(self, request: Request) -> Response:
        if self.is_stopping:
            return problem(503, "the server is stopping")
        try:
            with anyio.fail_after(READY_S):
                await anyio.to_thread.run_sync(self._check, limiter=self._probes, abandon_on_cancel=True)
        except TimeoutError:
            log(logging.WARNING, "not ready", reason="the database did not answer in time")
            return problem(503, "the database does not answer")
        except HoldfastError as exc:
            log(logging.WARNING, "not ready", reason=str(exc))  # of the store alone, which knows no words of a request
            return problem(503, "the database cannot be used; the server's log has the reason")
        return JSONResponse({"status": "ready"})

    async def _numbers(self, request: Request) -> Response:
        if not self._may_read_numbers(request):
            return problem(
                403, "numbers are for this machine, or for who has HOLDFAST_METRICS_TOKEN",
                {"www-authenticate": 'Bearer realm="holdfast metrics"'},
            )  # fmt: skip
        return Response(await anyio.to_thread.run_sync(self._metrics.render), media_type=MEDIA_TYPE)

    def _may_read_numbers(self, request: Request) -> bool:
        expected = self._settings.metrics_token
        if expected:
            shown = request.headers.get("authorization", "").removeprefix("Bearer ")
            return hmac.compare_digest(shown.encode(), expected.encode())
        client = request.client.host if request.client else ""
        return is_loopback(client) and not any(name in request.headers for name in FORWARDED)


def _noted(path: str, answer: Callable[[Request], Any]) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        request.scope[NOTES]["route"] = path
        response: Response = await answer(request)
        return response

    return endpoint
