"""`import`: lessons of other tools' files, of bundles that Holdfast exported, and of JSON lines."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import click

from holdfast.backfill.importing import (
    ConceptLines,
    ImportOutcome,
    ImportRequest,
    ImportRun,
    TextLines,
    holds_lessons,
    importer_names,
    own_concepts,
)
from holdfast.bootstrap import Memory
from holdfast.curation.adopt import PassageOutcome
from holdfast.curation.transfer import ImportReport
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import counted
from holdfast.surfaces.cli.frame import Call, command
from holdfast.surfaces.cli.screen import bar, note, note_conflicts, say, table

OWN = "holdfast"
"""The name of our own form: JSON lines, as `holdfast export` writes them."""
BUNDLES = "okf"
"""The name of the Open Knowledge Format."""
TOLD = 20
"""Bad lines that are told one by one."""
VERBS = ("added", "revised", "accepted", "unchanged", "skipped", "removed")
IMPORTING_TOLD = 20
"""Steps of a kind that are told one by one where nobody asked for all."""


class _Format(click.ParamType[str]):
    """The name of a format. Installed importers are looked up only if the user gives a name."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:

        known = [OWN, *importer_names()]
        if value not in known:
            self.fail(f"unknown format {value!r}; choose from {', '.join(known)}", param, ctx)
        return str(value)


@command(
    "holdfast import . --dry-run", "holdfast import AGENTS.md --accept", "holdfast import memory.jsonl",
    "holdfast export | ssh other-machine holdfast import - --accept",
    """echo '{"kind": "constraint", "insight": "Retries are capped at 3"}' | holdfast import - --accept""",
)  # fmt: skip
@click.argument("path", metavar="FILE|DIR", type=click.Path(exists=True, allow_dash=True))
@click.option("--from", "name", type=_Format(), metavar="NAME", help="The format, if it is not recognised.")
@click.option("--accept", is_flag=True, help="Vouch for the lessons: they become active unless they look suspicious.")
@click.option("--project", default="", metavar="NAME", help="The project's name in another tool's store; * means all.")
@click.option("--dry-run", "dry", is_flag=True, help="Print what would be done; change nothing.")
def import_(call: Call, path: str, name: str | None, accept: bool, project: str, dry: bool) -> int:
    """Import lessons from other tools' files, or from JSON lines; - reads JSON lines from stdin.

    Import reads rules files (AGENTS.md, CLAUDE.md, GEMINI.md, CONVENTIONS.md, those of Cursor, Copilot, Windsurf,
    Cline, Roo, Continue, Junie, Kiro), Claude Code's auto memory, architecture decision records, the MCP reference
    server's JSON lines, mem0's answers, SQLite files with a table `memory_entries`, and bundles of the Open Knowledge
    Format (--from okf where their index does not name the format); the package holdfast-hosts adds other tools' stores.
    It searches a folder for all of them. Each section, list item or row becomes a lesson of its own. The files are not
    changed.

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

    A bundle of the Open Knowledge Format that Holdfast exported gives the lessons that it was made of; what others
    wrote becomes a lesson a concept. Nobody's word in it counts until you accept it, also where it says that a person
    verified it. A concept that is past its `stale_after` is left out.

    A bad line or an unreadable file does not stop the import; the exit code is 1 if there was one.
    """
    if path == "-" or name == OWN or (not name and holds_lessons(path)):
        if project:
            raise click.UsageError("--project is for other tools' stores, not for JSON lines")
        return _import_lines(call, path, accept, dry)
    request = ImportRequest(path, name or "", project, accept, dry)
    own = own_concepts(path) if name in (None, BUNDLES) else []
    if own:
        return _import_bundle(call, own, request)
    with call.open() as memory:
        outcome = import_foreign(memory, request)
    if not call.answer(_foreign_json(outcome, request)):
        tell(outcome, request)
    return 1 if outcome.failed else 0


def _import_lines(call: Call, path: str, accept: bool, dry: bool) -> int:
    if os.path.isdir(path):
        raise InvalidValueError(f"{path} is a folder, not a file of JSON lines")
    with click.open_file(path, "rb") as stream, call.open() as memory:
        lines = TextLines(stream)
        origin = "stdin" if path == "-" else os.path.basename(path)
        with bar("lines") as progress:
            report = memory.import_lessons(lines, accept=accept, origin=origin, progress=progress.show, dry=dry)
    if not call.answer(_json(report, lines.mended)):
        _print(report, lines.mended, dry)
    return 1 if report.failed else 0


def _import_bundle(call: Call, paths: list[str], request: ImportRequest) -> int:
    """Import the lessons of concepts that Holdfast exported, and then what else is in their folder."""
    lines = ConceptLines(paths)
    with call.open() as memory:
        with bar("lessons", len(paths)) as progress:
            report = memory.import_lessons(
                lines, accept=request.accept, origin=os.path.basename(request.path.rstrip("/")) or request.path,
                progress=progress.show, dry=request.dry,
            )  # fmt: skip
        try:
            others = import_foreign(memory, request) if os.path.isdir(request.path) else None
        except InvalidValueError:
            others = None  # the folder holds nothing else
    failed = [(paths[number - 1], lines.reasons.get(number, reason)) for number, reason in report.failed]
    files = [{"file": path, "reason": reason} for path, reason in failed]
    plain = {**_json(report, []), "failed": files, "others": _foreign_json(others, request) if others else None}
    if not call.answer(plain):
        _print(replace(report, failed=()), [], request.dry, len(failed))
        for path, reason in failed[:TOLD]:
            note(f"{path}: {reason}")
        if others:
            tell(others, request)
    return 1 if failed or (others and others.failed) else 0


