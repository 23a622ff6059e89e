"""`holdfast completion`: print the completion script of a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from holdfast.surfaces.cli.call import examples, say

VARIABLE = "_HOLDFAST_COMPLETE"


@click.command(
    epilog=examples(
        "holdfast completion bash >> ~/.bashrc",
        "holdfast completion zsh >> ~/.zshrc",
        "holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that completes holdfast's commands and options in a shell."""
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    say(kind(ctx.find_root().command, {}, "holdfast", VARIABLE).source())
