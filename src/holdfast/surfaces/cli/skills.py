"""`holdfast skills`: lessons that recur, as Agent Skills."""

from __future__ import annotations

import os
from difflib import unified_diff
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from holdfast.errors import HostConfigError, InvalidValueError
from holdfast.installing.hostfiles import replace_file
from holdfast.lean.texts import short_id
from holdfast.surfaces.cli.call import (
    Call,
    Group,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.domain.project import Place
    from holdfast.publishing.skills import Skills

FOLDER = ".claude/skills"
"""Where Claude Code looks, in the project's root."""
FILE = "SKILL.md"
WITHHELD_SHOWN = 5


class Step(NamedTuple):
    """One file: what it holds and what it shall hold. None: no file."""

    file: str
    held: str | None
    wanted: str | None
    what: str
    """`new`, `changed`, `same`, `removed`, or `kept`: a person wrote or edited it."""


@click.group(
    cls=Group, epilog=examples("holdfast skills list", "holdfast skills write --dry-run", "holdfast skills write")
)
def command() -> None:
    """Write lessons that recur as Agent Skills: a SKILL.md a command, file or folder.

    Compiled are tooling, fixes, conventions and failed approaches that two lessons or three sessions tell of, while
    the code still bears them out.
    """


@command.command("list", epilog=examples("holdfast skills list", "holdfast skills list --json"))
@json_option
@folder_option
@pass_call
def list_skills(call: Call) -> None:
    """List the skills this project's lessons make: name, lessons, sessions behind them, what for."""
    found, _ = _compile(call)
    if call.as_json:
        answer_json(_json(found))
        return
    rows = [[one.name, str(len(one.lessons)), str(one.sessions), one.description] for one in found.skills]
    for line in table(rows, ("name", "lessons", "sessions", "what for")):
        say(line)
    note(counted(len(found.skills), "skill"))
    _tell_withheld(found)


@command.command(epilog=examples("holdfast skills show running-pytest"))
@click.argument("name")
@folder_option
@pass_call
def show(call: Call, name: str) -> None:
    """Print the SKILL.md of one skill."""
    found, _ = _compile(call)
    text = next((one.text for one in found.skills if one.name == name), None)
    if text is None:
        raise InvalidValueError(f"no skill {name!r} in this project", hint="holdfast skills list")
    say(text.rstrip("\n"))


@command.command(
    epilog=examples(
        "holdfast skills write --dry-run", "holdfast skills write", "holdfast skills write --to .agents/skills"
    )
)
@click.option(
    "--to",
    "target",
    type=click.Path(file_okay=False),
    help=f"The folder for them.  [default: {FOLDER} in the project's root]",
)
@click.option("--dry-run", is_flag=True, help="Print what would change; write nothing.")
@json_option
@folder_option
@pass_call
def write(call: Call, target: str | None, dry_run: bool) -> None:
    """Write the skills, and take away those whose lessons no longer hold.

    A SKILL.md that a person wrote or edited is never touched. Running it again changes nothing.
    """
    found, place = _compile(call)
    steps = list(_plan(found, place, target or os.path.join(place.root, FOLDER)))
    for step in steps if not dry_run else ():
        _carry_out(step)
    if call.as_json:
        told = [{"file": step.file, "change": step.what} for step in steps]
        answer_json({**_json(found), "files": told, "dry_run": dry_run})
        return
    for step in steps:
        say(f"{step.what:<8}  {step.file}")
        for line in _difference(step) if dry_run else ():
            say(line)
    _tell_withheld(found)
    note(_summary(steps, dry_run))


def rewrite_written(call: Call) -> list[str]:
    """Bring the skills that were written into this project up to date and add none; the files that changed."""
    found, place = _compile(call)
    steps = [step for step in _plan(found, place, os.path.join(place.root, FOLDER)) if step.what in _REWRITES]
    for step in steps:
        _carry_out(step)
    return [step.file for step in steps]


_REWRITES = ("changed", "removed")


def _compile(call: Call) -> tuple[Skills, Place]:
    from holdfast.publishing.skills import compile_skills

    with call.open() as memory:
        return compile_skills(memory.parts, memory.place), memory.place


def _plan(found: Skills, place: Place, folder: str) -> Iterator[Step]:
    """A step for every skill, then for every file of ours that no skill stands behind any more."""
    from holdfast.publishing.skills import is_unedited

    for skill in found.skills:
        file = os.path.join(folder, skill.name, FILE)
        held = _read(file)
        if held is None:
            yield Step(file, None, skill.text, "new")
        elif held.replace("\r\n", "\n") == skill.text:
            yield Step(file, held, held, "same")
        elif is_unedited(held, place):
            yield Step(file, held, skill.text, "changed")
        else:
            yield Step(file, held, held, "kept")
    names = {skill.name for skill in found.skills}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        file = os.path.join(folder, name, FILE)
        held = _read(file) if name not in names else None
        if held is not None and is_unedited(held, place):
            yield Step(file, held, None, "removed")


def _carry_out(step: Step) -> None:
    if step.held == step.wanted:
        return
    if _read(step.file) != step.held:
        raise HostConfigError(f"{step.file} was changed just now", hint="run the command again")
    above = os.path.dirname(step.file)
    if step.wanted is None:
        os.remove(step.file)
        if not os.listdir(above):
            os.rmdir(above)
        return
    os.makedirs(above, exist_ok=True)
    replace_file(step.file, step.wanted.encode(), 0o644)


def _read(file: str) -> str | None:
    """The file's text, None without a file; of a file that is not UTF-8 what can be read: it is not one of ours."""
    try:
        with open(file, "rb") as opened:
            return opened.read().decode("utf-8", "replace")
    except (FileNotFoundError, NotADirectoryError):
        return None


def _difference(step: Step) -> Iterator[str]:
    before, after = (step.held or "").splitlines(), (step.wanted or "").splitlines()
    return unified_diff(before, after, step.file, step.file, lineterm="")


def _tell_withheld(found: Skills) -> None:
    for left in found.withheld[:WITHHELD_SHOWN]:
        note(f"left out: {short_id(left.lesson.id)}  {left.lesson.title} ({left.reason})")
    if len(found.withheld) > WITHHELD_SHOWN:
        note(f"left out: {len(found.withheld) - WITHHELD_SHOWN} more; --json lists them")


def _summary(steps: Sequence[Step], dry_run: bool) -> str:
    counts = {what: sum(step.what == what for step in steps) for what in ("new", "changed", "same", "removed", "kept")}
    told = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    hint = "; kept files were written or edited by a person" if counts["kept"] else ""
    return f"{told or 'no lessons recur yet'}{hint}" + ("; nothing was written" if dry_run else "")


def _json(found: Skills) -> dict[str, Any]:
    return {
        "skills": [
            {"name": one.name, "description": one.description, "lessons": list(one.lessons), "sessions": one.sessions}
            for one in found.skills
        ],
        "withheld": [{"lesson": left.lesson.id, "reason": left.reason} for left in found.withheld],
    }
