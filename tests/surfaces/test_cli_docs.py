"""The reference of the command line says what the commands themselves say."""

from __future__ import annotations

import runpy
from pathlib import Path

import click
import pytest

from holdfast.surfaces.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = runpy.run_path(str(ROOT / "scripts" / "render_cli_docs.py"), run_name="render_cli_docs")


def commands() -> list[tuple[str, click.Command, click.Context]]:
    return list(SCRIPT["iter_commands"]())


def test_the_reference_is_up_to_date() -> None:
    """When this fails: python scripts/render_cli_docs.py"""
    current = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    assert current == SCRIPT["render"]()


def test_every_command_is_in_the_reference_with_an_example() -> None:
    current = (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8")
    for path, command, ctx in commands():
        assert f"\n## {path}\n" in current
        text = command.get_help(ctx)
        assert "Examples:" in text, path
        assert "\n    " in text.partition("Examples:")[2], path


@pytest.mark.parametrize("name", list(COMMANDS))
def test_the_list_of_commands_says_what_each_says_first(name: str) -> None:
    with click.Context(cli) as ctx:
        command = cli.get_command(ctx, name)
    assert command is not None
    assert command.name == name
    assert command.help


def test_every_option_is_explained() -> None:
    for path, command, _ in commands():
        for option in command.params:
            if isinstance(option, click.Option) and not isinstance(option.type, click.Choice):
                assert option.help, f"{path} {option.name}"
