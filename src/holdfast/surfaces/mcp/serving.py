"""Runs the MCP server over stdio, together with the watch.

The server ends when the host closes standard input, and leaves nothing behind. Messages that `door` has already
answered are passed to the SDK's server again, and its answer to the handshake is dropped.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import anyio
from mcp.server.stdio import stdio_server

from holdfast.surfaces.mcp import watching
from holdfast.surfaces.mcp.door import Opening
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.replaying import Replayed, Unrepeated
from holdfast.surfaces.mcp.server import build

if TYPE_CHECKING:
    from mcp.server import Server


class Serving:
    """The server of this process, built while `door` still answers."""

    def __init__(
        self, host: str, hooked: bool, memory: MemoryOnce | None = None, session: str = "", instructed: str = ""
    ) -> None:
        self.memory = memory or MemoryOnce(os.getcwd())
        self.server = build(self.memory, host, hooked=hooked, session=session, instructed=instructed)
        self._ended = watching.start(self.memory)

    def serve(self, opening: Opening) -> None:
        """Serve over stdio until the host closes the connection."""
        try:
            anyio.run(_serve_stdio, self.server, opening)
        finally:
            self._ended.set()
            self.memory.close()


async def _serve_stdio(server: Server[None], opening: Opening) -> None:
    async with stdio_server() as (reading, writing):
        options = server.create_initialization_options()
        await server.run(Replayed(reading, opening), Unrepeated(writing, opening), options)
