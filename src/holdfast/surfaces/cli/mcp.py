"""`holdfast mcp`: run the MCP server in place of this process."""

from __future__ import annotations

import os

import click

from holdfast.settings import isolated
from holdfast.surfaces.cli._becoming import become
from holdfast.surfaces.cli.call import Call, examples, folder_option, pass_call


@click.command(
    epilog=examples("holdfast mcp", "claude mcp add -s user holdfast -- holdfast mcp", "holdfast mcp --http --port 0")
)
@click.option("--http", is_flag=True, help="Serve streamable HTTP on 127.0.0.1 instead, for clients of this user.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port for --http (default 4653); 0 picks a free one.")
@click.option(
    "--for",
    "host",
    metavar="HOST",
    default="",
    help="The host that starts the server, by its name in `holdfast setup`.",
)
@click.option("--hooked", is_flag=True, help="The host runs Holdfast's hooks; do not repeat what they deliver.")
@folder_option
@pass_call
def command(call: Call, http: bool, port: int | None, host: str, hooked: bool) -> None:
    """Run the MCP server on stdin and stdout, for a host.

    The server replaces this process, so that the command line does not stay in memory.
    """
    if port is not None and not http:
        raise click.UsageError("--port needs --http")
    if call.folder:
        os.chdir(call.folder)
    arguments = [*(["--http"] if http else []), *(["--port", str(port)] if port is not None else [])]
    arguments += [*(["--for", host] if host else []), *(["--hooked"] if hooked else [])]
    become(isolated("holdfast.surfaces.mcp.__main__", *arguments))
