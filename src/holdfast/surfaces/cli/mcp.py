"""`holdfast mcp`: become the MCP server."""

from __future__ import annotations

import os

import click

from holdfast.settings import isolated
from holdfast.surfaces.cli._becoming import become
from holdfast.surfaces.cli.call import Call, examples, folder_option, pass_call


@click.command(
    epilog=examples("holdfast mcp", "claude mcp add -s user holdfast -- holdfast mcp", "holdfast mcp --http --port 0")
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP on 127.0.0.1 instead, for this user's clients.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port for --http (default 4653); 0 takes any free one.")
@click.option(
    "--for", "host", metavar="HOST", default="", help="The host that starts it, as `holdfast setup` names it."
)
@click.option("--hooked", is_flag=True, help="The host runs our hooks: leave to them what they hand over.")
@folder_option
@pass_call
def command(call: Call, http: bool, port: int | None, host: str, hooked: bool) -> None:
    """Run the MCP server on stdin and stdout, for a host.

    This process becomes the server: nothing of the command line stays in memory.
    """
    if port is not None and not http:
        raise click.UsageError("--port needs --http")
    if call.folder:
        os.chdir(call.folder)
    arguments = [*(["--http"] if http else []), *(["--port", str(port)] if port is not None else [])]
    arguments += [*(["--for", host] if host else []), *(["--hooked"] if hooked else [])]
    become(isolated("holdfast.surfaces.mcp.__main__", *arguments))
