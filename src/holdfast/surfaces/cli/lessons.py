"""One lesson: all about it, why it is believed, its code then and now, its history; and the lessons about a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.curation.claims import status_of
from holdfast.curation.explain import AnchorState, Explanation, Version
from holdfast.domain.lesson import Lesson
from holdfast.freshness.compare import Comparison
from holdfast.lean.plain import as_dict, field_names, to_plain
from holdfast.lean.texts import counted, short_id
from holdfast.lessons.lookup import LessonHistory, shared_ids
from holdfast.outcomes.standing import since_of, standing_of
from holdfast.rendering.origins import found_by
from holdfast.rendering.verdicts import verdict_words
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.frame import Call, as_of_option, command, lesson_argument, lesson_ids
from holdfast.surfaces.cli.screen import LABEL, coloured, labelled, note, say, table, wrapped
from holdfast.text.window import clip

SHOWN = 5
"""Newest of each kind of log record that are printed."""
UNCOMMITTED = "-"
COLOURS = {"+": "green", "-": "red", "@": "cyan"}
TEXT_SHOWN = 120
"""Characters of a field that are shown before and after."""
_LINES = re.compile(r"^(?P<path>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?$")


@command(
    "holdfast show 1f0c9a2b",
    "holdfast show 1f0c9a2b --json",
    "holdfast show 1f0c9a2b --as-of 2026-03-01",
    memory=True,
    reads=True,
)
@lesson_argument
@as_of_option
def show(call: Call, memory: Memory, ref: str, as_of: str) -> None:
    """Print everything about one lesson: its source, its history, and whether the code still agrees.

    ID is the end of the lesson's id, at least four characters.
    """
    lesson = memory.get(ref, memory.instant(as_of) if as_of else None)
    freshness, caveat = memory.verdicts([lesson])[0]
    history = memory.history(lesson.id)
    shared = "" if call.remote else shared_ids(memory.services, memory.location).get(lesson.id, lesson.id)
    if call.answer(lesson_json(lesson, freshness, caveat) | _logs(history) | {"shared_id": shared}):
        return
    if shared not in ("", lesson.id):
        say(*labelled("shared as", f"{short_id(shared)} ({shared})", LABEL))
    for label, value in (*_lesson_rows(lesson, freshness, caveat), *_history_rows(history)):
        say(*labelled(label, value, LABEL) if value else ())


def _lesson_rows(lesson: Lesson, freshness: str, caveat: str) -> Iterator[tuple[str, str]]:
    """Yield labels and values of the lesson, with its evidence quoted."""
    scope, source, validity = lesson.scope, lesson.provenance, lesson.validity
    yield from [("id", f"{short_id(lesson.id)} ({lesson.id})"), ("title", lesson.title)]
    yield "insight", lesson.insight if lesson.insight != lesson.title else ""
    yield from [("why", lesson.why), ("how", lesson.how), *(("snippet", snippet) for snippet in lesson.snippets)]
    yield from [("kind", f"{lesson.kind} ({lesson.memory_type})"), ("state", coloured(lesson.state))]
    yield "claim", status_of(lesson)
    yield "freshness", coloured(freshness) + (f": {caveat}" if caveat else "")
    yield "where", _joined(" ", scope.level, scope.path_prefix, f"branch {scope.branch}" if scope.branch else "")
    yield from (("file", name) for name in (*lesson.paths, *lesson.globs))
    yield from (("symbol", name) for name in lesson.symbols)
    yield from [("answers", lesson.error_signature), ("command", lesson.command), ("tags", ", ".join(lesson.tags))]
    made = lesson.topic_key.startswith("import:")  # an importer's own key, which means nothing to a person
    yield "topic", "" if made else lesson.topic_key
    yield "trust", f"{lesson.trust}, confidence {lesson.confidence:.2f}, salience {lesson.salience:.2f}"
    yield "marks", _joined(", ", *(mark for mark in ("pinned", "private") if getattr(lesson, mark)))
    yield "revive when", lesson.revival
    yield "valid", _span(validity.valid_from, validity.valid_to)
    yield "recorded", _span(lesson.recorded_at, lesson.retracted_at)
    said_by = f"said by {source.person_name}" if source.person_name else ""
    seen = f"seen in {len(lesson.sessions_seen)} sessions" if len(lesson.sessions_seen) > 1 else ""
    finder = found_by(source.detector) or source.author or "a person"
    yield "from", _joined("  ", finder, said_by, source.origin, source.host, source.session, seen)
    yield from (("evidence", f'"{span.quote}"') for span in source.evidence if span.quote)
    yield from (("link", f"{link.kind} {short_id(link.target)}") for link in lesson.links)


def _history_rows(history: LessonHistory) -> Iterator[tuple[str, str]]:
    for change in reversed(history.changes):
        yield "change", f"{_when(change.at)}  {change.verb}  {change.actor or change.summary}".rstrip()
    for shown in reversed(history.deliveries):
        yield "shown", f"{_when(shown.at)}  {shown.moment}  {shown.trigger}  {shown.reason}"
    yield "effect", standing_of(history.outcomes, since_of(history.changes)).estimate
    for outcome in reversed(history.outcomes):
        yield "outcome", f"{_when(outcome.at)}  {outcome.verdict}  {outcome.note}"


def _joined(between: str, *parts: str) -> str:
    return between.join(filter(None, parts))


def _span(begun: datetime, ended: datetime | None) -> str:
    return f"{_when(begun)} to {_when(ended)}" if ended else f"since {_when(begun)}"


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S} UTC"


@command("holdfast why 1f0c9a2b", "holdfast why 1f0c9a2b --json", memory=True, reads=True)
@lesson_argument
def why(call: Call, memory: Memory, ref: str) -> None:
    """Print why a lesson is believed: who said it, on what evidence, and whether the code still agrees.

    Then print when it was shown and with what outcome. ID is the end of its id.
    """
    explanation = memory.explain(ref)
    if call.answer(_why_json(explanation)):
        return
    for line in _why_lines(explanation):
        indent = len(line) - len(line.lstrip())
        first, *rest = wrapped(line.lstrip(), indent + 2)
        say(" " * indent + first)
        for more in rest:
            say(" " * (indent + 2) + more)


def _why_lines(explanation: Explanation) -> Iterator[str]:
    lesson = explanation.lesson
    yield f"{short_id(lesson.id)}  {lesson.title}"
    yield f"{lesson.kind}, {coloured(lesson.state)}, {_speaker(lesson)}, confidence {lesson.confidence:.2f}"
    seen = f", seen in {len(lesson.sessions_seen)} sessions" if len(lesson.sessions_seen) > 1 else ""
    yield f"since {_why_when(lesson.validity.valid_from)}{seen}"
    if lesson.why:
        yield f"because {lesson.why}"
    for span in lesson.provenance.evidence:
        yield f'  "{" ".join(span.quote.split())}"'
    yield f"code: {coloured(explanation.freshness)}" + (f", {explanation.caveat}" if explanation.caveat else "")
    for anchor_state in explanation.subjects:
        yield "  " + _anchor_line(anchor_state)
    yield from _why_history_lines(explanation)


def _anchor_line(anchor_state: AnchorState) -> str:
    anchor, verdict = anchor_state.anchor, anchor_state.verdict
    name = f"{anchor.path}:{anchor.symbol}" if anchor.symbol else anchor.path
    where = " ".join(filter(None, (anchor.commit[:10], f"on {anchor.branch}" if anchor.branch else "")))
    anchored_at = f" (anchored at {where})" if where else ""
    words = f": {verdict_words(verdict)}" if verdict_words(verdict) else ""
    return f"{name}{anchored_at} {coloured(verdict.freshness)}{words}{_commit_words(anchor_state)}"


def _commit_words(anchor_state: AnchorState) -> str:
    if not anchor_state.commit or "in commit" in verdict_words(anchor_state.verdict):
        return ""
    return ", not committed yet" if anchor_state.commit == UNCOMMITTED else f", in commit {anchor_state.commit[:10]}"


def _why_history_lines(explanation: Explanation) -> Iterator[str]:
    history = explanation.history
    if history.deliveries:
        yield f"shown {counted(len(history.deliveries), 'time')}"
    for shown in history.deliveries[:SHOWN]:
        yield f"  {_why_when(shown.at)}  {shown.moment}  {shown.trigger}  {shown.reason}".rstrip()
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
        yield f"  {_why_when(outcome.at)}  {outcome.verdict}{without}  {outcome.note}".rstrip()
    yield "changes"
    for change in history.changes[:SHOWN]:
        yield f"  {_why_when(change.at)}  {change.verb}  {change.summary or change.actor}".rstrip()


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


def _why_when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"


def _logs(history: LessonHistory) -> dict[str, Any]:
    return {name: [to_plain(entry) for entry in getattr(history, name)] for name in field_names(type(history))}


def _why_json(explanation: Explanation) -> dict[str, Any]:
    anchors = [
        {
            "anchor": to_plain(state.anchor), "freshness": state.verdict.freshness,
            "words": verdict_words(state.verdict),
            "now_at": to_plain(state.verdict.anchor), "uncommitted": state.commit == UNCOMMITTED,
            "commit": "" if state.commit == UNCOMMITTED else state.commit,
        }
        for state in explanation.subjects
    ]  # fmt: skip
    return {
        "lesson": lesson_json(explanation.lesson, explanation.freshness, explanation.caveat), "anchors": anchors,
        "standing": as_dict(explanation.standing) | {"estimate": explanation.standing.estimate},
        "decay": as_dict(explanation.decay), **_logs(explanation.history),
    }  # fmt: skip


@command("holdfast diff 1f0c9a2b", "holdfast diff 1f0c9a2b --json", memory=True, reads=True)
@lesson_argument
def diff(call: Call, memory: Memory, ref: str) -> None:
    """Print how the code of a lesson has changed since the lesson was recorded. ID is the end of its id.

    The old code comes from git. If the lesson is about a definition, only the lines of that definition are compared.
    """
    lesson, compared = memory.compare(ref)
    differences = [(comparison, comparison.unified()) for comparison in compared]
    anchors = [_diff_json(comparison, lines) for comparison, lines in differences]
    if call.answer({"id": lesson.id, "short_id": short_id(lesson.id), "anchors": anchors}):
        return
    for comparison, lines in differences:
        say(*(click.style(line, fg=COLOURS[line[0]]) if line[:1] in COLOURS else line for line in lines))
        if comparison.note:
            note(comparison.note)
        words = f": {verdict_words(comparison.verdict)}" if verdict_words(comparison.verdict) else ""
        same = "" if lines or comparison.then is None else ", no line differs"
        note(f"{comparison.anchor.symbol or comparison.anchor.path} is {comparison.verdict.freshness}{words}{same}")
    if not compared:
        note(f"lesson {short_id(lesson.id)} is not about code of this project")


def _diff_json(comparison: Comparison, lines: list[str]) -> dict[str, Any]:
    verdict = comparison.verdict
    return {
        "anchor": to_plain(comparison.anchor), "freshness": verdict.freshness, "words": verdict_words(verdict),
        "now_at": to_plain(verdict.anchor), "then": comparison.then, "now": comparison.now, "diff": lines,
        "note": comparison.note,
    }  # fmt: skip


@command("holdfast history 1f0c9a2b", "holdfast history --file src/app.py:40-60", reads=True)
@click.argument("ref", metavar="[ID]", default="", shell_complete=lesson_ids)
@click.option("--file", "where", default="", metavar="FILE[:LINES]", help="List the lessons about these lines instead.")
def history(call: Call, ref: str, where: str) -> None:
    """Print every version of a lesson, of the lessons it superseded and of its successors, oldest first.

    Each version shows when it was recorded, by which change and by whom, and what differs from the version before. ID
    is the end of the lesson's id.

    With --file, list the active lessons about a file from top to bottom, or about some of its lines: FILE:40 or
    FILE:40-60. Definitions are looked up in the current code; lessons about the whole file come last.
    """
    if bool(ref) == bool(where):
        raise click.UsageError("name the ID of a lesson, or --file FILE")
    if where:
        _print_about(call, where)
        return
    with call.open() as memory:
        versions = memory.lineage(ref)
    if call.answer({"versions": [_version_json(version) for version in versions]}):
        return
    for version in versions:
        say(*_version_lines(version))
    lessons = {version.lesson.id for version in versions}
    note(f"{counted(len(versions), 'version')} of {counted(len(lessons), 'lesson')} (UTC)")


def _print_about(call: Call, where: str) -> None:
    match = _LINES.match(where)
    path = match["path"] if match else where
    lines = (int(match["first"]), int(match["last"] or match["first"])) if match else None
    with call.open() as memory:
        entries = memory.blame(path, lines)
    plain = [
        {"start": entry.start or None, "end": entry.end or None, "symbol": entry.symbol,
         "lesson": lesson_json(entry.lesson, entry.freshness, entry.caveat)}
        for entry in entries
    ]  # fmt: skip
    if call.answer({"lessons": plain}):
        return
    rows = [
        [f"{entry.start}-{entry.end}" if entry.start else "all", entry.symbol or "the file",
         short_id(entry.lesson.id), entry.lesson.title, entry.freshness]
        for entry in entries
    ]  # fmt: skip
    say(*table(rows, ("lines", "of", "id", "title", "state")))
    note(f"{counted(len({entry.lesson.id for entry in entries}), 'lesson')} about {where}")


def _version_json(version: Version) -> dict[str, Any]:
    """Return the version, the change that made it, and what differs from the version before."""
    differences = [to_plain(difference) for difference in version.differences]
    plain = {"verb": version.verb, "actor": version.actor, "why": version.why, "differences": differences}
    return {"lesson": lesson_json(version.lesson)} | plain


def _version_lines(version: Version) -> list[str]:
    """Return a line with time, lesson, change and author, then a line for each field that differs."""
    lesson = version.lesson
    by = version.actor or lesson.provenance.author or lesson.trust
    head = f"{lesson.recorded_at:%Y-%m-%d %H:%M:%S}  {short_id(lesson.id)}  {version.verb or 'recorded'}  by {by}"
    lines = [head + (f"  ({version.why})" if version.why else "")]
    if not version.differences:
        lines.append(f"    {lesson.state}: {_short(lesson.insight)}")
    for field, before, after in ((d.field, d.before, d.after) for d in version.differences):
        lines.append(f"    {field}: {_short(before) or '-'} -> {_short(after) or '-'}")
    return lines


def _short(text: str) -> str:
    return clip(" ".join(text.split()), TEXT_SHOWN)
