"""Tidies a memory that has outgrown the brief without a person, as the learner does, at most once a day and project.

The user's own memory is tidied at once, which `tidy --undo` takes back. What changes a shared lesson or closes one that
a person stated is kept as a proposal: memory that a team shares is reviewed, and only a person closes a person's rule.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import TIDYING
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import HoldfastError
from holdfast.lean.plain import parse_instant
from holdfast.lean.texts import loads
from holdfast.ports.services import Services
from holdfast.publishing.sync import shared_lessons
from holdfast.upkeep.tidying.checks import check, is_stated
from holdfast.upkeep.tidying.proposal import RULE, Proposal, Step
from holdfast.upkeep.tidying.tidy import OUTGROWN, ModelSource, apply, keep, living, note_tidied, outgrown, propose

GROWN = 1.2
"""How many times as many lessons as after the last tidying make the next one worth its time."""
PAUSE = timedelta(days=1)
"""Least time between two tidyings of a project."""


def tidy_when_due(services: Services, location: Location, open_model: ModelSource = lambda: None) -> Proposal | None:
    """Tidy the project's memory if it is due; return the proposal, a part of which may wait for a person, or None.

    A model that fails is asked again on the next day; what the rules found is applied meanwhile.
    """
    lessons = living(services, location)
    tidied_at, count = _last_time(services, location)
    if not _is_due(lessons, services.clock.now(), tidied_at, count):
        return None
    proposal = propose(services, location, open_model)
    shared = shared_lessons(services, location)
    persons = frozenset(lesson.id for lesson in lessons if is_stated(lesson))
    own, rest = _split(proposal.steps, shared, persons)
    if own:
        apply(services, location, replace(proposal, steps=own))
    left = {lesson.id: lesson for lesson in living(services, location)}
    rest, _ = check(rest, left, shared)
    keep(services, location, replace(proposal, steps=rest) if rest else None)
    note_tidied(services, location, count if proposal.failure else None)
    return proposal


def _split(
    steps: Sequence[Step], shared: Container[LessonId], persons: frozenset[LessonId]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the steps that need nobody, and those for a person.

    These change a shared lesson, close a person's, or retire what a model thinks needless: in the replay of real
    sessions that lost needs, while merges lost none.
    """
    own: list[Step] = []
    rest: list[Step] = []
    for step in steps:
        if step.lesson in shared or (step.verb == "retire" and step.by != RULE):
            rest.append(step)
            continue
        if theirs := persons.intersection(step.replaces):
            rest.append(replace(step.replacing(theirs), title=""))
        ours = step.replacing(frozenset(step.replaces) - persons)
        if ours.replaces or step.verb != "merge":
            own.append(ours)
    return tuple(own), tuple(rest)


def _is_due(lessons: Sequence[Lesson], now: datetime, tidied_at: datetime | None, count: int) -> bool:
    if tidied_at is not None and (now - tidied_at < PAUSE or len(lessons) < GROWN * count):
        return False
    return outgrown(lessons) > OUTGROWN


def _last_time(services: Services, location: Location) -> tuple[datetime | None, int]:
    """Return when the memory was tidied last and how many lessons were living then; None and 0 if it never was."""
    try:
        record = loads(services.store.get_state(TIDYING, location.project.id) or "{}")
        return parse_instant(record["at"]), int(record["living"])
    except (HoldfastError, KeyError, TypeError, ValueError):
        return None, 0
