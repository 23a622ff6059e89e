"""Renders results as text for a model. Stored text is fenced; the words around it are fixed and name only ids."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.curation.agentwords import Stated
from holdfast.domain.briefing import Briefing
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Checkpoint, Outcome
from holdfast.domain.vocabulary import Freshness
from holdfast.errors import HoldfastError
from holdfast.lean.texts import short_id
from holdfast.lessons.statement import plain_name
from holdfast.recall import quotation
from holdfast.rendering.lines import render_block


def briefing(briefing: Briefing) -> str:
    """Return the briefing's text, and the turns of earlier sessions that it has."""
    turns = [FROM_SESSIONS, quotation.quote_turns(briefing.turns)] if briefing.turns else []
    return "\n".join([_lessons(briefing), *turns])


FROM_SESSIONS = "Turns of earlier sessions, as they were recorded:"


def _lessons(briefing: Briefing) -> str:
    """Return the briefing's lessons, or a line that none passed the threshold, with the closest matches quoted."""
    if briefing.text:
        return f"{briefing.text}\n({briefing.degraded})" if briefing.degraded else briefing.text
    nothing = f"No lesson passed the threshold.{f' ({briefing.degraded})' if briefing.degraded else ''}"
    if not briefing.near:
        return nothing
    more = f" and {briefing.near_more} more" if briefing.near_more else ""
    return f"{nothing} Closest matches{more}:\n{quotation.quote_near(briefing.near)}"


def state(state: str, briefing: Briefing) -> str:
    """Return where a task was left off, and the lessons that were found with it."""
    block = render_block([], checkpoint=state)
    return f"{block}\n{briefing.text}" if briefing.text else block


def lesson(lesson: Lesson, judged: tuple[Freshness, str]) -> str:
    """Return everything about one lesson that a model can use."""
    return quotation.quote_lesson(lesson, judged)


def stated(outcomes: Sequence[Stated]) -> str:
    """Return what became of each statement, numbered if there are several."""
    entries = ["\n".join(_of_one(outcome)) for outcome in outcomes]
    if len(entries) == 1:
        return entries[0]
    return "\n".join(f"{number}. {entry}" for number, entry in enumerate(entries, 1))


def _of_one(outcome: Stated) -> list[str]:
    if outcome.lesson is None:
        return [f"refused: {failure(outcome.refusal)}"] if outcome.refusal else []
    unknown = [("file", name) for name in outcome.unknown_files] + [("symbol", n) for n in outcome.unknown_symbols]
    return [
        kept(outcome.lesson, outcome.waits or outcome.source),
        *(f"No {what} {plain_name(name, 'of that name')} here: kept without an anchor." for what, name in unknown),
        *rivals(outcome.rivals),
    ]


def kept(lesson: Lesson, reason: str = "") -> str:
    """Return a line with the saved lesson's id and what it is: confirmed, or what it waits for."""
    saved, because = f"saved [{short_id(lesson.id)}]", f": {reason}" if reason else ""
    if lesson.state == "active":
        return f"{saved} (confirmed{because}){_anchored(lesson)}"
    word = "quarantined" if lesson.state == "quarantined" else "unconfirmed"
    revised = next((link.target for link in lesson.links if link.kind == "refines"), None)
    if revised is not None:
        return (
            f"{saved} ({word}{because}): proposed as a revision of [{short_id(revised)}]. That lesson is the user's or"
            " proved, and stays active until the user accepts the revision (holdfast review)."
        )
    return f"{saved} ({word}{because}). The user decides (holdfast review)."


def rivals(opposed: Sequence[Lesson]) -> list[str]:
    """Return a line that names contradicting active lessons by id only: their words are data and stay fenced."""
    if not opposed:
        return []
    named = ", ".join(f"[{short_id(rival.id)}]" for rival in opposed)
    return [f"It contradicts {named}: expand it, and revise the one that is wrong or ask the user."]


def _anchored(lesson: Lesson) -> str:
    """Return how many definitions and whole files the lesson is anchored to, without their names.

    The names are the repository's words, which must not appear outside a fence.
    """
    exact = sum(bool(anchor.body_hash or anchor.signature_hash) for anchor in lesson.anchors if anchor.path)
    whole = sum(bool(anchor.path) for anchor in lesson.anchors) - exact
    counts = (
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((exact, "definition"), (whole, "whole file"))
        if count
    )
    words = " and ".join(counts)
    return f", anchored to {words}" if words else ""


def judged(outcome: Outcome) -> str:
    """Return a line that confirms the verdict."""
    return f"noted: [{short_id(outcome.lesson)}] {outcome.verdict}"


def checkpoint(checkpoint: Checkpoint | None) -> str:
    """Return a checkpoint's whole state, or a line that there is none."""
    return "There is no open checkpoint here." if checkpoint is None else quotation.quote_checkpoint(checkpoint)


def failure(exc: HoldfastError) -> str:
    """Return the error's message and its hint."""
    return f"{exc}\nhint: {exc.hint}" if exc.hint else str(exc)
