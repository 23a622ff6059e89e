"""The program of `holdfast mcp` and of the server that setup registers. It imports little before the first answers."""

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
