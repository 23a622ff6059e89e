"""`ui`: starts the pages by their name, so that the command line loads no web server."""

from __future__ import annotations

import os

import click

from holdfast.settings import isolated
from holdfast.surfaces.cli.becoming import become
from holdfast.surfaces.cli.frame import Call, command

PROGRAM = "holdfast.surfaces.web.__main__"


@command("holdfast ui", "holdfast ui --no-open --port 7400", "holdfast ui -C ~/src/shop", json=False)
@click.option(
    "--port",
    metavar="PORT",
    default=0,
    type=click.IntRange(0, 65_535),
    help="Listen at this port.  [default: a free one]",
)
@click.option("--no-open", is_flag=True, help="Print the link and open no browser.")
def ui(call: Call, port: int, no_open: bool) -> None:
    """Open the pages of this folder's memory in the browser.

    They show what agents are told, every lesson with its code and its history, what waits for a decision, and every
    session. Only this machine can reach them, and only the browser that opens the printed link. Ctrl-C ends it.
    """
    become(isolated(PROGRAM, call.folder or os.getcwd(), str(port), *([] if no_open else ["open"])))
