"""`python -m holdfast.surfaces.mcp`: the MCP server over stdio, the hooks' private socket meanwhile, and a watch.

It ends when the host closes its standard input; nothing of it stays behind. With `--http` it serves loopback HTTP
instead, until it is interrupted.
"""

from __future__ import annotations

import os
import sys
import threading

import anyio
from mcp.server.stdio import stdio_server

from holdfast.surfaces.mcp import watching
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.server import build

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from mcp.server import Server


def main() -> None:
    """Serve until the host hangs up, or until interrupted."""
    options = _parse(sys.argv[1:])
    memory = MemoryOnce(os.getcwd())
    server = build(memory, options["host"], hooked=options["hooked"])
    threading.Thread(target=_open_socket, args=(memory,), daemon=True, name="holdfast-hooks").start()
    ended = watching.start(memory)
    try:
        _serve(server, memory, options)
    finally:
        ended.set()
        memory.close()


def _serve(server: Server[None], memory: MemoryOnce, options: dict[str, Any]) -> None:
    if not options["http"]:
        anyio.run(_serve_stdio, server)
        return
    from holdfast.surfaces.mcp import loopback

    sys.exit(loopback.serve(server, memory, options["port"]))


async def _serve_stdio(server: Server[None]) -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _parse(arguments: list[str]) -> dict[str, Any]:
    """What `holdfast mcp` passes on; `argparse` is only paid for where there is something to parse."""
    if not arguments:
        return {"http": False, "port": None, "host": "", "hooked": False}
    from argparse import ArgumentParser

    parser = ArgumentParser(prog="holdfast mcp")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--port", type=int)
    parser.add_argument("--for", dest="host", default="")
    parser.add_argument("--hooked", action="store_true")
    return vars(parser.parse_args(arguments))


def _open_socket(memory: MemoryOnce) -> None:
    """Let hooks in. When that cannot be (no Unix sockets, a broken store) hooks answer alone: say why and go on."""
    try:
        from holdfast.surfaces.mcp.hooksocket import serve

        opened = memory()
        serve(opened, opened.settings.run_path)
    except Exception as exc:  # the server's tools must work, or report the same error, without it
        print(f"holdfast: hooks answer alone: {exc}", file=sys.stderr)


if __name__ == "__main__":
    main()
