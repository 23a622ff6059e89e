"""What every command shares: the `Call` with its options and memory, output for people and programs, input of texts."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast.errors import StoreError
from holdfast.text.hidden import is_hidden, without_hidden

if TYPE_CHECKING:
    from holdfast.bootstrap import Memory

EVERYTHING = 1_000_000
"""A limit above the number of lessons that any memory has."""
WHOLE = 1_000
"""Characters of a command's first sentence that its group's help shows: all of them."""
F = TypeVar("F", bound="Callable[..., Any]")


class Call:
    """One call of a command: the values of the options that all commands share, and the memory it opens."""

    def __init__(self) -> None:
        self.folder = ""
        self.as_json = False

    def open(self) -> Memory:
        """Open the memory of the call's folder, for a `with` statement, and take in what hooks left in the spool.

        If an earlier memory was lost, a note on stderr says so.
        """
        from holdfast.bootstrap import Memory
        from holdfast.home.spool import drain, waiting

        memory = Memory(self.folder, brief=True)
        _note_loss(memory)
        if waiting(memory.settings.run_path):
            try:
                drain(memory, memory.settings.run_path)
            except StoreError:
                return memory  # a read-only store can still answer
        return memory


def _note_loss(memory: Memory) -> None:
    try:
        loss = memory.find_loss()
    except StoreError:
        return  # the command itself will report what is wrong with the store
    if loss is not None:
        note(f"note: {loss.words}; for more, run: holdfast doctor")


def _keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value:
        setattr(ctx.ensure_object(Call), param.name or "", value)


def folder_option(command: F) -> F:
    """Add the option -C, --folder to a command; its value goes into the `Call`."""
    kind = click.Path(exists=True, file_okay=False, resolve_path=True)
    text = "Work in this folder instead of the current one."
    option = click.option("-C", "--folder", type=kind, expose_value=False, callback=_keep, help=text)
    return option(command)


def json_option(command: F) -> F:
    """Add the option --json to a command; its value goes into the `Call`."""
    text = "Print JSON, for programs."
    option = click.option("--json", "as_json", is_flag=True, expose_value=False, callback=_keep, help=text)
    return option(command)


pass_call = click.make_pass_decorator(Call, ensure=True)


class Group(click.Group):
    """A group whose help shows the whole first sentence of each command."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands, wrapped instead of cut."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, command.get_short_help_str(WHOLE)) for name, command in commands if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def say(text: str = "") -> None:
    """Print a result on stdout, without hidden characters."""
    click.echo(shown(text))


def note(text: str) -> None:
    """Print a message for the person on stderr, without hidden characters; a terminal gets it wrapped between words."""
    text = shown(text)
    if sys.stderr.isatty() and "\n" not in text and "\x1b" not in text:
        from shutil import get_terminal_size
        from textwrap import wrap

        # A command or a path has to stay in one piece, so that it can be copied.
        text = "\n".join(wrap(text, get_terminal_size().columns, break_long_words=False, break_on_hyphens=False))
    click.echo(text, err=True)


def answer_json(value: Any) -> None:
    """Print a value as one JSON document, indented on a terminal. Hidden characters are written as escapes."""
    indent = 2 if sys.stdout.isatty() else None
    click.echo(escaped(json.dumps(value, ensure_ascii=False, indent=indent)))


def shown(text: str) -> str:
    """Return the text without invisible and control characters; only the colours of `click.style` stay."""
    pieces = text.split("\x1b")
    colours = [_COLOUR.match(piece) for piece in pieces[1:]]
    rest = [
        f"\x1b{colour.group()}{without_hidden(piece[colour.end() :])}" if colour else without_hidden(piece)
        for colour, piece in zip(colours, pieces[1:], strict=True)
    ]
    return "".join([without_hidden(pieces[0]), *rest])


def escaped(text: str) -> str:
    """Return JSON of the same value, with its hidden characters written as escapes."""
    if text.isascii():
        return text
    return "".join(_escape(char) if not char.isascii() and is_hidden(char) else char for char in text)


_COLOUR = re.compile(r"\[(?:0|1|2|22|3\d|39|9\d)m")
"""The colour codes that `click.style` writes, without the code that conceals text."""


def _escape(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return the number and its noun: `1 lesson`, `2 lessons`."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def short_path(text: str) -> str:
    """Return the text with `~` for the user's home folder on a terminal, and unchanged in a pipe."""
    home = os.path.expanduser("~")
    return text.replace(home + os.sep, "~" + os.sep) if sys.stdout.isatty() and len(home) > 1 else text


def size(count: int) -> str:
    """Return a number of bytes in words: `812 bytes`, `4.2 kB`, `17.0 MB`."""
    if count < 1_000:
        return counted(count, "byte")
    return f"{count / 1e3:.1f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"


def read_text(text: str) -> str:
    """Return the text, or all of stdin for `-`."""
    if text != "-":
        return text
    return sys.stdin.buffer.read().decode("utf-8", "replace")


def read_time(text: str) -> datetime | None:
    """Return the instant that a person typed: ISO 8601, or words such as `yesterday`, `last week`, `3 days ago`.

    A span of time stands for its beginning, an empty text for None. Raises InvalidValueError.
    """
    from holdfast.lessons.lookup import named_instant

    return named_instant(text, datetime.now(UTC)) if text else None


def examples(*lines: str) -> str:
    """Return a help epilog that lists these commands, one on each line."""
    return "Examples:\n\n\b\n" + "\n".join(f"  {line}" for line in lines)
