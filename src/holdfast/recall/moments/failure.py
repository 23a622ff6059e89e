"""After a failure: lessons that answered the same error before."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.domain.kinds import profile_of
from holdfast.ranking.relevance import overlap_of, weigh
from holdfast.ranking.threshold import PUSHED, words_meet_threshold
from holdfast.recall.moments.commands import names_what_runs
from holdfast.recall.moments.context import Pick
from holdfast.recall.retrieve import retrieve
from holdfast.recall.tuning import FAILURE_LINES, STRONG_WORDS
from holdfast.text.failure import answers_failure, read_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.recall.moments.context import MomentContext
    from holdfast.recall.score import RetrievedLesson

ANSWERS = "answers this failure"


def after_failure(context: MomentContext) -> Briefing:
    """Deliver lessons on the same or a similar error, its class and subject, the command, or with strong words."""
    failure = read_failure(context.call.error, context.call.command)
    if not (failure.words or failure.target) or not context.room:
        return Briefing(moment=context.moment)
    message = weigh(failure.words.partition(": ")[2] if failure.signature else failure.words)

    def answers(match: RetrievedLesson) -> bool:
        lesson = match.lesson
        if names_what_runs(lesson, context.call.command):
            return False
        if answers_failure(failure, lesson):
            return True
        if failure.signature and lesson.error_signature:
            return False
        same_command = bool(failure.target) and lesson.command == failure.target
        overlap = overlap_of(message, match.stems)
        return (same_command and profile_of(lesson.kind).is_told_at_failure) or (
            overlap.weight >= STRONG_WORDS and words_meet_threshold(overlap, PUSHED, match.shares, match.corpus)
        )

    query = context.query(
        text=failure.words, error=context.call.error if failure.signature else "", command=context.call.command,
        paths=context.files(),
    )  # fmt: skip
    retrieval = retrieve(context.services, query, ("exact", "text"), admit=answers)
    context.degraded = retrieval.degraded
    return context.tell(([Pick(found=match, reason=ANSWERS) for match in retrieval.matches], FAILURE_LINES))
