"""On a prompt: the lesson that is about its subject, a second one that plainly is, or none."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.domain.kinds import profile_of
from holdfast.domain.moments import RESTORING_MOMENTS
from holdfast.ranking.names import TELLING
from holdfast.ranking.pushing import is_about, is_plainly_about, relevance_of
from holdfast.recall.moments.turn import Pick
from holdfast.recall.question import question, with_vector
from holdfast.recall.retrieve import draw
from holdfast.recall.tuning import (
    FIRST_LINES,
    LONG_PROMPT,
    PROMPT_LINES,
    SESSION_PROMPT_LINES,
)
from holdfast.text.speech import MACHINE_OPENINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.recall.moments.turn import Turn
    from holdfast.recall.score import Found

WRITTEN_WHOLE = (*MACHINE_OPENINGS, "Implement the following plan:", "[SYSTEM NOTIFICATION")
"""Beginnings of prompts that a program wrote."""
RETRIEVERS = ("exact", "text", "path", "pinned", "vector")


def prompt(turn: Turn) -> Briefing:
    """Deliver the lessons that the prompt is about, and a checkpoint that the session's start did not deliver."""
    if not any(delivery.moment in RESTORING_MOMENTS for delivery in turn.told):
        turn.checkpoint = turn.restorable(own=False)
    delivered = turn.count("prompt")
    picks = [] if delivered >= SESSION_PROMPT_LINES or not turn.room else _picks(turn)
    shift = turn.weights().shift("prompt") if len(picks) > 1 else 1.0
    is_last = delivered + PROMPT_LINES >= SESSION_PROMPT_LINES
    plain = [] if is_last else [pick for pick in picks if _is_plain(pick.found, shift)]
    return turn.tell((_standing(turn), FIRST_LINES), (picks, PROMPT_LINES), (plain, PROMPT_LINES))


def _standing(turn: Turn) -> list[Pick]:
    """Pick the standing rules at a session's first delivery, in a host that accepts nothing at its start."""
    if turn.told:
        return []
    from holdfast.recall.moments.start import standing_picks

    picks = standing_picks(turn)  # first, because loading the host's profile costs a hook some milliseconds
    return picks if picks and "session_start" not in turn.parts.host(turn.call.host).profile.moments else []


def own_words(text: str) -> str:
    """Return the part of a prompt that a person typed: none if a program wrote it, all if it is short."""
    if text.lstrip().startswith(WRITTEN_WHOLE):
        return ""
    if len(text) < LONG_PROMPT:
        return text
    from holdfast.text.prompts import read_prompt  # loads `re`

    read = read_prompt(text)
    return "" if read.origin == "machine" else " ".join(read.own.split())


def candidates(turn: Turn, words: str) -> list[Found]:
    """Return the matches for those words, the most relevant first."""
    parsed = question(turn.parts, turn.place, words)
    query = turn.query(
        text=parsed.text, paths=parsed.paths, symbols=parsed.symbols, error=parsed.error, since=parsed.since,
        until=parsed.until,
    )  # fmt: skip
    query, _ = with_vector(turn.parts, query, local=True)  # a host waits, so no request to an endpoint
    drawn = draw(turn.parts, query, RETRIEVERS)
    turn.degraded = drawn.degraded
    return sorted(drawn.found, key=lambda match: -relevance_of(match.shares, match.weight) * turn.favour(match.lesson))


def _is_plain(match: Found, shift: float) -> bool:
    return is_plainly_about(match.shares, match.weight, match.chance, shift)


def _picks(turn: Turn) -> list[Pick]:
    words = own_words(turn.call.prompt)
    if not words.strip():
        return []
    matches = [
        match
        for match in candidates(turn, words)
        if match.lesson.pinned or profile_of(match.lesson.kind).is_told_at_prompt
    ]
    shift = turn.weights().shift("prompt")
    return [
        Pick(found=match)
        for match in matches
        if match.named == TELLING or is_about(match.shares, match.weight, match.fit, match.chance, shift)
    ]
