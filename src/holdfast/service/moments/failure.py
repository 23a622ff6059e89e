"""After a failure: what answered this error before."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.ranking.bar import PUSHED, passes_by_words
from holdfast.ranking.relevance import fit_of, weigh
from holdfast.ranking.signature import alike, command_target, error_signature
from holdfast.service.moments.commands import KNOWN_FAILURES
from holdfast.service.moments.turn import Pick
from holdfast.service.recall import draw

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.service.moments.turn import Turn
    from holdfast.service.recall import Found

LINES = 2
STRONG_WORDS = 2.0
"""Strength from which words alone link a lesson to a failure; the exception's type does not count."""
ANSWERS = "answers this failure"


def after_failure(turn: Turn) -> Briefing:
    """The same error or nearly, the same command, or a strong match of its words."""
    signature, target = error_signature(turn.call.error), command_target(turn.call.command)
    if (not signature and not target) or not turn.room:
        return Briefing(moment=turn.moment)
    message = weigh(signature.partition(": ")[2])

    def answers(found: Found) -> bool:
        lesson = found.lesson
        if signature and lesson.error_signature:
            return alike(signature, lesson.error_signature)
        same_command = bool(target) and lesson.command == target and lesson.kind in KNOWN_FAILURES
        told = fit_of(message, found.stems)
        return (same_command and lesson.kind != "exploration") or (
            told.strength >= STRONG_WORDS and passes_by_words(told, PUSHED, found.shares, found.chance)
        )

    query = turn.query(
        text=signature, error=turn.call.error if signature else "", command=turn.call.command, paths=turn.files()
    )
    drawn = draw(turn.parts, query, ("exact", "text"), admit=answers)
    turn.degraded = drawn.degraded
    return turn.tell(([Pick(found=found, reason=ANSWERS) for found in drawn.found], LINES))
