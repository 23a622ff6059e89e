"""`holdfast mcp`: run the MCP server in place of this process."""

from __future__ import annotations

import os

import click

from holdfast.settings import isolated
from holdfast.surfaces.cli._becoming import become
from holdfast.surfaces.cli.call import Call, examples, folder_option, pass_call


@click.command(epilog=examples("holdfast mcp", "claude mcp add -s user holdfast -- holdfast mcp"))
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
def command(call: Call, host: str, hooked: bool) -> None:
    """Run the MCP server on stdin and stdout, for a host.

    The server replaces this process, so that the command line does not stay in memory.
    """
    if call.folder:
        os.chdir(call.folder)
    arguments = [*(["--for", host] if host else []), *(["--hooked"] if hooked else [])]
    become(isolated("holdfast.surfaces.mcp.__main__", *arguments))
