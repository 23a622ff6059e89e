"""`holdfast import`: whole lessons from JSON lines."""

from __future__ import annotations

import sys
from typing import IO, TYPE_CHECKING

import click

from holdfast.surfaces.cli.call import Call, answer_json, examples, folder_option, json_option, note, pass_call, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.service.transfer import ImportReport

LINE_BYTES = 4_000_000
"""No more of a line is read: a million characters of four bytes each, which is refused as too long anyway."""
TOLD = 20
"""Bad lines that are told one by one."""


@click.command(
    "import",
    epilog=examples(
        "holdfast import lessons.jsonl",
        "holdfast export | ssh other-machine holdfast import -",
        """echo '{"kind": "constraint", "insight": "Retries are capped at 3"}' | holdfast import -""",
    ),
)
@click.argument("file", type=click.File("rb"))
@click.option("--format", "form", default="jsonl", show_default=True, type=click.Choice(["jsonl"]))
@json_option
@folder_option
@pass_call
def command(call: Call, file: IO[bytes], form: str) -> None:
    """Read lessons from FILE, one JSON object a line; - reads stdin.

    Keys: id, kind, title, insight, why, how, snippets, files, symbols, anchors, tags, topic_key, created_at,
    valid_from, valid_to, state, trust, confidence, salience, scope, project, path_prefix, branch, pinned,
    error_signature, command, sessions_seen, revival, provenance, links. Only kind and insight are required; other
    keys are ignored and counted. Importing the same again changes nothing, and a lesson you revised, rejected or
    forgot stays so.

    Bad lines are reported with their number and the others are kept; the exit code is 1 when there were any.
    """
    lines = _Lines(file)
    with call.open() as memory:
        if sys.stderr.isatty():
            report = _with_bar(lambda progress: memory.import_lessons(lines, progress=progress))
        else:
            report = memory.import_lessons(lines)
    if call.as_json:
        answer_json(_json(report, lines.mended))
    else:
        _print(report, lines.mended)
    if report.failed:
        click.get_current_context().exit(1)


class _Lines:
    """The file's lines as text; remembers which ones were not UTF-8."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.mended: list[int] = []

    def __iter__(self) -> Iterator[str]:
        number = 0
        while raw := self._stream.readline(LINE_BYTES):
            number += 1
            while len(raw) >= LINE_BYTES and not raw.endswith(b"\n") and (rest := self._stream.readline(LINE_BYTES)):
                raw = raw[: LINE_BYTES - 1] + rest[-1:]  # the rest of a line that is refused is skipped, not kept
            try:
                yield raw.decode("utf-8")
            except UnicodeDecodeError:
                self.mended.append(number)
                yield raw.decode("utf-8", "replace")


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
    }


def _print(report: ImportReport, mended: list[int]) -> None:
    say(f"{report.added} added, {report.revised} revised, {report.unchanged} unchanged, {len(report.failed)} failed")
    for line, reason in report.failed[:TOLD]:
        note(f"line {line}: {reason}")
    if len(report.failed) > TOLD:
        note(f"and {len(report.failed) - TOLD} more bad lines; --json names them all")
    if mended:
        shown = ", ".join(map(str, mended[:TOLD])) + (", …" if len(mended) > TOLD else "")
        note(f"note: not UTF-8, bad bytes replaced, in line {shown}")
    if report.ignored:
        note("note: keys ignored: " + ", ".join(f"{key} ({count})" for key, count in report.ignored[:TOLD]))
