"""Hold-out: withholds some lines of a session's brief at random, to estimate the effect of the others.

Nothing is withheld at an act or on a prompt, where the lesson's occasion has come.

The draw is a function of session and lesson. It needs no random source, and every process and every moment of a session
gets the same result. Every brief calls it, so this module imports nothing that a hook has not loaded.
"""

from __future__ import annotations

from binascii import crc32
from collections.abc import Iterable

from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Outcome
from holdfast.domain.vocabulary import LessonId, Moment, SessionId
from holdfast.ports.services import Services

BRIEF: Moment = "session_start"
"""The only moment at which chance withholds lessons."""
WORD = 0xFFFFFFFF
"""All bits of a check sum."""


def is_withheld(session: SessionId, lesson: LessonId, share: float) -> bool:
    """Return whether the lesson is withheld from the session; true for about that share of all pairs."""
    return share > 0 and _draw(f"{session}\n{lesson}") < share


def may_withhold(lesson: Lesson) -> bool:
    """Return whether chance may withhold the lesson from a brief; never what a person stated or pinned."""
    return not lesson.pinned and lesson.trust != "person"


def withheld_outcomes(
    services: Services, location: Location, call: HookCall, moment: Moment, lessons: Iterable[LessonId], trigger: str
) -> list[Outcome]:
    """Return log records of what was withheld. Each pair of session and lesson has one id, so it is stored once."""
    at = services.clock.now()
    return [
        Outcome(
            id=outcome_id(call.session, lesson, "withheld"), at=at, project=location.project.id,
            session=call.session, lesson=lesson, verdict="withheld", judge="holdout/1", moment=moment,
            trigger=trigger, withheld=True,
        )
        for lesson in lessons
    ]  # fmt: skip


def outcome_id(session: SessionId, lesson: LessonId, what: str) -> str:
    """Return the id of a lesson's only outcome of that sort in a session."""
    return f"{what}:{lesson}:{session}"


def _draw(text: str) -> float:
    """Return a pseudo-random number in [0, 1): a check sum, mixed so that similar texts get unrelated numbers.

    A check sum alone is linear: two lessons would be withheld together in all sessions or in none.
    """
    mixed = crc32(text.encode("utf-8", "surrogatepass"))
    mixed = ((mixed ^ (mixed >> 16)) * 0x85EBCA6B) & WORD
    mixed = ((mixed ^ (mixed >> 13)) * 0xC2B2AE35) & WORD
    return (mixed ^ (mixed >> 16)) / (WORD + 1)
