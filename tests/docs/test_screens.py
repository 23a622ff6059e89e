"""The first steps show what their commands really print, and every command in the documentation exists."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from pathlib import Path

import click
import pytest

from holdfast.surfaces.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
GENERATED = ROOT / "docs" / "reference" / "cli.md"
SPAN = re.compile(r"```(?:sh|console)?\n(.*?)```|`(holdfast [^`\n]+)`", re.DOTALL)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_the_screens_of_the_first_steps_are_what_the_commands_print() -> None:
    """When this fails and the new screens are right: python scripts/render_screens.py"""
    script = runpy.run_path(str(ROOT / "scripts" / "render_screens.py"), run_name="render_screens")
    page = script["PAGE"].read_text(encoding="utf-8")
    with script["open_stage"]() as stage:
        rendered = script["render"](page, stage)
    assert script["same"](page) == script["same"](rendered)
    assert script["too_wide"](rendered) == []


def printed_commands() -> list[tuple[str, str]]:
    """Each page's name and each holdfast command that it prints, comments left out."""
    listed = []
    for page in PAGES:
        if page == GENERATED:
            continue
        for block, inline in SPAN.findall(page.read_text(encoding="utf-8")):
            lines = [inline] if inline else block.splitlines()
            if any(line.startswith("$ ") for line in lines):  # the others are what the commands print
                lines = [line for line in lines if line.startswith("$ ")]
            for line in lines:
                command = line.removeprefix("$ ").split(" # ")[0].split("  #")[0].strip()
                if command.startswith("holdfast "):
                    listed.append((page.name, command))
    return listed


@pytest.mark.parametrize(("page", "line"), printed_commands())
def test_a_command_in_the_documentation_exists_with_its_options(page: str, line: str) -> None:
    words = shlex.split(line.replace("…", "x").split(" | ")[0].split(" > ")[0].split(" && ")[0], posix=True)[1:]
    command: click.Command = cli
    known = {option for param in cli.params for option in param.opts + param.secondary_opts} | {"--help", "-h"}
    while words and isinstance(command, click.Group):
        with click.Context(command) as ctx:
            subcommand = command.get_command(ctx, words[0])
        if subcommand is None:
            assert command is not cli or words[0].startswith("-") or words[0] not in COMMANDS, line
            break
        command = subcommand
        words = words[1:]
        known |= {option for param in command.params for option in param.opts + param.secondary_opts}
    if command is cli:
        assert not words or words[0].startswith(("-", "<")), f"{page}: no such command: {line}"
    unknown = [word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known]
    assert not unknown, f"{page}: {line}"
