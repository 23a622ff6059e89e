"""Results of the tools as text for a model: short lines, ids that expand on demand."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing, Ranked
from holdfast.domain.clocktext import render_instant
from holdfast.domain.ids import short_id
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Checkpoint, Outcome


def briefing(found: Briefing) -> str:
    """The compiled lessons, or that there are none and what the nearest was."""
    if found.text:
        return f"{found.text}\n({found.degraded})" if found.degraded else found.text
    nothing = "No lesson is close enough to the query."
    if found.nearest is not None:
        nothing += f" Nearest: [{short_id(found.nearest.lesson.id)}] {_line(found.nearest)}"
    return f"{nothing} ({found.degraded})" if found.degraded else nothing


def _line(ranked: Ranked) -> str:
    return f"{ranked.lesson.title} ({ranked.why.words})" if ranked.why.words else ranked.lesson.title


def lesson(held: Lesson, freshness: str = "", caveat: str = "") -> str:
    """Everything about one lesson that a model can use, one field a line, empty ones left out."""
    source = held.provenance
    rows = [
        ("lesson", held.id),
        ("kind", f"{held.kind}, {held.state}, said by {held.trust}, confidence {held.confidence:.2f}"),
        ("code", f"{freshness}: {caveat}" if caveat else freshness),
        ("title", held.title),
        ("insight", held.insight),
        ("why", held.why),
        ("how", held.how),
        ("where", ", ".join([*held.paths, *held.symbols, *held.globs])),
        ("snippets", "\n".join(held.snippets)),
        ("links", ", ".join(f"{link.kind} {short_id(link.target)}" for link in held.links)),
        ("learnt", f"{render_instant(held.validity.valid_from)} {source.host} {source.detector}".strip()),
        ("evidence", "\n".join(f"> {evidence.quote}" for evidence in source.evidence)),
    ]
    return "\n".join(f"{name}: {text}" for name, text in rows if text)


def saved(held: Lesson) -> str:
    """That the lesson is kept, and under which id."""
    return f"kept [{short_id(held.id)}] {held.title} ({held.state})"


def judged(outcome: Outcome) -> str:
    """That the verdict is kept."""
    return f"noted: [{short_id(outcome.lesson)}] {outcome.verdict}"


def checkpoint(held: Checkpoint | None) -> str:
    """A checkpoint's whole state, or that there is none."""
    if held is None:
        return "There is no open checkpoint here."
    lists = [("done", held.done), ("next", held.next), ("open", held.open_questions), ("files", held.files)]
    lines = [f"checkpoint of {render_instant(held.at)}, task {held.task}", f"goal: {held.goal}"]
    lines += [f"{name}: {'; '.join(items)}" for name, items in lists if items]
    return "\n".join(lines)
