"""On a prompt: the lesson that is about its subject, a second one that plainly is, or none."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.domain.kinds import profile_of
from holdfast.domain.moments import RESTORING_MOMENTS
from holdfast.ranking.names import TELLING
from holdfast.ranking.pushing import is_about, is_plainly_about, relevance_of
from holdfast.recall.moments.context import Pick
from holdfast.recall.question import question, with_vector
from holdfast.recall.retrieve import retrieve
from holdfast.recall.tuning import (
    FIRST_LINES,
    LONG_PROMPT,
    PROMPT_LINES,
    SESSION_PROMPT_LINES,
)
from holdfast.text.speech import MACHINE_OPENINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.recall.moments.context import MomentContext
    from holdfast.recall.score import RetrievedLesson

WRITTEN_WHOLE = (*MACHINE_OPENINGS, "Implement the following plan:", "[SYSTEM NOTIFICATION")
"""Beginnings of prompts that a program wrote."""
RETRIEVERS = ("exact", "text", "path", "pinned", "vector")


def prompt(context: MomentContext) -> Briefing:
    """Deliver the lessons that the prompt is about, and a checkpoint that the session's start did not deliver."""
    if not any(delivery.moment in RESTORING_MOMENTS for delivery in context.told):
        context.checkpoint = context.restorable(own=False)
    delivered = context.count("prompt")
    picks = [] if delivered >= SESSION_PROMPT_LINES or not context.room else _picks(context)
    is_last = delivered + PROMPT_LINES >= SESSION_PROMPT_LINES
    plain = [] if is_last else [pick for pick in picks if _is_plain(pick.found)]
    return context.tell((_standing(context), FIRST_LINES), (picks, PROMPT_LINES), (plain, PROMPT_LINES))


def _standing(context: MomentContext) -> list[Pick]:
    """Pick the standing rules at a session's first delivery, in a host that accepts nothing at its start."""
    if context.told:
        return []
    from holdfast.recall.moments.start import standing_picks

    picks = standing_picks(context)  # first, because loading the host's profile costs a hook some milliseconds
    return picks if picks and "session_start" not in context.services.host(context.call.host).profile.moments else []


def own_words(text: str) -> str:
    """Return the part of a prompt that a person typed: none if a program wrote it, all if it is short."""
    if text.lstrip().startswith(WRITTEN_WHOLE):
        return ""
    if len(text) < LONG_PROMPT:
        return text
    from holdfast.text.prompts import read_prompt  # loads `re`

    read = read_prompt(text)
    return "" if read.origin == "machine" else " ".join(read.own.split())


def candidates(context: MomentContext, words: str) -> list[RetrievedLesson]:
    """Return the matches for those words, the most relevant first."""
    parsed = question(context.services, context.location, words)
    query = context.query(
        text=parsed.text, paths=parsed.paths, symbols=parsed.symbols, error=parsed.error, since=parsed.since,
        until=parsed.until,
    )  # fmt: skip
    query, _ = with_vector(context.services, query, local=True)  # a host waits, so no request to an endpoint
    retrieval = retrieve(context.services, query, RETRIEVERS)
    context.degraded = retrieval.degraded
    return sorted(
        retrieval.matches, key=lambda match: -relevance_of(match.shares, match.weight) * context.favour(match.lesson)
    )


def _is_plain(match: RetrievedLesson) -> bool:
    return is_plainly_about(match.shares, match.weight, match.corpus)


def _picks(context: MomentContext) -> list[Pick]:
    words = own_words(context.call.prompt)
    if not words.strip():
        return []
    matches = [
        match
        for match in candidates(context, words)
        if match.lesson.pinned or profile_of(match.lesson.kind).is_told_at_prompt
    ]
    return [
        Pick(found=match)
        for match in matches
        if match.named == TELLING or is_about(match.shares, match.weight, match.overlap, match.corpus)
    ]
