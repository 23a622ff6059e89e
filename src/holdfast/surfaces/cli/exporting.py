"""`export`: lessons as JSON lines, as Markdown, as a bundle of the Open Knowledge Format, or as a static site."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import IO, TypeVar

import click

from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import STATES, State
from holdfast.lean.texts import counted
from holdfast.publishing.okf import Bundling
from holdfast.publishing.publication import render_markdown
from holdfast.surfaces.cli.frame import Call, command, states_option
from holdfast.surfaces.cli.outfolder import check_folder, write_folder
from holdfast.surfaces.cli.screen import bar, chosen_states, escaped, note

T = TypeVar("T", str, bytes)
MOST_READABLE = 100_000
"""Lessons in one Markdown text."""
FOLDERS = ("okf", "html")
"""Formats that are a folder of files."""


@command(
    "holdfast export > lessons.jsonl", "holdfast export --state all --output lessons.jsonl",
    "holdfast export --format markdown > lessons.md", "holdfast export --format okf docs/knowledge",
    "holdfast export --format html docs/memory",
    "holdfast export --all-projects --forgotten | ssh other-machine holdfast import - --accept", json=False,
)  # fmt: skip
@click.argument("target", required=False, metavar="[DIR]", type=click.Path(file_okay=False))
@click.option(
    "--format", "form", default="jsonl", show_default=True, type=click.Choice(["jsonl", "markdown", *FOLDERS]),
    help="The format.",
)  # fmt: skip
@states_option
@click.option("--all-projects", is_flag=True, help="Export lessons of every project; each line names its project.")
@click.option("--forgotten", is_flag=True, help="Also the tombstones, so that an import forgets the same lessons.")
@click.option("--quotes", is_flag=True, help="okf: also the quotes of sessions on which lessons rest.")
@click.option("--sessions", is_flag=True, help="html: also what sessions said, and the pages of sessions.")
@click.option("-o", "--output", type=click.File("wb", lazy=False, atomic=True), default="-", help="Write to this file.")
def export(
    call: Call, target: str | None, form: str, states: tuple[str, ...], all_projects: bool, forgotten: bool,
    quotes: bool, sessions: bool, output: IO[bytes],
) -> None:  # fmt: skip
    """Write this project's lessons and your own as JSON lines, newest first; or as Markdown or a folder of files.

    Secrets are redacted again, and private lessons are left out. `holdfast import` reads the JSON lines. In this
    Holdfast home it restores them unchanged, because each line has a seal. In another home, use --accept. To save
    everything, including history and log, use `holdfast backup`. A tombstone of --forgotten has no word of its lesson;
    where the lesson is known, `holdfast import --accept` forgets it.

    `--format okf DIR` writes the project's lessons as a bundle of the Open Knowledge Format 0.2, one file a lesson, for
    other programs. Your own lessons for all projects are left out, and so are the words of sessions unless you ask for
    them with --quotes. `holdfast import DIR` reads the bundle back.

    `--format html DIR` writes the pages of `holdfast ui` as files for readers: lessons by folder, digest, topics, map
    and statistics. Open DIR/index.html, or commit the folder for your repository's Pages. It has no lesson that is
    private, your own or not confirmed, and nothing that sessions said unless you ask for it with --sessions.

    The same memory gives the same bytes. DIR appears whole or not at all, and an export never replaces a folder that
    holds files of anybody else.
    """
    if (target is not None) != (form in FOLDERS):
        names = " and ".join(FOLDERS)
        raise click.UsageError(f"--format {form} needs a folder" if target is None else f"a folder is for {names}")
    if forgotten and form != "jsonl":
        raise click.UsageError("--forgotten is for JSON lines")
    if quotes and form != "okf":
        raise click.UsageError("--quotes is for --format okf")
    if sessions and form != "html":
        raise click.UsageError("--sessions is for --format html")
    if target is not None and all_projects:
        raise click.UsageError("a folder holds the lessons of one project")
    with call.open() as memory:
        chosen = chosen_states(states)
        if target is not None:
            if form == "html":
                _write_site(memory, target, chosen, sessions)
            else:
                _write_bundle(memory, target, chosen, quotes)
            return
        lines, count = _markdown(memory, chosen, all_projects) if form == "markdown" else (None, 0)
        for line in lines if lines is not None else _json_lines(memory, chosen, all_projects, forgotten):
            output.write((line if lines is not None else escaped(line)).encode("utf-8", "replace") + b"\n")
            count += lines is None
    note(counted(count, "lesson"))


def _markdown(memory: Memory, states: tuple[State, ...], all_projects: bool) -> tuple[Iterable[str], int]:
    lessons = memory.lessons(states=states, all_projects=all_projects, limit=MOST_READABLE)
    heading = "Lessons" if all_projects else f"Lessons of {memory.location.project.name}"
    return render_markdown(lessons, heading), sum(not lesson.private for lesson in lessons)


def _json_lines(memory: Memory, states: tuple[State, ...], all_projects: bool, forgotten: bool) -> Iterator[str]:
    lines = memory.export_lessons(states=states, all_projects=all_projects)
    if forgotten and "forgotten" not in states:
        lines = chain(lines, memory.export_lessons(states=("forgotten",), all_projects=all_projects))
    return lines


def _write_bundle(memory: Memory, folder: str, states: tuple[State, ...], quotes: bool) -> None:
    whole = os.path.abspath(folder)
    check_folder(whole, "okf")
    root = os.path.realpath(memory.location.root)
    is_inside = os.path.realpath(os.path.dirname(whole)).startswith((root + os.sep, root))
    to_root = os.path.relpath(root, os.path.realpath(whole)).replace(os.sep, "/") if is_inside else ""
    how = Bundling(states=states, with_quotes=quotes, to_root=to_root)
    with bar("lessons") as progress:
        written = write_folder(folder, _counted_files(memory.export_okf(how), progress.advance), "okf")
    note(f"{counted(written, 'file')} in {folder}")


def _write_site(memory: Memory, folder: str, states: tuple[State, ...], sessions: bool) -> None:
    from holdfast.pages.staticsite import Publishing, count_lessons, make_site  # Jinja takes a moment to load

    check_folder(os.path.abspath(folder), "html")
    how = Publishing(states=states or STATES[:-1], with_sessions=sessions)
    with bar("pages", count_lessons(memory, how)) as progress:
        written = write_folder(folder, _counted_files(make_site(memory, how), progress.advance), "html")
    note(f"{counted(written, 'file')} in {folder}; open {os.path.join(folder, 'index.html')}")


def _counted_files(files: Iterable[tuple[str, T]], advance: Callable[[], None]) -> Iterator[tuple[str, T]]:
    for file in files:
        yield file
        advance()
