"""`holdfast skills`: write recurring lessons as Agent Skills."""

from __future__ import annotations

from difflib import unified_diff
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import InvalidValueError
from holdfast.installing.skillfiles import FOLDER, SkillFile, plan_skills, write_skill
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

    from holdfast.domain.project import Location
    from holdfast.publishing.skills import Skills

WITHHELD_SHOWN = 5
"""Lessons left out of skills that are named with their reason."""


@click.group(
    cls=Group, epilog=examples("holdfast skills list", "holdfast skills write --dry-run", "holdfast skills write")
)
def command() -> None:
    """Write recurring lessons as Agent Skills: one SKILL.md for each command, file or folder.

    A skill is made of lessons of the kinds tooling, fix, convention and failed approach. It needs two lessons, or
    three sessions in which they were learnt. Lessons that no longer hold are left out.
    """


@command.command("list", epilog=examples("holdfast skills list", "holdfast skills list --json"))
@json_option
@folder_option
@pass_call
def list_skills(call: Call) -> None:
    """List the skills that this project's lessons make: name, number of lessons, number of sessions, purpose."""
    compiled, _ = _compile(call)
    if call.as_json:
        answer_json(_json(compiled))
        return
    rows = [[skill.name, str(len(skill.lessons)), str(skill.sessions), skill.description] for skill in compiled.skills]
    for line in table(rows, ("name", "lessons", "sessions", "what for")):
        say(line)
    note(counted(len(compiled.skills), "skill"))
    _tell_withheld(compiled)


@command.command(epilog=examples("holdfast skills show running-pytest"))
@click.argument("name")
@folder_option
@pass_call
def show(call: Call, name: str) -> None:
    """Print the SKILL.md of one skill."""
    compiled, _ = _compile(call)
    text = next((skill.text for skill in compiled.skills if skill.name == name), None)
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
    help=f"Write them to this folder.  [default: {FOLDER} in the project's root]",
)
@click.option("--dry-run", is_flag=True, help="Print what would change; write nothing.")
@json_option
@folder_option
@pass_call
def write(call: Call, target: str | None, dry_run: bool) -> None:
    """Write the skills, and remove those whose lessons no longer hold.

    A SKILL.md that a person wrote or edited is never changed. A second run changes nothing.
    """
    compiled, location = _compile(call)
    steps = list(plan_skills(compiled, location, target or ""))
    for step in steps if not dry_run else ():
        write_skill(step)
    if call.as_json:
        changes = [{"file": step.file, "change": step.what} for step in steps]
        answer_json({**_json(compiled), "files": changes, "dry_run": dry_run})
        return
    for step in steps:
        say(f"{step.what:<8}  {step.file}")
        for line in _difference(step) if dry_run else ():
            say(line)
    _tell_withheld(compiled)
    note(_summary(steps, dry_run))


def _compile(call: Call) -> tuple[Skills, Location]:
    from holdfast.publishing.skills import compile_skills

    with call.open() as memory:
        return compile_skills(memory.services, memory.location), memory.location


def _difference(step: SkillFile) -> Iterator[str]:
    before, after = (step.current or "").splitlines(), (step.wanted or "").splitlines()
    return unified_diff(before, after, step.file, step.file, lineterm="")


def _tell_withheld(compiled: Skills) -> None:
    for left in compiled.withheld[:WITHHELD_SHOWN]:
        note(f"left out: {short_id(left.lesson.id)}  {left.lesson.title} ({left.reason})")
    if len(compiled.withheld) > WITHHELD_SHOWN:
        note(f"left out: {len(compiled.withheld) - WITHHELD_SHOWN} more; --json lists them")


def _summary(steps: Sequence[SkillFile], dry_run: bool) -> str:
    counts = {what: sum(step.what == what for step in steps) for what in ("new", "changed", "same", "removed", "kept")}
    words = ", ".join(f"{number} {what}" for what, number in counts.items() if number)
    hint = "; kept files were written or edited by a person" if counts["kept"] else ""
    return f"{words or 'no lessons recur yet'}{hint}" + ("; nothing was written" if dry_run else "")


def _json(compiled: Skills) -> dict[str, Any]:
    return {
        "skills": [
            {
                "name": skill.name,
                "description": skill.description,
                "lessons": list(skill.lessons),
                "sessions": skill.sessions,
            }
            for skill in compiled.skills
        ],
        "withheld": [{"lesson": left.lesson.id, "reason": left.reason} for left in compiled.withheld],
    }
