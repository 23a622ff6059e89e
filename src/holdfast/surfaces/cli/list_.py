"""`holdfast list`: lessons, newest first."""

from __future__ import annotations

from typing import Any

import click

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import STATES, TRUSTS, LessonKind, State
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli._completions import host_names
from holdfast.surfaces.cli._conflicts import print_conflicts
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    read_time,
    say,
)
from holdfast.surfaces.cli.rows import chosen_states, summary_lines


@click.command(
    "list",
    epilog=examples(
        "holdfast list",
        "holdfast list --kind constraint --path src/app.py",
        "holdfast list --state all --all-projects --json",
        "holdfast list --tag release --since '2 weeks ago'",
        "holdfast list --as-of 2026-03-01",
        "holdfast list --conflicts",
    ),
)
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([*STATES, "all"]),
    help="Only lessons in this state; `all` is every state except forgotten.  [default: active]",
)
@click.option("--kind", "kinds", multiple=True, type=click.Choice(LESSON_KINDS), help="Only lessons of this kind.")
@click.option("--path", "--file", "path", default="", help="Only lessons about this file.")
@click.option("--tag", default="", help="Only lessons with this tag.")
@click.option("--host", default="", shell_complete=host_names, help="Only lessons learnt in this host's sessions.")
@click.option("--trust", type=click.Choice(TRUSTS), help="Only lessons with this trust, which says who is behind them.")
@click.option("--since", default="", help="Only lessons since this time, e.g. 2026-03-01, yesterday, '2 weeks ago'.")
@click.option("--all-projects", is_flag=True, help="List lessons of every project on this machine.")
@click.option("--as-of", default="", help="List what memory held then: 2026-03-01T12:00:00Z, yesterday, or a commit.")
@click.option(
    "--conflicts", is_flag=True, help="List pairs of lessons that contradict each other, the better one first."
)
@click.option("--limit", default=100, show_default=True, type=click.IntRange(1), help="Print at most this many.")
@json_option
@folder_option
@pass_call
def command(
    call: Call,
    /,
    states: tuple[State, ...],
    kinds: tuple[LessonKind, ...],
    path: str,
    all_projects: bool,
    as_of: str,
    since: str,
    limit: int,
    conflicts: bool,
    **choice: Any,
) -> None:
    """List lessons, newest first.

    Each lesson is shown with its id, title, kind, location, and its freshness: whether the current code still matches
    it. A lesson that is not active shows its state instead. In a pipe each lesson is one line, separated by tabs: id,
    kind, title, location, freshness.

    With --conflicts, each pair is shown with the reason why the first lesson comes first. Only --limit and --json have
    an effect then.
    """
    if conflicts:
        with call.open() as memory:
            print_conflicts(call, memory.conflicts(), limit)
        return
    with call.open() as memory:
        lessons = memory.lessons(
            states=chosen_states(states),
            kinds=kinds,
            path=path,
            all_projects=all_projects,
            as_of=memory.instant(as_of) if as_of else None,
            since=read_time(since),
            limit=limit + 1,
            **choice,
        )
        shown = lessons[:limit]
        verdicts = memory.verdicts(shown)
        is_plain = not (states or path or kinds or all_projects or as_of or since or any(choice.values()))
        counts = memory.counts() if is_plain else None
        elsewhere = 0 if all_projects or as_of else memory.staged_elsewhere()
    pairs = list(zip(shown, verdicts, strict=True))
    if call.as_json:
        plain = [lesson_json(lesson, *verdict) for lesson, verdict in pairs]
        answer_json({"lessons": plain, "more": len(lessons) > limit})
        return
    for lesson, verdict in pairs:
        for line in summary_lines(lesson, _last(lesson, verdict[0])):
            say(line)
    count = f"{len(shown)} of {counts.words}" if counts else counted(len(shown), "lesson")
    note(count + (", and more: --limit" if len(lessons) > limit else ""))
    if elsewhere:
        note(f"{counted(elsewhere, 'lesson')} of other branches not listed: holdfast staged")


def _last(lesson: Lesson, freshness: str) -> str:
    return freshness if lesson.state == "active" else lesson.state
