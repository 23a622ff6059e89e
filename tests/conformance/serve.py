"""The MCP server over HTTP on a free port: the official suite speaks only HTTP, the product only stdio.

python tests/conformance/serve.py    prints the URL; HOLDFAST_HOME and the folder are those it is started with
"""

from __future__ import annotations

import asyncio
import os
import socket

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.server import build


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as line:
        name = f"127.0.0.1:{line.getsockname()[1]}"
        security = TransportSecuritySettings(allowed_hosts=[name], allowed_origins=[f"http://{name}"])
        app = build(MemoryOnce(os.getcwd())).streamable_http_app(transport_security=security)
        print(f"http://{name}/mcp", flush=True)
        served = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        asyncio.run(uvicorn.Server(served).serve(sockets=[line]))


if __name__ == "__main__":
    main()
