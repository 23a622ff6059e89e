"""`holdfast import`: import lessons from other tools' files, and whole lessons from JSON lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import click

from holdfast.backfill.importing import ImportRequest, TextLines, holds_lessons, importer_names
from holdfast.curation.transfer import ImportReport
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

OWN = "holdfast"
"""The name of our own form: JSON lines, as `holdfast export` writes them."""
TOLD = 20
"""Bad lines that are told one by one."""


class _Format(click.ParamType[str]):
    """The name of a format. Installed importers are looked up only if the user gives a name."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        known = [OWN, *importer_names()]
        if value not in known:
            self.fail(f"unknown format {value!r}; choose from {', '.join(known)}", param, ctx)
        return str(value)


@click.command(
    "import",
    epilog=examples(
        "holdfast import . --dry-run",
        "holdfast import AGENTS.md --accept",
        "holdfast import memory.jsonl",
        "holdfast export | ssh other-machine holdfast import - --accept",
        """echo '{"kind": "constraint", "insight": "Retries are capped at 3"}' | holdfast import - --accept""",
    ),
)
@click.argument("path", metavar="FILE|DIR", type=click.Path(exists=True, allow_dash=True))
@click.option("--from", "name", type=_Format(), metavar="NAME", help="The format, if it is not recognised.")
@click.option("--accept", is_flag=True, help="Vouch for the lessons: they become active unless they look suspicious.")
@click.option("--project", default="", metavar="NAME", help="The project's name in another tool's store; * means all.")
@click.option("--dry-run", "dry", is_flag=True, help="Print what would be done; change nothing.")
@json_option
@folder_option
@pass_call
def command(call: Call, path: str, name: str | None, accept: bool, project: str, dry: bool) -> None:
    """Import lessons from other tools' files, or from JSON lines; - reads JSON lines from stdin.

    Import reads rules files (AGENTS.md, CLAUDE.md, GEMINI.md, CONVENTIONS.md, those of Cursor, Copilot, Windsurf,
    Cline, Roo, Continue, Junie, Kiro), Claude Code's auto memory, architecture decision records, the MCP reference
    server's JSON lines and mem0's answers; the package holdfast-hosts adds other tools' stores. It searches a folder
    for all of them. Each section, list item or row becomes a lesson of its own. The files are not changed.

    Lessons from a repository or a tool wait in the inbox (`holdfast review`) unless you give --accept. Your own rules
    files in your home folder are active at once. A text is quarantined if it addresses the agent, hides something or
    runs what it downloads. Importing the same file again changes nothing. An edited section revises its lesson. If a
    section is gone from the file, import reports it and keeps the lesson. `holdfast undo` takes an import back.

    JSON lines have one object on each line, with these keys: id, kind, title, insight, why, how, snippets, files,
    symbols, anchors, tags, topic_key, created_at, valid_from, valid_to, state, trust, confidence, salience, scope,
    project, path_prefix, branch, pinned, error_signature, command, sessions_seen, revival, provenance, links, seal.
    Only kind and insight are required; other keys are ignored and counted. A lesson that you revised, rejected or
    forgot stays so.

    Lines that this Holdfast home exported carry its seal and are restored unchanged. A sealed line that was edited is
    refused and reported. Any other line may be from anyone: its lesson waits in the inbox, and its own trust, state,
    scope, pin, id, links and provenance are ignored, unless you give --accept. To move lessons between two machines,
    use --accept.

    A bad line or an unreadable file does not stop the import; the exit code is 1 if there was one.
    """
    if path == "-" or name == OWN or (not name and holds_lessons(path)):
        if project:
            raise click.UsageError("--project is for other tools' stores, not for JSON lines")
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
    """Print how many lessons wait for a person, and why."""
    if report.exported:
        what = counted(report.exported, "line")
        note(f"{what} exported by another Holdfast home: their trust, state and scope are ignored")
    if report.waiting:
        what = counted(report.waiting, "lesson")
        wait = "would wait" if dry else "waits" if report.waiting == 1 else "wait"
        note(f"{what} {wait} in the inbox, since anyone can write such a file: "
             f"{click.style('holdfast review', bold=True)}, or import again with --accept")  # fmt: skip
    if report.quarantined:
        note(
            f"{counted(report.quarantined, 'lesson')} in quarantine because the text looks suspicious: holdfast review"
        )
    note_conflicts(report.conflicts)
