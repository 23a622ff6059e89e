"""`holdfast check`: memory delivers what a repository's checks expect, or tells lessons where they were learnt."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import click

from holdfast.backfill.transcriptfiles import work_tree
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import as_dict
from holdfast.lean.texts import counted, short_id
from holdfast.publishing.sync import Syncing
from holdfast.settings import load_settings
from holdfast.surfaces.cli.frame import Call, command
from holdfast.surfaces.cli.screen import bar, note, say, table
from holdfast.upkeep.expectations import FILE_LIMIT, Expectation, Mistake, parse_expectations
from holdfast.upkeep.lessonrehearsal import (
    NEVER,
    WHEN_TOLD,
    BaselineComparison,
    LessonRehearsal,
    Lost,
    RehearsedLesson,
    as_lost,
    compare,
    read_baseline,
    rehearse_lessons,
    write_baseline,
)
from holdfast.upkeep.rehearsal import Rehearsed, scratch_memory
from holdfast.upkeep.rehearsal import rehearse as play_expectations
from holdfast.wiring import load_host

CHECKS = ".holdfast/checks.yaml"
HEADS = ("kind", "lessons", *(when if when != NEVER else "not at all" for when in WHEN_TOLD))


@command(
    "holdfast check", "holdfast check --only 'token rule'", "holdfast check --files", "holdfast check --rehearse",
    "holdfast check --rehearse --baseline before.json",
)  # fmt: skip
@click.argument("file", required=False, type=click.Path(dir_okay=False, resolve_path=True))
@click.option("--files", "from_files", is_flag=True, help="Use only the lessons in .holdfast/lessons, as CI does.")
@click.option("--only", default="", metavar="WORDS", help="Run only the checks whose name contains WORDS.")
@click.option("--host", default="", metavar="NAME", help="Play the checks as sessions of this host.")
@click.option("--rehearse", is_flag=True, help="Play the moments at which your confirmed lessons were learnt.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Rehearse only N of the lessons.")
@click.option(
    "--baseline", type=click.Path(dir_okay=False), metavar="FILE",
    help="Fail only for what got worse since FILE; write FILE if it does not exist.",
)  # fmt: skip
def check(
    call: Call,
    file: str | None,
    from_files: bool,
    only: str,
    host: str,
    rehearse: bool,
    sample: int | None,
    baseline: str | None,
) -> int:
    """Check that memory delivers what FILE expects; by default .holdfast/checks.yaml of the work tree.

    Each check is played as a new session in a copy of memory; your memory is not changed. The exit code is 1 if a
    check fails or the file has a mistake.

    With --rehearse no file is read: a lesson fails if it is told neither at a session's start nor at one of the
    requests, files, commands and searches beside which it was learnt.
    """
    root = work_tree(call.folder or os.getcwd())
    if rehearse:
        if file or from_files or only:
            raise click.UsageError("--rehearse plays lessons of your memory: leave out FILE, --files and --only")
        return rehearse_memory(call, root, host=host, sample=sample or 0, baseline=baseline or "")
    if sample or baseline:
        raise click.UsageError("--sample and --baseline need --rehearse")
    path = file or os.path.join(root, *CHECKS.split("/"))
    expectations, mistakes = _read(path)
    chosen = [expectation for expectation in expectations if only.casefold() in expectation.name.casefold()]
    outcomes = _run(call, root, chosen, from_files, host) if chosen and not mistakes else []
    _answer(call, _shown_path(path), outcomes, mistakes)
    if not chosen and not mistakes:
        note(f"no check of {_shown_path(path)} has {only!r} in its name" if only else "no checks")
    return 1 if mistakes or any(outcome.failures for outcome in outcomes) or (only and not chosen) else 0


def _read(path: str) -> tuple[tuple[Expectation, ...], tuple[Mistake, ...]]:
    if os.path.islink(path):
        # a link in a cloned repository could name any file of the user, whose lines an error would print
        raise InvalidValueError(f"{path} is a link", hint="replace it by a file")
    try:
        with open(path, "rb") as stream:
            return parse_expectations(stream.read(FILE_LIMIT + 1))
    except FileNotFoundError:
        hint = "docs/howto/checks.md describes the file"
        raise InvalidValueError(f"there is no {path}", hint=hint) from None


def _run(call: Call, root: str, expectations: Sequence[Expectation], from_files: bool, host: str) -> list[Rehearsed]:
    if host:
        load_host(host)  # raises an error for an unknown name
    if not from_files:
        call.open().close()  # takes in what waits in the spool, and updates an older schema
    with scratch_memory(load_settings(), root, empty=from_files) as memory:
        if from_files:  # the memory is a scratch one, so nobody has to vouch for the files
            report = memory.sync(Syncing(accept=True, take_only=True))
            for p in report.problems:
                note(f"error: .holdfast/lessons/{p.path}:{p.line}:{p.column}: {p.reason}; skipped")
            note(f"{counted(report.shared, 'lesson')} from .holdfast/lessons")
        return list(play_expectations(memory, expectations, host))


def _answer(call: Call, path: str, outcomes: Sequence[Rehearsed], mistakes: Sequence[Mistake]) -> None:
    failed = sum(bool(outcome.failures) for outcome in outcomes)
    plain = {
        "file": path, "passed": len(outcomes) - failed, "failed": failed,
        "checks": [_json(outcome) for outcome in outcomes], "mistakes": [as_dict(mistake) for mistake in mistakes],
    }  # fmt: skip
    if call.answer(plain):
        return
    for outcome in outcomes:
        word = click.style("FAIL", fg="red") if outcome.failures else click.style("ok  ", fg="green")
        say(f"{word}  {outcome.expectation.name}")
        say(*(f"      {path}:{outcome.expectation.line}: {failure}" for failure in outcome.failures))
        if outcome.failures:
            say(*(f"      {line}" for line in _delivered(outcome)))
    for mistake in mistakes:
        note(f"error: {path}:{mistake.line}:{mistake.column}: {mistake.reason}")
    if mistakes:
        note("no check was run")
    elif outcomes:
        note(f"{len(outcomes) - failed} passed, {failed} failed")


def _delivered(outcome: Rehearsed) -> list[str]:
    if not outcome.delivered:
        return ["nothing was delivered"]
    heads = [f"delivered, {counted(outcome.tokens, 'token')}:"]
    return heads + [f"{delivery.rank}  {short_id(delivery.lesson)}  {delivery.title}" for delivery in outcome.delivered]


def _json(outcome: Rehearsed) -> dict[str, object]:
    return {
        "name": outcome.expectation.name, "line": outcome.expectation.line, "passed": not outcome.failures,
        "failures": outcome.failures, "tokens": outcome.tokens,
        "delivered": [
            {"rank": delivery.rank, "id": delivery.lesson, "title": delivery.title} for delivery in outcome.delivered
        ],
    }  # fmt: skip


def _shown_path(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def rehearse_memory(call: Call, root: str, *, host: str, sample: int, baseline: str) -> int:
    """Rehearse the memory of the work tree and print the result; return the exit code."""
    if host:
        load_host(host)  # raises an error for an unknown name
    known = read_baseline(baseline) if baseline else None
    call.open().close()  # takes in what waits in the spool, and updates an older schema
    with scratch_memory(load_settings(), root, empty=False) as memory, bar("rehearsing lessons") as progress:
        rehearsal = rehearse_lessons(memory, host, sample, progress.show)
    is_new = bool(baseline) and known is None
    if is_new:
        write_baseline(baseline, rehearsal)
    comparison = compare(known, rehearsal, sampled=bool(sample)) if known is not None else None
    failed = comparison.lost if comparison else () if is_new else as_lost(rehearsal.untold)
    if not call.answer(_rehearsing_json(rehearsal, failed, comparison)):
        _print(rehearsal, failed, comparison)
    if is_new:
        note(f"{baseline} was written: later runs with it fail only for what got worse")
    return 1 if failed else 0


def _print(rehearsal: LessonRehearsal, failed: Sequence[Lost], comparison: BaselineComparison | None) -> None:
    say(*table(list(_rows(rehearsal)), HEADS))
    for lost in failed:
        say(f"FAIL  {short_id(lost.id)}  {lost.now.kind}  {lost.now.title}")
        say(f"      {_reason(lost)}")
    if rehearsal.without_moments:
        verb = "has" if rehearsal.without_moments == 1 else "have"
        note(f"{counted(rehearsal.without_moments, 'lesson')} {verb} no moments")
    whole, missing = len(rehearsal.lessons), len(rehearsal.untold)
    note(f"{whole - missing} of {counted(whole, 'lesson')} told at the start or at one of their moments")
    if comparison is not None:
        counts = f"{len(comparison.lost)} lost, {comparison.new} new, {comparison.gone} gone"
        note(f"since the baseline: {counts}")


def _rows(rehearsal: LessonRehearsal) -> Iterator[list[str]]:
    """Yield a row for each kind of lesson, and one for all of them."""
    groups: dict[str, list[RehearsedLesson]] = {}
    for lesson in rehearsal.lessons:
        groups.setdefault(lesson.kind, []).append(lesson)
    if len(groups) > 1:
        groups["all"] = list(rehearsal.lessons)
    for name, lessons in groups.items():
        yield [name, str(len(lessons)), *(str(count) for count in _counts(lessons).values())]


def _counts(lessons: Sequence[RehearsedLesson]) -> dict[str, int]:
    counts = Counter(lesson.told for lesson in lessons)
    return {when: counts[when] for when in WHEN_TOLD}


def _reason(lost: Lost) -> str:
    played = ", ".join(Counter(moment.kind for moment in lost.now.moments))
    if lost.id == lost.now.id:
        return f"it is told neither at the start nor at its moments ({played})"
    return f"{short_id(lost.now.id)} superseded it and is told at none of its moments"


def _rehearsing_json(
    rehearsal: LessonRehearsal, failed: Sequence[Lost], comparison: BaselineComparison | None
) -> dict[str, Any]:
    kinds = dict.fromkeys(lesson.kind for lesson in rehearsal.lessons)
    result: dict[str, Any] = {
        "lessons": len(rehearsal.lessons),
        "without_moments": rehearsal.without_moments,
        "told": _counts(rehearsal.lessons),
        "kinds": {kind: _counts([each for each in rehearsal.lessons if each.kind == kind]) for kind in kinds},
        "failed": [
            {"id": lost.id, "kind": lost.now.kind, "title": lost.now.title, 
             "superseded_by": lost.now.id if lost.now.id != lost.id else ""}
            for lost in failed
        ],
        "rehearsed": [
            {
                "id": lesson.id, "kind": lesson.kind, "told": lesson.told,
                "moments": [
                    {"event": moment.event, "kind": moment.kind, "told": moment.is_told} for moment in lesson.moments
                ]
            }
            for lesson in rehearsal.lessons
        ]
    }  # fmt: skip
    if comparison is not None:
        result["baseline"] = {"lost": len(comparison.lost), "new": comparison.new, "gone": comparison.gone}
    return result
