"""`holdfast project`: which project a folder is, and whether the id that its files declare counts."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import InvalidValueError
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

if TYPE_CHECKING:
    from holdfast.domain.project import Place

ACCEPT = "holdfast project accept"


@click.group(cls=Group, epilog=examples("holdfast project show", "holdfast project accept", "holdfast project close"))
def command() -> None:
    """Show which project a folder is, accept the id that its files declare, close it to other projects.

    A repository can name its project in .holdfast/project.toml. The first repository with an id owns it. In another one
    the id counts only where the remote or the root commit is the same, or after you have accepted it for that folder:
    anybody can write your project's id into a repository of theirs.
    """


@command.command("show", epilog=examples("holdfast project show", "holdfast -C ~/src/app project show --json"))
@json_option
@folder_option
@pass_call
def show(call: Call) -> None:
    """Print the folder's project, what its identity rests on, and a declared id that does not count."""
    with call.open() as memory:
        _print(call, memory.place, is_closed=memory.is_closed)


@command.command("accept", epilog=examples("holdfast project accept", "holdfast -C ~/src/copy project accept --yes"))
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@folder_option
@pass_call
def accept(call: Call, yes: bool) -> None:
    """Let the id that .holdfast/project.toml declares count in this folder, and in no other.

    From then on sessions here read and write the memory of that project, and so do those of its owner, which `show`
    names. Accept it only where both are yours; release takes it back.
    """
    with call.open() as memory:
        place = memory.place
        if place.claim and not yes:
            _ask(place)
        after = memory.accept_project()
    note(f"what was learnt here before stays under {place.project.id}")
    _print(call, after)


@command.command("release", epilog=examples("holdfast project release", "holdfast -C ~/src/copy project release"))
@json_option
@folder_option
@pass_call
def release(call: Call) -> None:
    """Let the id that .holdfast/project.toml declares not count any more in this repository.

    It takes back an accept. Where this repository owned the id, the next one that declares it has to be accepted. What
    was learnt under the id stays there.
    """
    with call.open() as memory:
        _print(call, memory.release_project())


@command.command("close", epilog=examples("holdfast project close", "holdfast -C ~/src/client project close"))
@json_option
@folder_option
@pass_call
def close(call: Call) -> None:
    """Let no other project see this one's lessons, not even where you ask for those of siblings.

    They are left out of `recall --across`, `--all-projects` elsewhere, and proposals to make a lesson one for all.
    `holdfast backup` and `export --all-projects` still hold them.
    """
    with call.open() as memory:
        memory.close_project()
        _print(call, memory.place, is_closed=True)


@command.command("open", epilog=examples("holdfast project open"))
@json_option
@folder_option
@pass_call
def open_(call: Call) -> None:
    """Take `close` back: other projects may see this one's lessons where you ask for them."""
    with call.open() as memory:
        memory.open_project()
        _print(call, memory.place)


def claim_line(place: Place) -> str:
    """What to say of a declared id that does not count, in a sentence; empty when there is none."""
    if not place.claim:
        return ""
    owner = f", which belongs to {place.claim_owner}" if place.claim_owner else ""
    return f".holdfast/project.toml declares {place.claim}{owner}: it does not count here"


def _ask(place: Place) -> None:
    if not sys.stdin.isatty():
        raise InvalidValueError(claim_line(place), hint=f"if this repository is yours: {ACCEPT} --yes")
    note(claim_line(place))
    click.confirm(f"Let sessions in {place.root} read and write the memory of {place.claim}?", abort=True, err=True)


def _print(call: Call, place: Place, *, is_closed: bool = False) -> None:
    if call.as_json:
        answer_json(plain(place) | {"closed": is_closed})
        return
    project = place.project
    rows = [["project", project.id], ["name", project.name], ["folder", place.root], ["known by", identity(place)]]
    rows += [["closed", "other projects do not see its lessons"]] if is_closed else []
    for line in pairs([*rows, *([["declares", claim_line(place)]] if place.claim else [])]):
        say(line)


def plain(place: Place) -> dict[str, Any]:
    """The project and its place as `--json` prints them."""
    fields = dict(place.project.__dict__) | {"root": place.root, "prefix": place.prefix, "branch": place.branch}
    return fields | {"claim": place.claim, "claim_owner": place.claim_owner}


def identity(place: Place) -> str:
    """What the project's identity rests on, in words."""
    project = place.project
    by_source = {"file": "named by .holdfast/project.toml", "path": "known by its path"}
    return project.remote or by_source.get(project.source, "known by its first commit")
