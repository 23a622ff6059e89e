"""`holdfast hook`: run the hook program in place of this process."""

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
    """Answer one hook call of HOST: reads its payload from stdin, prints the answer, and always exits with 0.

    `holdfast setup` registers the hook program directly, which starts four times faster than this command.
    """
    become(hook_program(host, *arguments))
