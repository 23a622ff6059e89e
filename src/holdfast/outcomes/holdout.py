"""Hold-out: which deliveries are withheld at random, so that the effect of the others can be estimated.

The draw is a function of session and lesson: it needs no random source, and every process and every moment of a session
comes to the same result. Every delivery asks this, so nothing here is imported that a hook has not loaded.
"""

from __future__ import annotations

from binascii import crc32

from holdfast.domain.records import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.domain.vocabulary import LessonId, Moment, SessionId
    from holdfast.ports.parts import Parts

WORD = 0xFFFFFFFF
"""All bits of a check sum."""


def is_withheld(session: SessionId, lesson: LessonId, share: float) -> bool:
    """Whether the lesson is withheld from the session, which is so for about that share of all pairs."""
    return share > 0 and _draw(f"{session}\n{lesson}") < share


def may_withhold(lesson: Lesson) -> bool:
    """Whether chance may withhold the lesson; a pinned one is always delivered."""
    return not lesson.pinned


def withheld_outcomes(
    parts: Parts, place: Place, call: HookCall, moment: Moment, lessons: Iterable[LessonId], trigger: str
) -> list[Outcome]:
    """The log's records of what was withheld. Each pair of session and lesson has one id, so it is kept once."""
    at = parts.clock.now()
    return [
        Outcome(
            id=outcome_id(call.session, lesson, "withheld"), at=at, project=place.project.id,
            session=call.session, lesson=lesson, verdict="withheld", judge="holdout/1", moment=moment,
            trigger=trigger, withheld=True,
        )
        for lesson in lessons
    ]  # fmt: skip


def outcome_id(session: SessionId, lesson: LessonId, what: str) -> str:
    """The id of the one outcome of that sort that a lesson has in a session."""
    return f"{what}:{lesson}:{session}"


def _draw(text: str) -> float:
    """A number in [0, 1) that looks random: a check sum, mixed so that alike texts get unlike numbers.

    A check sum alone is linear: two lessons would be withheld together in all sessions or in none.
    """
    mixed = crc32(text.encode("utf-8", "surrogatepass"))
    mixed = ((mixed ^ (mixed >> 16)) * 0x85EBCA6B) & WORD
    mixed = ((mixed ^ (mixed >> 13)) * 0xC2B2AE35) & WORD
    return (mixed ^ (mixed >> 16)) / (WORD + 1)
