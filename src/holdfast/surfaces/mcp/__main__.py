"""`python -m holdfast.surfaces.mcp`: runs the MCP server. Lean until the first requests are answered; see `door`."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main() -> None:
    """Serve until the host closes the connection, or until interrupted."""
    options = _parse(sys.argv[1:])
    if options["http"]:
        from holdfast.surfaces.mcp.serving import Serving

        Serving(options["host"], options["hooked"]).serve_http(options["port"])
        return
    from holdfast.surfaces.mcp.door import Door

    Door(options["host"], options["hooked"]).run()


def _parse(arguments: list[str]) -> dict[str, Any]:
    """Return the options from the command line. `argparse` is imported only for unusual arguments, to save time."""
    options: dict[str, Any] = {"http": False, "port": None, "host": "", "hooked": False}
    if not arguments:
        return options
    if len(arguments) == 2 and arguments[0] == "--for":
        return options | {"host": arguments[1]}
    from argparse import ArgumentParser

    parser = ArgumentParser(prog="holdfast mcp")
    parser.add_argument("--http", action="store_true")
    parser.add_argument("--port", type=int)
    parser.add_argument("--for", dest="host", default="")
    parser.add_argument("--hooked", action="store_true")
    return vars(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
