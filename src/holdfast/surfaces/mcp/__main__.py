"""The program behind `holdfast mcp` and the server that setup registers. Lean until the first answers; see `door`."""

from __future__ import annotations

import sys

from holdfast.surfaces.mcp.door import Door


def main(host: str = "", hooked: bool = False) -> None:
    """Serve until the host closes the connection, or until interrupted."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["--for"] and len(arguments) > 1:
        host, arguments = arguments[1], arguments[2:]
    Door(host, hooked or "--hooked" in arguments).run()


if __name__ == "__main__":
    main()
