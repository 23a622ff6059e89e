"""`holdfast import`: what other tools keep, and whole lessons from JSON lines."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.backfill.importing import ImportRequest, TextLines, holds_lessons
from holdfast.errors import InvalidValueError
from holdfast.surfaces.cli._conflicts import note_conflicts
from holdfast.surfaces.cli._importing import import_foreign, tell, tell_json
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    say,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.curation.transfer import ImportReport

OWN = "holdfast"
"""The name of our own form: JSON lines, as `holdfast export` writes them."""
TOLD = 20
"""Bad lines that are told one by one."""


class _Format(click.ParamType[str]):
    """The name of a form; installed importers are looked up only when one is named."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from holdfast.backfill.sources import importer_names

        known = [OWN, *importer_names()]
        if value not in known:
            self.fail(f"unknown form {value!r}; one of {', '.join(known)}", param, ctx)
        return str(value)


@click.command(
    "import",
    epilog=examples(
        "holdfast import . --dry-run",
        "holdfast import AGENTS.md --accept",
        "holdfast import ~/.claude-mem/claude-mem.db",
        "holdfast export | ssh other-machine holdfast import - --accept",
        """echo '{"kind": "constraint", "insight": "Retries are capped at 3"}' | holdfast import - --accept""",
    ),
)
@click.argument("path", metavar="FILE|DIR", type=click.Path(exists=True, allow_dash=True))
@click.option("--from", "name", type=_Format(), metavar="NAME", help="Its form, where it is not recognised.")
@click.option("--accept", is_flag=True, help="Vouch for it: what is not suspicious becomes active, not a candidate.")
@click.option("--project", default="", metavar="NAME", help="Its name in a store of several projects; * is all.")
@click.option("--dry-run", "dry", is_flag=True, help="Print what would be done, and do nothing.")
@json_option
@folder_option
@pass_call
def command(call: Call, path: str, name: str | None, accept: bool, project: str, dry: bool) -> None:
    """Read lessons from what other tools keep, or from JSON lines; - reads JSON lines from stdin.

    Rules files (AGENTS.md, CLAUDE.md, GEMINI.md, CONVENTIONS.md, those of Cursor, Copilot, Windsurf, Cline, Roo,
    Continue, Junie, Kiro), memories of agents (Claude Code's auto memory, a Cline memory bank), architecture decision
    records, and the stores of other memory tools (the MCP reference server's JSON lines, mem0, claude-mem, Basic
    Memory, engram, mcp-memory-service). A folder is searched for all of them. Each section, list item or row becomes a
    lesson of its own. Nothing is written there.

    What a repository or a tool says waits in the inbox (`holdfast review`) unless --accept is given; your own rules
    files in your home are active at once; words that address the agent, hide something or run what they download are
    quarantined. Importing the same again changes nothing; an edited section revises its lesson; what is gone from the
    file is told and stays. `holdfast undo` takes an import back.

    JSON lines, one object a line, have the keys: id, kind, title, insight, why, how, snippets, files, symbols, anchors,
    tags, topic_key, created_at, valid_from, valid_to, state, trust, confidence, salience, scope, project, path_prefix,
    branch, pinned, error_signature, command, sessions_seen, revival, provenance, links, seal. Only kind and insight
    are required; other keys are ignored and counted. A lesson you revised, rejected or forgot stays so.

    Lines that this Holdfast home exported carry its seal and come back as they were; one that was changed since is
    refused and named. Any other line may be anybody's: it waits in the inbox as a repository's text, and what it says
    of its own trust, state, scope, pin, id, links and provenance does not count, unless --accept is given. So export
    and import between two machines takes --accept.

    A bad line or an unreadable file costs the others nothing; the exit code is 1 when there were any.
    """
    if path == "-" or name == OWN or (not name and holds_lessons(path)):
        if project:
            raise click.UsageError("--project is for what other tools keep")
        _import_lines(call, path, accept, dry)
        return
    request = ImportRequest(path, name or "", project, accept, dry)
    with call.open() as memory:
        outcome = import_foreign(memory, request)
    (tell_json if call.as_json else tell)(outcome, request)
    if outcome.failed:
        click.get_current_context().exit(1)


def _import_lines(call: Call, path: str, accept: bool, dry: bool) -> None:
    if os.path.isdir(path):
        raise InvalidValueError(f"{path} is a folder, not a file of JSON lines")
    with click.open_file(path, "rb") as stream, call.open() as memory:
        lines = TextLines(stream)
        origin = "stdin" if path == "-" else os.path.basename(path)

        def run(progress: Callable[[int], None] | None = None) -> ImportReport:
            return memory.import_lessons(lines, accept=accept, origin=origin, progress=progress, dry=dry)

        report = _with_bar(run) if sys.stderr.isatty() else run()
    if call.as_json:
        answer_json(_json(report, lines.mended))
    else:
        _print(report, lines.mended, dry)
    if report.failed:
        click.get_current_context().exit(1)


def _with_bar(run: object) -> ImportReport:
    from rich.console import Console
    from rich.progress import Progress, TextColumn, TimeElapsedColumn

    with Progress(
        TextColumn("{task.completed:,.0f} lines"), TimeElapsedColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("import", total=None)
        report: ImportReport = run(lambda done: bar.update(task, completed=done))  # type: ignore[operator]
    return report


def _json(report: ImportReport, mended: list[int]) -> dict[str, object]:
    return {
        "added": report.added,
        "revised": report.revised,
        "unchanged": report.unchanged,
        "failed": [{"line": line, "reason": reason} for line, reason in report.failed],
        "ignored_keys": dict(report.ignored),
        "mended_lines": mended,
        "waiting": report.waiting,
        "quarantined": report.quarantined,
        "exported_elsewhere": report.exported,
        "conflicts": report.conflicts,
    }


def _print(report: ImportReport, mended: list[int], dry: bool) -> None:
    say(f"{report.added} added, {report.revised} revised, {report.unchanged} unchanged, {len(report.failed)} failed")
    _note_standing(report, dry)
    for line, reason in report.failed[:TOLD]:
        note(f"line {line}: {reason}")
    if len(report.failed) > TOLD:
        note(f"and {len(report.failed) - TOLD} more bad lines; --json names them all")
    if mended:
        shown = ", ".join(map(str, mended[:TOLD])) + (", …" if len(mended) > TOLD else "")
        note(f"note: not UTF-8, bad bytes replaced, in line {shown}")
    if report.ignored:
        note("note: keys ignored: " + ", ".join(f"{key} ({count})" for key, count in report.ignored[:TOLD]))


def _note_standing(report: ImportReport, dry: bool) -> None:
    """Say what waits for a person, and why."""
    if report.exported:
        what = counted(report.exported, "line")
        note(f"{what} exported by another home: what is said there of trust, state and scope does not count here")
    if report.waiting:
        what = counted(report.waiting, "lesson")
        wait = "would wait" if dry else "waits" if report.waiting == 1 else "wait"
        note(f"{what} {wait} in the inbox, for anybody can write a file: "
             f"{click.style('holdfast review', bold=True)}, or the same with --accept")  # fmt: skip
    if report.quarantined:
        note(
            f"{counted(report.quarantined, 'lesson')} in quarantine, because of what the words do: a person has to look"
        )
    note_conflicts(report.conflicts)
