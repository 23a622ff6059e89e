"""Keeps what agents ran from contradicting what a person said: their rules, and the lessons that they rule out."""

from __future__ import annotations

from holdfast.compare.overruling import forbids, says_to_run
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import in_state
from holdfast.domain.vocabulary import LIVING
from holdfast.learning.tuning import NEIGHBOURS
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.ports.store import LessonFilter
from holdfast.text.occasions import CARDS
from holdfast.text.shell import simple_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.ports.services import Services


def is_persons_rule(lesson: Lesson) -> bool:
    """Return whether a person stated the lesson and it holds."""
    return lesson.state == "active" and lesson.trust == "person"


def persons_rules(services: Services, location: Location) -> list[Lesson]:
    """Return the active lessons that persons stated, for this project or for all of theirs, newest first."""
    where = LessonFilter(project=location.project.id, states=("active",), limit=NEIGHBOURS)
    return [lesson for lesson in services.store.find(where) if is_persons_rule(lesson)]


def persons_words(services: Services, location: Location) -> list[Lesson]:
    """Return the living lessons that persons stated, confirmed or not, newest first.

    A command that somebody spoke against is not recommended, also while it is not decided whether that is a rule.
    """
    where = LessonFilter(project=location.project.id, states=LIVING, limit=NEIGHBOURS)
    lessons = services.store.find(where)
    return [lesson for lesson in lessons if lesson.trust == "person" and lesson.state != "quarantined"]


def is_ruled_out(lesson: Lesson, rules: Iterable[Lesson]) -> bool:
    """Return whether the lesson says to run what a rule forbids or itself says to run, and no person stated it."""
    if lesson.trust == "person" or not profile_of(lesson.kind).is_instruction:
        return False
    lines = [line for line in lesson.how.splitlines() if simple_commands(line)]
    return any(
        forbids(rule.insight, line) or (lesson.topic_key.startswith(CARDS) and says_to_run(rule.insight, line))
        for rule in rules
        for line in lines
    )


def retire_ruled_out(services: Services, location: Location) -> None:
    """Retire the active lessons, learnt from what agents ran, that a person's rule forbids or states by itself."""

    def step() -> None:
        where = LessonFilter(project=location.project.id, states=("active",), limit=NEIGHBOURS)
        lessons = services.store.find(where)
        rules = [lesson for lesson in lessons if is_persons_rule(lesson)]
        out = [lesson for lesson in lessons if is_ruled_out(lesson, rules)]
        if out:
            at = services.clock.now()
            after = [in_state(lesson, "retired", at=at) for lesson in out]
            expected = {lesson.id: lesson.recorded_at for lesson in out}
            write_change(
                services, location, "learn", after, expected, summary="a person's rule decides on this command"
            )

    with_retries(step)
