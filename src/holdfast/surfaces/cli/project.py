"""`holdfast project`: show which project a folder is, and accept the id that its files declare."""

from __future__ import annotations

import sys
from typing import Any

import click

from holdfast.domain.project import Location
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import as_dict
from holdfast.surfaces.cli.call import (
    Call,
    Group,
    answer_json,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import pairs

ACCEPT = "holdfast project accept"


@click.group(cls=Group, epilog=examples("holdfast project show", "holdfast project accept", "holdfast project close"))
def command() -> None:
    """Show which project a folder is, accept the id that its files declare, or close the project to other projects.

    A repository can declare its project's id in .holdfast/project.toml. The first repository with an id owns it. In
    another repository the id counts only if the remote or the root commit is the same, or if you accepted it for that
    folder. The reason is that anyone can write your project's id into a repository.
    """


@command.command("show", epilog=examples("holdfast project show", "holdfast -C ~/src/app project show --json"))
@json_option
@folder_option
@pass_call
def show(call: Call) -> None:
    """Print the folder's project, how it is identified, and a declared id that does not count here."""
    with call.open() as memory:
        _print(call, memory.location, is_closed=memory.is_closed)


@command.command("accept", epilog=examples("holdfast project accept", "holdfast -C ~/src/copy project accept --yes"))
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@folder_option
@pass_call
def accept(call: Call, yes: bool) -> None:
    """Accept the id that .holdfast/project.toml declares, for this folder only.

    From then on, sessions in this folder share the memory of that project with the repository that owns the id, which
    `show` names. Accept the id only if both repositories are yours. `holdfast project release` takes it back.
    """
    with call.open() as memory:
        location = memory.location
        if location.claim and not yes:
            _ask(location)
        after = memory.accept_project()
    note(f"lessons learnt here before stay under {location.project.id}")
    _print(call, after)


@command.command("release", epilog=examples("holdfast project release", "holdfast -C ~/src/copy project release"))
@json_option
@folder_option
@pass_call
def release(call: Call) -> None:
    """Stop using the id that .holdfast/project.toml declares in this repository.

    This takes back `holdfast project accept`. If this repository owned the id, the next repository that declares it
    needs to be accepted. Lessons learnt under the id stay there.
    """
    with call.open() as memory:
        _print(call, memory.release_project())


@command.command("close", epilog=examples("holdfast project close", "holdfast -C ~/src/client project close"))
@json_option
@folder_option
@pass_call
def close(call: Call) -> None:
    """Hide this project's lessons from all other projects.

    Elsewhere, `recall --across` and `--all-projects` leave them out, and so do proposals to make a lesson one for all
    projects. `holdfast backup` and `export --all-projects` still contain them.
    """
    with call.open() as memory:
        memory.close_project()
        _print(call, memory.location, is_closed=True)


@command.command("open", epilog=examples("holdfast project open"))
@json_option
@folder_option
@pass_call
def open_(call: Call) -> None:
    """Undo `close`: other projects may again show this project's lessons if you ask for them."""
    with call.open() as memory:
        memory.open_project()
        _print(call, memory.location)


def claim_line(location: Location) -> str:
    """Return a sentence about a declared id that does not count here, or "" if there is none."""
    if not location.claim:
        return ""
    owner = f", which belongs to {location.claim_owner}" if location.claim_owner else ""
    return f".holdfast/project.toml declares {location.claim}{owner}: it does not count here"


def _ask(location: Location) -> None:
    if not sys.stdin.isatty():
        raise InvalidValueError(claim_line(location), hint=f"if this repository is yours: {ACCEPT} --yes")
    note(claim_line(location))
    click.confirm(
        f"Let sessions in {location.root} read and write the memory of {location.claim}?", abort=True, err=True
    )


def _print(call: Call, location: Location, *, is_closed: bool = False) -> None:
    if call.as_json:
        answer_json(plain(location) | {"closed": is_closed})
        return
    project = location.project
    rows = [
        ["project", project.id],
        ["name", project.name],
        ["folder", location.root],
        ["identity", identity(location)],
    ]
    rows += [["closed", "other projects do not see its lessons"]] if is_closed else []
    for line in pairs([*rows, *([["declares", claim_line(location)]] if location.claim else [])]):
        say(line)


def plain(location: Location) -> dict[str, Any]:
    """Return the project and its location as `--json` prints them."""
    fields = as_dict(location.project) | {
        "root": location.root,
        "prefix": location.prefix,
        "branch": location.branch,
    }
    return fields | {"claim": location.claim, "claim_owner": location.claim_owner}


def identity(location: Location) -> str:
    """Return in words how the project is identified."""
    project = location.project
    by_source = {"file": "named by .holdfast/project.toml", "path": "known by its path"}
    return project.remote or by_source.get(project.source, "known by its first commit")
