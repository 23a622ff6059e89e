"""`holdfast why`: why a lesson is believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holdfast.lean.plain import to_plain
from holdfast.lean.texts import short_id
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli._sourcewords import found_by
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import coloured, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from holdfast.curation.explain import AnchorState, Explanation
    from holdfast.domain.lesson import Lesson

SHOWN = 5
"""Newest of each kind of log record that are printed."""
UNCOMMITTED = "-"


@click.command(epilog=examples("holdfast why 1f0c9a2b", "holdfast why 1f0c9a2b --json"))
@click.argument("ref", metavar="ID", shell_complete=lesson_ids)
@json_option
@folder_option
@pass_call
def command(call: Call, ref: str) -> None:
    """Print why a lesson is believed: who said it and on what evidence, and whether the code still bears it out.

    Then when it was shown and what came of it. ID is the end of its id.
    """
    with call.open() as memory:
        told = memory.explain(ref)
    if call.as_json:
        answer_json(_json(told))
        return
    for line in _lines(told):
        indent = len(line) - len(line.lstrip())
        first, *rest = wrapped(line.lstrip(), indent + 2)
        say(" " * indent + first)
        for more in rest:
            say(" " * (indent + 2) + more)


def _lines(told: Explanation) -> Iterator[str]:
    lesson = told.lesson
    yield f"{short_id(lesson.id)}  {lesson.title}"
    yield f"{lesson.kind}, {coloured(lesson.state)}, {_speaker(lesson)}, confidence {lesson.confidence:.2f}"
    yield f"since {_when(lesson.validity.valid_from)}{_sessions(lesson)}"
    if lesson.why:
        yield f"because {lesson.why}"
    for span in lesson.provenance.evidence:
        yield f'  "{" ".join(span.quote.split())}"'
    yield f"code: {coloured(told.freshness)}" + (f", {told.caveat}" if told.caveat else "")
    for one in told.subjects:
        yield "  " + _anchor_line(one)
    yield from _history_lines(told)


def _anchor_line(one: AnchorState) -> str:
    anchor, verdict = one.anchor, one.verdict
    name = f"{anchor.path}:{anchor.symbol}" if anchor.symbol else anchor.path
    where = " ".join(filter(None, (anchor.commit[:10], f"on {anchor.branch}" if anchor.branch else "")))
    held = f" (anchored at {where})" if where else ""
    words = f": {verdict.words}" if verdict.words else ""
    return f"{name}{held} {coloured(verdict.freshness)}{words}{_commit_words(one)}"


def _commit_words(one: AnchorState) -> str:
    if not one.commit or "in commit" in one.verdict.words:
        return ""
    return ", not committed yet" if one.commit == UNCOMMITTED else f", in commit {one.commit[:10]}"


def _at(where: str) -> str:
    moment, _, work = where.partition("/")
    return " ".join(filter(None, (f" {moment.replace('_', ' ')}" if moment else "", f"({work})" if work else "")))


def _history_lines(told: Explanation) -> Iterator[str]:
    history = told.history
    if history.deliveries:
        yield f"shown {counted(len(history.deliveries), 'time')}"
    for shown in history.deliveries[:SHOWN]:
        yield f"  {_when(shown.at)}  {shown.moment}  {shown.trigger}  {shown.reason}".rstrip()
    if history.outcomes:
        yield f"outcomes: {told.standing.words}"
    for where, factor in told.factors:
        yield f"  told more readily{_at(where)}: x {factor}" if factor > 1 else f"  held back{_at(where)}: x {factor}"
    yield _decay_words(told)
    for outcome in history.outcomes[:SHOWN]:
        without = " (withheld)" if outcome.withheld and outcome.verdict != "withheld" else ""
        yield f"  {_when(outcome.at)}  {outcome.verdict}{without}  {outcome.note}".rstrip()
    yield "changes"
    for change in history.changes[:SHOWN]:
        yield f"  {_when(change.at)}  {change.verb}  {change.summary or change.actor}".rstrip()


def _decay_words(told: Explanation) -> str:
    decay = told.decay
    if not decay.half_life_days:
        return "decay: none, it is pinned"
    kind = told.lesson.kind.replace("_", " ")
    return (
        f"decay: {decay.age_days:.0f} days old, half-life of a {kind} {decay.half_life_days:.0f}: x {decay.factor:.3f}"
    )


def _speaker(lesson: Lesson) -> str:
    source = lesson.provenance
    # An importer is known by what it read, which stands in `origin`.
    found = found_by(source.detector) if source.detector and not source.origin else ""
    named = f"learnt from {found}" if found else "said by " + (source.author or "a person")
    named = "read" if source.origin and source.detector else named
    where = f" in {source.host} session {source.session}" if source.session else ""
    where += f" from {source.origin}" if source.origin else ""
    return f"{named}{where} ({lesson.trust})"


def _sessions(lesson: Lesson) -> str:
    return f", seen in {len(lesson.sessions_seen)} sessions" if len(lesson.sessions_seen) > 1 else ""


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _json(told: Explanation) -> dict[str, Any]:
    logs = {name: [to_plain(entry) for entry in getattr(told.history, name)] for name in told.history.fields_}
    return {
        "lesson": lesson_json(told.lesson, told.freshness, told.caveat),
        "anchors": [
            {
                "anchor": to_plain(one.anchor),
                "freshness": one.verdict.freshness,
                "words": one.verdict.words,
                "now_at": to_plain(one.verdict.anchor),
                "commit": "" if one.commit == UNCOMMITTED else one.commit,
                "uncommitted": one.commit == UNCOMMITTED,
            }
            for one in told.subjects
        ],
        "standing": dict(told.standing.__dict__),
        "factors": dict(told.factors),
        "decay": dict(told.decay.__dict__),
        **logs,
    }
