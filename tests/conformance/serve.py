"""The product's HTTP application on a free port, for programs that cannot send a token: it is added to what they send.

python tests/mcp/serve.py    prints the URL; HOLDFAST_HOME and the folder are those it is started with
"""

from __future__ import annotations

import asyncio
import os

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from holdfast.surfaces.mcp import loopback
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.server import build


class TokenBearer:
    """Adds the token to every request; everything else reaches the guarded application as it came."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)


def main() -> None:
    memory = MemoryOnce(os.getcwd())
    with loopback.open_line(0) as line:
        port = line.getsockname()[1]
        settings = memory().settings
        token = loopback.load_token(settings.home, settings.run_path)
        app = TokenBearer(loopback.application(build(memory), token, port), token)
        print(f"http://{loopback.ADDRESS}:{port}{loopback.PATH}", flush=True)
        served = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        asyncio.run(uvicorn.Server(served).serve(sockets=[line]))


if __name__ == "__main__":
    main()
