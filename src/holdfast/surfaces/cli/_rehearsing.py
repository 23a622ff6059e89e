"""`holdfast check --rehearse`: plays the moments at which lessons were learnt, and prints where each is told now."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from holdfast.lean.texts import short_id
from holdfast.settings import load_settings
from holdfast.surfaces.cli.call import Call, answer_json, counted, note, say
from holdfast.surfaces.cli.rows import table
from holdfast.upkeep.lessonrehearsal import NEVER, WHEN_TOLD, LessonRehearsal, RehearsedLesson, rehearse_lessons
from holdfast.upkeep.rehearsalbaseline import BaselineComparison, Lost, as_lost, compare, read_baseline, write_baseline
from holdfast.upkeep.scratch import scratch_memory
from holdfast.wiring import load_host

HEADS = ("kind", "lessons", *(when if when != NEVER else "not at all" for when in WHEN_TOLD))


def rehearse_memory(call: Call, root: str, *, host: str, sample: int, baseline: str) -> int:
    """Rehearse the memory of the work tree and print the result; return the exit code."""
    if host:
        load_host(host)  # raises an error for an unknown name
    known = read_baseline(baseline) if baseline else None
    call.open().close()  # takes in what waits in the spool, and updates an older schema
    with scratch_memory(load_settings(), root, empty=False) as memory, _bar() as progress:
        rehearsal = rehearse_lessons(memory, host, sample, progress)
    is_new = bool(baseline) and known is None
    if is_new:
        write_baseline(baseline, rehearsal)
    comparison = compare(known, rehearsal, sampled=bool(sample)) if known is not None else None
    failed = comparison.lost if comparison else () if is_new else as_lost(rehearsal.untold)
    if call.as_json:
        answer_json(_json(rehearsal, failed, comparison))
    else:
        _print(rehearsal, failed, comparison)
    if is_new:
        note(f"{baseline} was written: later runs with it fail only for what got worse")
    return 1 if failed else 0


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None] | None]:
    """Yield a progress function, which takes (done, total); None if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("rehearsing lessons"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("lessons", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _print(rehearsal: LessonRehearsal, failed: Sequence[Lost], comparison: BaselineComparison | None) -> None:
    for line in table(list(_rows(rehearsal)), HEADS):
        say(line)
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


def _json(rehearsal: LessonRehearsal, failed: Sequence[Lost], comparison: BaselineComparison | None) -> dict[str, Any]:
    kinds = dict.fromkeys(lesson.kind for lesson in rehearsal.lessons)
    result: dict[str, Any] = {
        "lessons": len(rehearsal.lessons),
        "without_moments": rehearsal.without_moments,
        "told": _counts(rehearsal.lessons),
        "kinds": {kind: _counts([each for each in rehearsal.lessons if each.kind == kind]) for kind in kinds},
        "failed": [
            {"id": lost.id, "kind": lost.now.kind, "title": lost.now.title, "superseded_by": _successor(lost)}
            for lost in failed
        ],
        "rehearsed": [
            {
                "id": lesson.id, "kind": lesson.kind, "told": lesson.told,
                "moments": [
                    {"event": moment.event, "kind": moment.kind, "told": moment.is_told} for moment in lesson.moments
                ],
            }
            for lesson in rehearsal.lessons
        ],
    }  # fmt: skip
    if comparison is not None:
        result["baseline"] = {"lost": len(comparison.lost), "new": comparison.new, "gone": comparison.gone}
    return result


def _successor(lost: Lost) -> str:
    return lost.now.id if lost.now.id != lost.id else ""
