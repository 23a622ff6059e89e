"""On a prompt: the nearest lessons in full words, and the titles of near ones that were not told yet."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.briefing import Briefing
from holdfast.domain.kinds import profile_of
from holdfast.domain.moments import MOMENT_PROFILES, RESTORING_MOMENTS
from holdfast.ranking.names import TELLING
from holdfast.ranking.threshold import relevance_of, shares_subject_with
from holdfast.recall.briefline import branch_of
from holdfast.recall.moments.context import MomentContext, Pick
from holdfast.recall.moments.start import session_start
from holdfast.recall.question import question, with_vector
from holdfast.recall.retrieve import retrieve
from holdfast.recall.score import RetrievedLesson
from holdfast.recall.tuning import (
    CLEARLY_NEAREST,
    FULL_LINES,
    LATER_PROMPT_NEAREST,
    LONG_PROMPT,
    PROMPT_LINES,
    PROMPT_POOL,
    SAME_BRANCH,
)
from holdfast.text.speech import MACHINE_OPENINGS

WRITTEN_WHOLE = (*MACHINE_OPENINGS, "Implement the following plan:", "[SYSTEM NOTIFICATION")
"""Beginnings of prompts that a program wrote."""
RETRIEVERS = ("exact", "text", "path", "vector")


def prompt(context: MomentContext) -> Briefing:
    """Deliver the lessons nearest to the prompt, and a task's state or a brief that the start did not deliver."""
    if not context.told and "session_start" not in context.host_profile.moments and context.call.host:
        return _brief_first(context)
    context.checkpoint = context.asked_for()
    if context.checkpoint is None and not any(delivery.moment in RESTORING_MOMENTS for delivery in context.told):
        context.checkpoint = context.restorable(own=False)
    matches = nearest(context, own_words(context.call.prompt))
    if context.count("prompt"):
        matches = matches[:LATER_PROMPT_NEAREST]
        full = 1 if _leads(context, matches) else 0
    else:
        full = FULL_LINES
    picks = [Pick(found=match) for match in matches[:full]]
    picks += [
        Pick(found=match, is_title=True) for match in matches[full:] if match.lesson.id not in context.known_lessons
    ]
    return context.tell(picks, PROMPT_LINES)


def _brief_first(context: MomentContext) -> Briefing:
    """Deliver the brief with the first prompt, in a host that accepts nothing at a session's start."""
    context.budget = MOMENT_PROFILES["session_start"].budget_tokens
    return session_start(context)


def own_words(text: str) -> str:
    """Return what a prompt is about: a person's words, or the subject of a prompt that a program wrote."""
    if text.lstrip().startswith(WRITTEN_WHOLE):
        return text[:LONG_PROMPT]
    if len(text) < LONG_PROMPT:
        return text
    from holdfast.text.prompts import read_prompt  # loads `re`

    read = read_prompt(text)
    return text[:LONG_PROMPT] if read.origin == "machine" else " ".join(read.own.split())


def nearest(context: MomentContext, words: str) -> list[RetrievedLesson]:
    """Return the lessons that share something informative with the words, nearest first; none for no words."""
    if not words.strip():
        return []
    parsed = question(context.services, context.location, words)
    query = context.query(
        text=parsed.text, paths=parsed.paths, symbols=parsed.symbols, error=parsed.error, since=parsed.since,
        until=parsed.until,
    )  # fmt: skip
    query, _ = with_vector(context.services, query, local=True)  # a host waits, so no request to an endpoint
    retrieval = retrieve(context.services, query, RETRIEVERS, pool=PROMPT_POOL)
    context.degraded = retrieval.degraded
    matches = [
        match
        for match in retrieval.matches
        if profile_of(match.lesson.kind).is_told_at_prompt
        if match.named == TELLING or shares_subject_with(match.shares, match.overlap, match.corpus)
    ]
    return sorted(matches, key=lambda match: -_nearness(context, match))


def _nearness(context: MomentContext, match: RetrievedLesson) -> float:
    branch = branch_of(match.lesson)
    bonus = SAME_BRANCH if branch and branch == context.location.branch else 0.0
    return (relevance_of(match.shares, match.weight) + bonus) * context.favour(match.lesson)


def _leads(context: MomentContext, matches: Sequence[RetrievedLesson]) -> bool:
    """Return whether the first match is clearly nearer than the second."""
    nearness = [_nearness(context, match) for match in matches[:2]]
    return bool(nearness) and (len(nearness) == 1 or nearness[0] >= CLEARLY_NEAREST * nearness[1])
