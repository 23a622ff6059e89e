"""Results as text for a model: what is stored comes fenced; the words around it are ours and name only ids."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.briefing import Briefing
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Checkpoint, Outcome
from holdfast.domain.vocabulary import Freshness
from holdfast.errors import HoldfastError
from holdfast.lean.texts import short_id
from holdfast.recall import quotation


def briefing(found: Briefing) -> str:
    """The compiled lessons, or that there are none and what the nearest was."""
    if found.text:
        return f"{found.text}\n({found.degraded})" if found.degraded else found.text
    nothing = f"No lesson passed the threshold.{f' ({found.degraded})' if found.degraded else ''}"
    if not found.near:
        return nothing
    more = f" and {found.near_more} more" if found.near_more else ""
    return f"{nothing} Closest matches{more}:\n{quotation.quote_near(found.near)}"


def lesson(held: Lesson, judged: tuple[Freshness, str]) -> str:
    """Everything about one lesson that a model can use."""
    return quotation.quote_lesson(held, judged)


def kept(held: Lesson) -> str:
    """That the lesson is kept and under which id, or that it waits, and for what."""
    if held.state == "active":
        return f"kept [{short_id(held.id)}] (active){_anchored(held)}"
    revised = next((link.target for link in held.links if link.kind == "refines"), None)
    if revised is not None:
        return (
            f"kept [{short_id(held.id)}] ({held.state}): proposed as a revision of [{short_id(revised)}]. That lesson"
            " is the user's and stays active until the user accepts the revision (holdfast review)."
        )
    return f"kept [{short_id(held.id)}] ({held.state}): it is not active until the user accepts it (holdfast review)."


def rivals(opposed: Sequence[Lesson]) -> list[str]:
    """That active lessons say the opposite, by their ids alone: their words are data and stay fenced."""
    if not opposed:
        return []
    named = ", ".join(f"[{short_id(rival.id)}]" for rival in opposed)
    return [f"It contradicts {named}: expand it, and revise the one that is wrong or ask the user."]


def _anchored(held: Lesson) -> str:
    """To how many definitions and whole files it is anchored: their names are the repository's words."""
    exact = sum(bool(anchor.body_hash or anchor.signature_hash) for anchor in held.anchors if anchor.path)
    whole = sum(bool(anchor.path) for anchor in held.anchors) - exact
    counts = (
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((exact, "definition"), (whole, "whole file"))
        if count
    )
    words = " and ".join(counts)
    return f", anchored to {words}" if words else ""


def judged(outcome: Outcome) -> str:
    """That the verdict is kept."""
    return f"noted: [{short_id(outcome.lesson)}] {outcome.verdict}"


def checkpoint(held: Checkpoint | None) -> str:
    """A checkpoint's whole state, or that there is none."""
    return "There is no open checkpoint here." if held is None else quotation.quote_checkpoint(held)


def failure(exc: HoldfastError) -> str:
    """What went wrong and what to do about it."""
    return f"{exc}\nhint: {exc.hint}" if exc.hint else str(exc)
