"""`mcp`, `hook` and `completion`: the programs that hosts and shells start."""

from __future__ import annotations

import os

import click
from click.shell_completion import get_completion_class

from holdfast.settings import hook_program, isolated
from holdfast.surfaces.cli.becoming import become
from holdfast.surfaces.cli.frame import Call, command
from holdfast.surfaces.cli.screen import say

VARIABLE = "_HOLDFAST_COMPLETE"


@command("holdfast mcp", "claude mcp add -s user holdfast -- holdfast mcp", json=False)
@click.option(
    "--for", "host", metavar="HOST", default="",
    help="The host that starts the server, by its name in `holdfast setup`.",
)  # fmt: skip
@click.option("--hooked", is_flag=True, help="The host runs Holdfast's hooks; do not repeat what they deliver.")
def mcp(call: Call, host: str, hooked: bool) -> None:
    """Run the MCP server on stdin and stdout, for a host.

    The server replaces this process, so that the command line does not stay in memory.
    """
    if call.folder:
        os.chdir(call.folder)
    arguments = [*(["--for", host] if host else []), *(["--hooked"] if hooked else [])]
    become(isolated("holdfast.surfaces.mcp.__main__", *arguments))


@command(
    "holdfast hook claude-code < payload.json", json=False, folder=False,
    context_settings={"ignore_unknown_options": True},
)  # fmt: skip
@click.argument("host")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="")
def hook(call: Call, host: str, arguments: tuple[str, ...]) -> None:
    """Answer one hook call of HOST: reads its payload from stdin, prints the answer, and always exits with 0.

    `holdfast setup` registers the hook program directly, which starts four times faster than this command.
    """
    become(hook_program(host, *arguments))


@command(
    "holdfast completion bash >> ~/.bashrc", "holdfast completion zsh >> ~/.zshrc",
    "holdfast completion fish > ~/.config/fish/completions/holdfast.fish", json=False, folder=False,
)  # fmt: skip
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(call: Call, shell: str) -> None:
    """Print the script that completes holdfast's commands and options in a shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    say(kind(click.get_current_context().find_root().command, {}, "holdfast", VARIABLE).source())
