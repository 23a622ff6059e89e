"""`holdfast bisect`: since which commit memory says something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.lean.texts import short_id
from holdfast.rendering.views import lesson_json
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
from holdfast.surfaces.cli.history import version_json, version_lines
from holdfast.surfaces.cli.rows import pairs

if TYPE_CHECKING:
    from holdfast.domain.commit import CommitPoint
    from holdfast.domain.lesson import Lesson
    from holdfast.recall.bisection import Bisection


@click.command(
    epilog=examples(
        "holdfast bisect 1f0c9a2b",
        "holdfast bisect 'package manager' --good v1.0 --bad v2.0",
        "holdfast bisect 'retry limit' --good main~50 --json",
    )
)
@click.argument("subject", metavar="ID|TEXT", nargs=-1, required=True)
@click.option("--good", default="", metavar="COMMIT", help="The older end.  [default: the first commit]")
@click.option("--bad", default="", metavar="COMMIT", help="The newer end.  [default: the work tree, now]")
@json_option
@folder_option
@pass_call
def command(call: Call, subject: tuple[str, ...], good: str, bad: str) -> None:
    """Find the commit since which memory says what it says of a lesson or a question, and what it said before.

    A commit stands for the time it was committed: memory at a commit is what was known then. Commits are looked
    through along first parents. Where the answer changes several times, one of the places is found.
    """
    with call.open() as memory:
        bisection = memory.bisect(" ".join(subject), good=good, bad=bad)
    if call.as_json:
        answer_json(_json(bisection))
        return
    if bisection.changed:
        _print_change(bisection)
    else:
        say("memory says the same at both ends")
        _print(("from", _point(bisection.good)), ("to", _point(bisection.bad)), ("it says", _rule(bisection.after)))
    note(f"asked at {counted(bisection.steps, 'instant')}")


def _print_change(bisection: Bisection) -> None:
    _print(
        ("since", _point(bisection.bad)),
        ("it says", _rule(bisection.after)),
        ("before", _point(bisection.good)),
        ("it said", _rule(bisection.before)),
    )
    for version in bisection.change:
        for line in version_lines(version):
            say(line)


def _print(*rows: tuple[str, str]) -> None:
    for line in pairs(rows):
        say(line)


def _point(point: CommitPoint) -> str:
    return f"{point.id[:10]}  {point.at:%Y-%m-%d %H:%M} UTC  {point.subject}".strip()


def _rule(lesson: Lesson | None) -> str:
    return f"{short_id(lesson.id)}  {lesson.insight}" if lesson else "nothing"


def _json(bisection: Bisection) -> dict[str, Any]:
    return {
        "changed": bisection.changed,
        "good": _point_json(bisection.good),
        "bad": _point_json(bisection.bad),
        "before": lesson_json(bisection.before) if bisection.before else None,
        "after": lesson_json(bisection.after) if bisection.after else None,
        "change": [version_json(version) for version in bisection.change],
        "steps": bisection.steps,
    }


def _point_json(point: CommitPoint) -> dict[str, str]:
    return {"commit": point.id, "at": point.at.isoformat(), "subject": point.subject}
