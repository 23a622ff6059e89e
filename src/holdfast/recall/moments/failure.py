"""After a failure: lessons that answered the same error before."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.domain.kinds import profile_of
from holdfast.ranking.bar import PUSHED, passes_by_words
from holdfast.ranking.relevance import fit_of, weigh
from holdfast.recall.moments.commands import names_what_runs
from holdfast.recall.moments.turn import Pick
from holdfast.recall.retrieve import draw
from holdfast.recall.tuning import FAILURE_LINES, STRONG_WORDS
from holdfast.text.failure import answers_failure, read_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.recall.moments.turn import Turn
    from holdfast.recall.score import Found

ANSWERS = "answers this failure"


def after_failure(turn: Turn) -> Briefing:
    """Deliver lessons on the same or a similar error, its class and subject, the command, or with strong words."""
    failure = read_failure(turn.call.error, turn.call.command)
    if not (failure.words or failure.target) or not turn.room:
        return Briefing(moment=turn.moment)
    message = weigh(failure.words.partition(": ")[2] if failure.signature else failure.words)

    def answers(match: Found) -> bool:
        lesson = match.lesson
        if names_what_runs(lesson, turn.call.command):
            return False
        if answers_failure(failure, lesson):
            return True
        if failure.signature and lesson.error_signature:
            return False
        same_command = bool(failure.target) and lesson.command == failure.target
        fit = fit_of(message, match.stems)
        return (same_command and profile_of(lesson.kind).is_told_at_failure) or (
            fit.strength >= STRONG_WORDS and passes_by_words(fit, PUSHED, match.shares, match.chance)
        )

    query = turn.query(
        text=failure.words, error=turn.call.error if failure.signature else "", command=turn.call.command,
        paths=turn.files(),
    )  # fmt: skip
    drawn = draw(turn.parts, query, ("exact", "text"), admit=answers)
    turn.degraded = drawn.degraded
    return turn.tell(([Pick(found=match, reason=ANSWERS) for match in drawn.found], FAILURE_LINES))
