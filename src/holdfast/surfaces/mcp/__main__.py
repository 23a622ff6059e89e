"""`python -m holdfast.surfaces.mcp`: the MCP server over stdio, the hooks' private socket meanwhile, and a watch.

It ends when the host closes its standard input; nothing of it stays behind.
"""

from __future__ import annotations

import os
import sys
import threading

from holdfast.surfaces.mcp import watching
from holdfast.surfaces.mcp.server import MemoryOnce, build


def main() -> None:
    """Serve until the host hangs up."""
    memory = MemoryOnce(os.getcwd())
    threading.Thread(target=_open_socket, args=(memory,), daemon=True, name="holdfast-hooks").start()
    ended = watching.start(memory)
    try:
        build(memory).run(transport="stdio")
    finally:
        ended.set()
        memory.close()


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