def _json(report: ImportReport, mended: list[int]) -> dict[str, object]:
    return {
        "added": report.added, "revised": report.revised, "unchanged": report.unchanged,
        "failed": [{"line": line, "reason": reason} for line, reason in report.failed],
        "ignored_keys": dict(report.ignored), "mended_lines": mended, "waiting": report.waiting,
        "quarantined": report.quarantined, "exported_elsewhere": report.exported, "conflicts": report.conflicts,
    }  # fmt: skip


def _print(report: ImportReport, mended: list[int], dry: bool, failed: int = 0) -> None:
    bad = failed or len(report.failed)
    say(f"{report.added} added, {report.revised} revised, {report.unchanged} unchanged, {bad} failed")
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


def import_foreign(memory: Memory, request: ImportRequest) -> ImportOutcome:
    """Import everything under the path, with a bar on a terminal. Raises InvalidValueError if nothing can be read."""
    work = ImportRun(memory, request)
    with bar("reading", len(work.search.found)) as progress:
        return work.run(progress.advance, progress.show)


def tell(outcome: ImportOutcome, request: ImportRequest) -> None:
    """Print a line for each source and what needs a person; a dry run also prints every step."""
    by_source = _by_source(outcome)
    say("\n".join(table([[label, format_of, _counts(steps)] for label, format_of, steps in by_source])))
    if request.dry:
        say(*map(_step_line, outcome.steps))
    else:
        _note_some("no longer in the source; the lesson stays", [s for s in outcome.steps if s.verb == "removed"])
    for label, reason in (*outcome.search.skipped, *outcome.failed):
        note(f"{label}: {reason}")
    if outcome.search.cut:
        note("note: the folder has too many files, and some were not read; import its subfolders one by one")
    _note_waiting(outcome.steps, request)


def _foreign_json(outcome: ImportOutcome, request: ImportRequest) -> dict[str, Any]:
    return {
        "dry_run": request.dry,
        **{verb: sum(step.verb == verb for step in outcome.steps) for verb in VERBS},
        "sources": [
            {"source": label, "format": format_of, **Counter(step.verb for step in steps)}
            for label, format_of, steps in _by_source(outcome)
        ],
        "steps": [
            {
                "verb": step.verb, "source": step.label, "section": step.section, "title": step.title,
                "reason": step.reason, "state": step.state if step.lesson else "", "lesson": step.lesson,
            }
            for step in outcome.steps
        ],
        "skipped_sources": [{"source": label, "reason": reason} for label, reason in outcome.search.skipped],
        "failed": [{"source": label, "reason": reason} for label, reason in outcome.failed],
        "cut": outcome.search.cut,
    }  # fmt: skip


def _by_source(outcome: ImportOutcome) -> Iterator[tuple[str, str, list[PassageOutcome]]]:
    failed = {label for label, _ in outcome.failed}
    for match in outcome.search.found:
        if match.source.label not in failed:
            name = match.importer.id.partition("/")[0].replace("_", "-")
            yield match.source.label, name, [step for step in outcome.steps if step.label == match.source.label]


def _counts(steps: Iterable[PassageOutcome]) -> str:
    counts = Counter(step.verb for step in steps)
    return ", ".join(f"{counts[verb]} {verb}" for verb in VERBS if counts[verb]) or "empty"


def _step_line(step: PassageOutcome) -> str:
    state = step.state if step.lesson else ""
    what = step.title or step.reason
    where = f"{step.label}#{step.section}" if step.section else step.label
    line = f"{step.verb:<9}  {state:<11}  {what}  ({where})"
    return f"{line}: {step.reason}" if step.title and step.reason else line


def _note_some(heading: str, steps: Sequence[PassageOutcome]) -> None:
    if steps:
        note(f"{counted(len(steps), 'lesson')} {heading}:")
    for step in steps[:IMPORTING_TOLD]:
        note(f"  {step.lesson[-8:]}  {step.title}")
    if len(steps) > IMPORTING_TOLD:
        note(f"  and {len(steps) - IMPORTING_TOLD} more; --json names them all")


def _note_waiting(steps: Sequence[PassageOutcome], request: ImportRequest) -> None:
    written = [step for step in steps if step.verb in ("added", "revised", "unchanged")]
    waiting = sum(step.state == "candidate" for step in written)
    quarantined = [step for step in written if step.state == "quarantined"]
    if waiting and not request.accept:
        verb = "would wait" if request.dry else "waits" if waiting == 1 else "wait"
        note(f"{counted(waiting, 'lesson')} {verb} in the inbox: "
             f"{click.style('holdfast review', bold=True)}, or import again with --accept")  # fmt: skip
    _note_some("in quarantine because the text looks suspicious; holdfast review shows them", quarantined)
