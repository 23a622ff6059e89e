"""`holdfast mcp`: become the MCP server."""

from __future__ import annotations

import os

import click

from holdfast.settings import interpreter
from holdfast.surfaces.cli.call import examples


@click.command(
    epilog=examples("holdfast mcp", "claude mcp add -s user holdfast -- holdfast mcp"),
    context_settings={"ignore_unknown_options": True},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="")
def command(arguments: tuple[str, ...]) -> None:
    """Run the MCP server on stdin and stdout, for a host.

    This process becomes the server: nothing of the command line stays in memory.
    """
    os.execv(interpreter(), [interpreter(), "-m", "holdfast.surfaces.mcp", *arguments])
