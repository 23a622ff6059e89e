"""`holdfast why`: print the reasons to believe a lesson."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click

from holdfast.curation.explain import AnchorState, Explanation
from holdfast.domain.lesson import Lesson
from holdfast.lean.plain import as_dict, field_names, to_plain
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

SHOWN = 5
"""Newest of each kind of log record that are printed."""
UNCOMMITTED = "-"


@click.command(epilog=examples("holdfast why 1f0c9a2b", "holdfast why 1f0c9a2b --json"))
@click.argument("ref", metavar="ID", shell_complete=lesson_ids)
@json_option
@folder_option
@pass_call
def command(call: Call, ref: str) -> None:
    """Print why a lesson is believed: who said it, on what evidence, and whether the code still agrees.

    Then print when it was shown and with what outcome. ID is the end of its id.
    """
    with call.open() as memory:
        explanation = memory.explain(ref)
    if call.as_json:
        answer_json(_json(explanation))
        return
    for line in _lines(explanation):
        indent = len(line) - len(line.lstrip())
        first, *rest = wrapped(line.lstrip(), indent + 2)
        say(" " * indent + first)
        for more in rest:
            say(" " * (indent + 2) + more)


def _lines(explanation: Explanation) -> Iterator[str]:
    lesson = explanation.lesson
    yield f"{short_id(lesson.id)}  {lesson.title}"
    yield f"{lesson.kind}, {coloured(lesson.state)}, {_speaker(lesson)}, confidence {lesson.confidence:.2f}"
    yield f"since {_when(lesson.validity.valid_from)}{_sessions(lesson)}"
    if lesson.why:
        yield f"because {lesson.why}"
    for span in lesson.provenance.evidence:
        yield f'  "{" ".join(span.quote.split())}"'
    yield f"code: {coloured(explanation.freshness)}" + (f", {explanation.caveat}" if explanation.caveat else "")
    for anchor_state in explanation.subjects:
        yield "  " + _anchor_line(anchor_state)
    yield from _history_lines(explanation)


def _anchor_line(anchor_state: AnchorState) -> str:
    anchor, verdict = anchor_state.anchor, anchor_state.verdict
    name = f"{anchor.path}:{anchor.symbol}" if anchor.symbol else anchor.path
    where = " ".join(filter(None, (anchor.commit[:10], f"on {anchor.branch}" if anchor.branch else "")))
    anchored_at = f" (anchored at {where})" if where else ""
    words = f": {verdict.words}" if verdict.words else ""
    return f"{name}{anchored_at} {coloured(verdict.freshness)}{words}{_commit_words(anchor_state)}"


def _commit_words(anchor_state: AnchorState) -> str:
    if not anchor_state.commit or "in commit" in anchor_state.verdict.words:
        return ""
    return ", not committed yet" if anchor_state.commit == UNCOMMITTED else f", in commit {anchor_state.commit[:10]}"


def _history_lines(explanation: Explanation) -> Iterator[str]:
    history = explanation.history
    if history.deliveries:
        yield f"shown {counted(len(history.deliveries), 'time')}"
    for shown in history.deliveries[:SHOWN]:
        yield f"  {_when(shown.at)}  {shown.moment}  {shown.trigger}  {shown.reason}".rstrip()
    if history.outcomes:
        standing = explanation.standing
        yield f"outcomes: {standing.words}"
        if standing.estimate:
            yield f"  {standing.estimate}"
        if standing.factor != 1.0:
            yield f"  {'earlier' if standing.factor > 1 else 'later'} in the order: x {standing.factor}"
    yield _decay_words(explanation)
    for outcome in history.outcomes[:SHOWN]:
        without = " (withheld)" if outcome.withheld and outcome.verdict != "withheld" else ""
        yield f"  {_when(outcome.at)}  {outcome.verdict}{without}  {outcome.note}".rstrip()
    yield "changes"
    for change in history.changes[:SHOWN]:
        yield f"  {_when(change.at)}  {change.verb}  {change.summary or change.actor}".rstrip()


def _decay_words(explanation: Explanation) -> str:
    decay = explanation.decay
    if not decay.half_life_days:
        return "decay: none, because it is pinned"
    kind = explanation.lesson.kind.replace("_", " ")
    return (
        f"decay: {decay.age_days:.0f} days old, half-life of a {kind} {decay.half_life_days:.0f}: x {decay.factor:.3f}"
    )


def _speaker(lesson: Lesson) -> str:
    source = lesson.provenance
    # For an imported lesson, `origin` names the file, which says more than the importer's name.
    finder = found_by(source.detector) if source.detector and not source.origin else ""
    named = f"learnt from {finder}" if finder else "said by " + (source.author or "a person")
    named = "read" if source.origin and source.detector else named
    where = f" in {source.host} session {source.session}" if source.session else ""
    where += f" from {source.origin}" if source.origin else ""
    return f"{named}{where} ({lesson.trust})"


def _sessions(lesson: Lesson) -> str:
    return f", seen in {len(lesson.sessions_seen)} sessions" if len(lesson.sessions_seen) > 1 else ""


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _json(explanation: Explanation) -> dict[str, Any]:
    history = explanation.history
    logs = {name: [to_plain(entry) for entry in getattr(history, name)] for name in field_names(type(history))}
    return {
        "lesson": lesson_json(explanation.lesson, explanation.freshness, explanation.caveat),
        "anchors": [
            {
                "anchor": to_plain(anchor_state.anchor),
                "freshness": anchor_state.verdict.freshness,
                "words": anchor_state.verdict.words,
                "now_at": to_plain(anchor_state.verdict.anchor),
                "commit": "" if anchor_state.commit == UNCOMMITTED else anchor_state.commit,
                "uncommitted": anchor_state.commit == UNCOMMITTED,
            }
            for anchor_state in explanation.subjects
        ],
        "standing": as_dict(explanation.standing) | {"estimate": explanation.standing.estimate},
        "decay": as_dict(explanation.decay),
        **logs,
    }
