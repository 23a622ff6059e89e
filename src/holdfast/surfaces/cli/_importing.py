"""Imports other tools' files for `holdfast import`, with a progress bar, and prints the outcome as lines or JSON."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from holdfast.backfill.importing import ImportOutcome, ImportRequest, ImportRun
from holdfast.bootstrap import Memory
from holdfast.curation.adopt import PassageOutcome
from holdfast.surfaces.cli.call import answer_json, counted, note, say
from holdfast.surfaces.cli.rows import table

VERBS = ("added", "revised", "accepted", "unchanged", "skipped", "removed")
TOLD = 20
"""Steps of a kind that are told one by one where nobody asked for all."""


def import_foreign(memory: Memory, request: ImportRequest) -> ImportOutcome:
    """Import everything under the path, with a bar on a terminal. Raises InvalidValueError if nothing can be read."""
    work = ImportRun(memory, request)
    with _Progress(len(work.search.found)) as bar:
        return work.run(bar.read, bar.adopted)


def tell(outcome: ImportOutcome, request: ImportRequest) -> None:
    """Print a line for each source and what needs a person; a dry run also prints every step."""
    by_source = _by_source(outcome)
    say("\n".join(table([[label, format_of, _counts(steps)] for label, format_of, steps in by_source])))
    if request.dry:
        for step in outcome.steps:
            say(_step_line(step))
    else:
        _note_some("no longer in the source; the lesson stays", [s for s in outcome.steps if s.verb == "removed"])
    for label, reason in (*outcome.search.skipped, *outcome.failed):
        note(f"{label}: {reason}")
    if outcome.search.cut:
        note("note: the folder has too many files, and some were not read; import its subfolders one by one")
    _note_waiting(outcome.steps, request)


def tell_json(outcome: ImportOutcome, request: ImportRequest) -> None:
    """Print the outcome as JSON."""
    answer_json(
        {
            "dry_run": request.dry,
            **{verb: sum(step.verb == verb for step in outcome.steps) for verb in VERBS},
            "sources": [
                {"source": label, "format": format_of, **Counter(step.verb for step in steps)}
                for label, format_of, steps in _by_source(outcome)
            ],
            "steps": [_step_json(step) for step in outcome.steps],
            "skipped_sources": [{"source": label, "reason": reason} for label, reason in outcome.search.skipped],
            "failed": [{"source": label, "reason": reason} for label, reason in outcome.failed],
            "cut": outcome.search.cut,
        }
    )


class _Progress:
    """A bar on a terminal, first for sources read, then for passages imported. It shows nothing elsewhere."""

    def __init__(self, sources: int) -> None:
        self._sources = sources
        self._bar: Any = None

    def __enter__(self) -> _Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f}"))
            self._bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("reading", total=self._sources)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._bar:
            self._bar.stop()

    def read(self) -> None:
        """Count one more source as read."""
        if self._bar:
            self._bar.advance(self._task)

    def adopted(self, done: int) -> None:
        """Show how many passages are done."""
        if self._bar:
            self._bar.update(self._task, description="passages", completed=done, total=None)


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


def _step_json(step: PassageOutcome) -> dict[str, str]:
    return {
        "verb": step.verb, "source": step.label, "section": step.section, "title": step.title,
        "reason": step.reason, "state": step.state if step.lesson else "", "lesson": step.lesson,
    }  # fmt: skip


def _note_some(heading: str, steps: Sequence[PassageOutcome]) -> None:
    if steps:
        note(f"{counted(len(steps), 'lesson')} {heading}:")
    for step in steps[:TOLD]:
        note(f"  {step.lesson[-8:]}  {step.title}")
    if len(steps) > TOLD:
        note(f"  and {len(steps) - TOLD} more; --json names them all")


def _note_waiting(steps: Sequence[PassageOutcome], request: ImportRequest) -> None:
    written = [step for step in steps if step.verb in ("added", "revised", "unchanged")]
    waiting = sum(step.state == "candidate" for step in written)
    quarantined = [step for step in written if step.state == "quarantined"]
    if waiting and not request.accept:
        verb = "would wait" if request.dry else "waits" if waiting == 1 else "wait"
        note(f"{counted(waiting, 'lesson')} {verb} in the inbox: "
             f"{click.style('holdfast review', bold=True)}, or import again with --accept")  # fmt: skip
    _note_some("in quarantine because the text looks suspicious; holdfast review shows them", quarantined)
