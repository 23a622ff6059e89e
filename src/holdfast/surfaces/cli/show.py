"""`holdfast show`: print everything about one lesson."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import click

from holdfast.curation.claims import status_of
from holdfast.domain.lesson import Lesson
from holdfast.lean.plain import field_names, to_plain
from holdfast.lean.texts import short_id
from holdfast.lessons.lookup import LessonHistory
from holdfast.outcomes.standing import since_of, standing_of
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli._sourcewords import found_by
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    examples,
    folder_option,
    json_option,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import coloured, labelled

LABEL = 10
"""Width of the labels' column."""


@click.command(
    epilog=examples(
        "holdfast show 1f0c9a2b", "holdfast show 1f0c9a2b --json", "holdfast show 1f0c9a2b --as-of 2026-03-01"
    )
)
@click.argument("ref", metavar="ID", shell_complete=lesson_ids)
@click.option(
    "--as-of", default="", help="Print the lesson as it was then: 2026-03-01T12:00:00Z, yesterday, or a commit."
)
@json_option
@folder_option
@pass_call
def command(call: Call, ref: str, as_of: str) -> None:
    """Print everything about one lesson: its source, its history, and whether the code still agrees.

    ID is the end of the lesson's id, at least four characters.
    """
    with call.open() as memory:
        lesson = memory.get(ref, memory.instant(as_of) if as_of else None)
        freshness, caveat = memory.verdicts([lesson])[0]
        history = memory.history(lesson.id)
    if call.as_json:
        logs = {name: [to_plain(entry) for entry in getattr(history, name)] for name in field_names(type(history))}
        answer_json({**lesson_json(lesson, freshness, caveat), **logs})
        return
    for line in lesson_lines(lesson, freshness, caveat):
        say(line)
    for line in _history_lines(history):
        say(line)


def lesson_lines(lesson: Lesson, freshness: str, caveat: str) -> list[str]:
    """Return the lesson as lines of label and value, with its evidence quoted."""
    rows = [("id", f"{short_id(lesson.id)} ({lesson.id})"), ("title", lesson.title)]
    rows += [("insight", lesson.insight)] if lesson.insight != lesson.title else []
    rows += [("why", lesson.why), ("how", lesson.how), *(("snippet", snippet) for snippet in lesson.snippets)]
    rows += [("kind", f"{lesson.kind} ({lesson.memory_type})"), ("state", coloured(lesson.state))]
    rows += [("claim", status_of(lesson))]
    rows += [("freshness", coloured(freshness) + (f": {caveat}" if caveat else ""))]
    rows += [("where", _where(lesson)), *(("file", name) for name in (*lesson.paths, *lesson.globs))]
    rows += [("symbol", name) for name in lesson.symbols]
    rows += [("answers", lesson.error_signature), ("command", lesson.command), ("tags", ", ".join(lesson.tags))]
    made = lesson.topic_key.startswith("import:")  # an importer's own key, which means nothing to a person
    rows += [("topic", "" if made else lesson.topic_key), ("trust", _trust(lesson)), ("marks", _marks(lesson))]
    rows += [("revive when", lesson.revival)]
    rows += [("valid", _span(lesson.validity.valid_from, lesson.validity.valid_to))]
    rows += [("recorded", _span(lesson.recorded_at, lesson.retracted_at)), ("from", _source(lesson))]
    rows += [("evidence", f'"{span.quote}"') for span in lesson.provenance.evidence if span.quote]
    rows += [("link", f"{link.kind} {short_id(link.target)}") for link in lesson.links]
    return [line for label, value in rows if value for line in _lines(label, value)]


def _history_lines(history: LessonHistory) -> Iterator[str]:
    for change in reversed(history.changes):
        yield from _lines("change", f"{_when(change.at)}  {change.verb}  {change.actor or change.summary}".rstrip())
    for shown in reversed(history.deliveries):
        yield from _lines("shown", f"{_when(shown.at)}  {shown.moment}  {shown.trigger}  {shown.reason}")
    estimate = standing_of(history.outcomes, since_of(history.changes)).estimate
    yield from _lines("effect", estimate) if estimate else ()
    for outcome in reversed(history.outcomes):
        yield from _lines("outcome", f"{_when(outcome.at)}  {outcome.verdict}  {outcome.note}")


def _lines(label: str, value: str) -> list[str]:
    return labelled(label, value, LABEL)


def _where(lesson: Lesson) -> str:
    scope = lesson.scope
    parts = [scope.level, scope.path_prefix, f"branch {scope.branch}" if scope.branch else ""]
    return " ".join(filter(None, parts))


def _trust(lesson: Lesson) -> str:
    return f"{lesson.trust}, confidence {lesson.confidence:.2f}, salience {lesson.salience:.2f}"


def _marks(lesson: Lesson) -> str:
    return ", ".join(mark for mark in ("pinned", "private") if getattr(lesson, mark))


def _source(lesson: Lesson) -> str:
    source = lesson.provenance
    stated = f"said by {source.person_name}" if source.person_name else ""
    named = [
        found_by(source.detector) or source.author or "a person",
        stated,
        source.origin,
        source.host,
        source.session,
    ]
    seen = f"seen in {len(lesson.sessions_seen)} sessions" if len(lesson.sessions_seen) > 1 else ""
    return "  ".join(filter(None, [*named, seen]))


def _span(begun: datetime, ended: datetime | None) -> str:
    return f"{_when(begun)} to {_when(ended)}" if ended else f"since {_when(begun)}"


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"
