"""`holdfast compile`: print the needed sections of a long rules file instead of the whole file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.surfaces.cli.call import Call, answer_json, counted, examples, json_option, note, pass_call, say
from holdfast.surfaces.cli.rows import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.ports.embedder import Embedder
    from holdfast.publishing.units import Unit, UnitSelection

SIZE_LIMIT = 2_000_000
"""Bytes of a file that is still taken for rules somebody wrote."""


@click.command(
    epilog=examples(
        "holdfast compile CLAUDE.md",
        "holdfast compile CLAUDE.md --query 'how are the tests run'",
        "holdfast compile AGENTS.md --for src/app/login.py --budget 400",
        "holdfast compile CLAUDE.md --unit commands/testing",
    )
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--query", "-q", default="", help="Print the sections that answer this.")
@click.option("--for", "about", default="", metavar="PATH", help="Print the sections for work on this file.")
@click.option("--unit", "address", default="", metavar="ADDRESS", help="Print the section with this address.")
@click.option(
    "--budget",
    type=click.IntRange(1),
    help="Print at most this many tokens.  [default: two fifths of the file, at least 800]",
)
@json_option
@pass_call
def command(call: Call, file: str, query: str, about: str, address: str, budget: int | None) -> None:
    """Print the sections of a rules file that a task needs, instead of the whole file.

    FILE is Markdown: CLAUDE.md, AGENTS.md, SKILL.md, .cursorrules, …. Without an option, the outline is printed: the
    address, tokens and first sentence of each section. Code, tables and comments are never cut.
    """
    from holdfast.publishing.units import choose_units, default_budget, find_units, parse_units, question_about

    if address and (query or about):
        raise click.UsageError("--unit cannot be used with --query or --for")
    units = parse_units(_read(file))
    if address:
        _print_units(call, file, units, find_units(units, address.rpartition("#")[2]))
    elif query or about:
        question = " ".join(filter(None, (query, question_about(about) if about else "")))
        chosen = choose_units(units, question, budget or default_budget(units), _embedder())
        _print_units(call, file, units, chosen.units, chosen.too_long)
        _tell(file, units, chosen)
    else:
        _print_outline(call, file, units)


def _embedder() -> Embedder | None:
    """Load the embedder that ships with Holdfast; None if it cannot be loaded.

    The configured embedder is not used: it may be remote, and rules are sent nowhere.
    """
    from holdfast.bootstrap import load_embedder

    try:
        return load_embedder("static", {})
    except HoldfastError as exc:
        note(f"note: sections are chosen by words alone: {exc}")
        return None


def _read(file: str) -> str:
    """Return the file's text with bad bytes replaced. Raises InvalidValueError for binary and for too large files."""
    with open(file, "rb") as opened:
        content = opened.read(SIZE_LIMIT + 1)
    if len(content) > SIZE_LIMIT:
        raise InvalidValueError(f"{file} has more than {SIZE_LIMIT:,} bytes", hint="split the file")
    if b"\0" in content[:8192]:
        raise InvalidValueError(f"{file} is not UTF-8 text", hint="save it as UTF-8")
    text = content.decode("utf-8", "replace")
    if "\ufffd" in text:
        note(f"note: {file} is not valid UTF-8; bytes that could not be read are shown as \ufffd")
    return text


def _print_outline(call: Call, file: str, units: Sequence[Unit]) -> None:
    if call.as_json:
        answer_json({"file": file, "tokens": _cost(units), "units": [_unit_json(unit, "text") for unit in units]})
        return
    for line in table(
        [[unit.address, f"{unit.tokens:,}", unit.contract] for unit in units], ("address", "tokens", "section")
    ):
        say(line)
    counts = f"{counted(len(units), 'unit')}, {counted(_cost(units), 'token')}"
    note(f"{counts}; print one with: holdfast compile {file} --unit ADDRESS" if units else f"{file} is empty")


def _print_units(
    call: Call, file: str, units: Sequence[Unit], shown: Sequence[Unit], too_long: Unit | None = None
) -> None:
    if call.as_json:
        answer_json({
            "file": file,
            "tokens": _cost(units),
            "delivered_tokens": _cost(shown),
            "units": [_unit_json(unit) for unit in shown],
            "more": len(units) - len(shown),
            "too_long": too_long.address if too_long else "",
        })  # fmt: skip
        return
    for number, unit in enumerate(shown):
        above = " > ".join(unit.headings[:-1])
        say(("\n" if number else "") + f"[{file}#{unit.address}" + (f" under {above}]" if above else "]"))
        say(unit.text)


def _tell(file: str, units: Sequence[Unit], chosen: UnitSelection) -> None:
    """Print how much of the file was shown, and how to get the rest."""
    if chosen.too_long:
        longest = chosen.too_long
        note(f"the best section, {longest.address}, costs {counted(longest.tokens, 'token')}: more than the budget")
    if not chosen.units and not chosen.too_long:
        note("no section matches")
    shown = f"{len(chosen.units)} of {counted(len(units), 'unit')}, {chosen.tokens:,} of {_cost(units):,} tokens"
    if units:
        note(f"{shown}; the others: holdfast compile {file}, then --unit ADDRESS")


def _cost(units: Sequence[Unit]) -> int:
    return sum(unit.tokens for unit in units)


def _unit_json(unit: Unit, *without: str) -> dict[str, Any]:
    plain = {name: value for name, value in unit.__dict__.items() if name not in without}
    return plain | {"headings": list(unit.headings)}
