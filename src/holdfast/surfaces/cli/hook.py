"""`holdfast hook`: become the hook."""

from __future__ import annotations

import click

from holdfast.settings import hook_program
from holdfast.surfaces.cli._becoming import become
from holdfast.surfaces.cli.call import examples


@click.command(
    epilog=examples("holdfast hook claude-code < payload.json"), context_settings={"ignore_unknown_options": True}
)
@click.argument("host")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="")
def command(host: str, arguments: tuple[str, ...]) -> None:
    """Answer one hook of HOST: its payload on stdin, the answer on stdout, always exit code 0.

    `holdfast setup` registers the hook's program directly, which starts four times quicker than this command.
    """
    become(hook_program(host, *arguments))
