"""`holdfast project`: show which project a folder is, and accept the id that its files declare."""

from __future__ import annotations

import sys
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.domain.project import Location
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import as_dict
from holdfast.surfaces.cli.frame import Call, command, group
from holdfast.surfaces.cli.screen import note, pairs, say

ACCEPT = "holdfast project accept"


@group("holdfast project show", "holdfast project accept", "holdfast project close")
def project(call: Call) -> None:
    """Show which project a folder is, accept the id that its files declare, or close the project to other projects.

    A repository can declare its project's id in .holdfast/project.toml. The first repository with an id owns it. In
    another repository the id counts only if the remote or the root commit is the same, or if you accepted it for that
    folder. The reason is that anyone can write your project's id into a repository.
    """


@command("holdfast project show", "holdfast -C ~/src/app project show --json", of=project, memory=True)
def show(call: Call, memory: Memory) -> None:
    """Print the folder's project, how it is identified, and a declared id that does not count here."""
    _print(call, memory.location, is_closed=memory.is_closed)


@command("holdfast project accept", "holdfast -C ~/src/copy project accept --yes", of=project, memory=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def accept(call: Call, memory: Memory, yes: bool) -> None:
    """Accept the id that .holdfast/project.toml declares, for this folder only.

    From then on, sessions in this folder share the memory of that project with the repository that owns the id, which
    `show` names. Accept the id only if both repositories are yours. `holdfast project release` takes it back.
    """
    location = memory.location
    if location.claim and not yes:
        _ask(location)
    after = memory.accept_project()
    note(f"lessons learnt here before stay under {location.project.id}")
    _print(call, after)


@command("holdfast project release", "holdfast -C ~/src/copy project release", of=project, memory=True)
def release(call: Call, memory: Memory) -> None:
    """Stop using the id that .holdfast/project.toml declares in this repository.

    This takes back `holdfast project accept`. If this repository owned the id, the next repository that declares it
    needs to be accepted. Lessons learnt under the id stay there.
    """
    _print(call, memory.release_project())


@command("holdfast project close", "holdfast -C ~/src/client project close", of=project, memory=True)
def close(call: Call, memory: Memory) -> None:
    """Hide this project's lessons from all other projects.

    Elsewhere, `recall --across` and `--all-projects` leave them out, and so do proposals to make a lesson one for all
    projects. `holdfast backup` and `export --all-projects` still contain them.
    """
    memory.close_project()
    _print(call, memory.location, is_closed=True)


@command("holdfast project open", of=project, name="open", memory=True)
def open_(call: Call, memory: Memory) -> None:
    """Undo `close`: other projects may again show this project's lessons if you ask for them."""
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
    if call.answer(plain(location) | {"closed": is_closed}):
        return
    project = location.project
    rows = [
        ["project", project.id],
        ["name", project.name],
        ["folder", location.root],
        ["identity", identity(location)],
    ]
    rows += [["closed", "other projects do not see its lessons"]] if is_closed else []
    say(*pairs([*rows, *([["declares", claim_line(location)]] if location.claim else [])]))


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
