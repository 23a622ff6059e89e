"""Follows what becomes of a claim: floated, decided, shipped, amended.

A model says whether its lesson was only an idea, and git shows whether its names landed in a commit since. An idea that
did not land within FLOATED_DAYS is retired, in a change that `undo` takes back. Amended is a claim that a later one
replaced, which the state `superseded` says.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.curation.tuning import (
    CLAIMS_FOLLOWED,
    CLAIMS_READ,
    FLOATED_DAYS,
    LEAST_NAME,
    LONGEST_NAME,
    NAMES_LOOKED_FOR,
)
from holdfast.domain.kinds import KIND_PROFILES
from holdfast.domain.lesson import Lesson, in_state
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import FLOATED, SHIPPED, LessonId
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.text.meaning import read

DECIDING = tuple(kind for kind, profile in KIND_PROFILES.items() if profile.family == "rule")
"""Kinds whose claims are decided and then shipped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsReport:
    """What became of claims."""

    shipped: tuple[LessonId, ...] = ()
    faded: tuple[LessonId, ...] = ()
    """Ideas that never landed."""


def status_of(lesson: Lesson) -> str:
    """Return `floated`, `decided`, `shipped` or `amended`; empty for a kind that nobody decides."""
    if FLOATED in lesson.tags:
        return "floated"
    if lesson.kind not in DECIDING:
        return ""
    if lesson.state == "superseded":
        return "amended"
    return "shipped" if SHIPPED in lesson.tags else "decided"


def settle_claims(services: Services, location: Location) -> ClaimsReport:
    """Mark the claims that landed in a commit, and retire ideas that did not in time. Idempotent."""

    def step() -> ClaimsReport:
        now = services.clock.now()
        where = LessonFilter(project=location.project.id, states=("active",), kinds=DECIDING, limit=CLAIMS_READ)
        claims = [lesson for lesson in services.store.find(where) if SHIPPED not in lesson.tags]
        ideas = [lesson for lesson in claims if FLOATED in lesson.tags]
        recent = [lesson for lesson in claims if FLOATED not in lesson.tags and _age(lesson, now) <= FLOATED_DAYS]
        before: list[Lesson] = []
        after: list[Lesson] = []
        for number, lesson in enumerate((*ideas, *recent)):
            if number < CLAIMS_FOLLOWED and _has_landed(services, location, lesson):
                tags = (*(tag for tag in lesson.tags if tag != FLOATED), SHIPPED)
                after.append(replace(lesson, tags=tags, recorded_at=now))
            elif FLOATED in lesson.tags and _age(lesson, now) > FLOATED_DAYS:
                after.append(in_state(lesson, "retired", at=now))
            else:
                continue
            before.append(lesson)
        if after:
            expected = {lesson.id: lesson.recorded_at for lesson in before}
            write_change(services, location, "settle", after, expected, summary="claims that landed or faded")
        return ClaimsReport(
            shipped=tuple(lesson.id for lesson in after if lesson.state == "active"),
            faded=tuple(lesson.id for lesson in after if lesson.state != "active"),
        )

    return with_retries(step)


def _age(lesson: Lesson, now: datetime) -> float:
    """Return the days since which the lesson holds."""
    return (now - lesson.validity.valid_from).total_seconds() / 86_400


def _has_landed(services: Services, location: Location, lesson: Lesson) -> bool:
    """Return whether a commit after the lesson's first anchor added or removed one of the names that it tells."""
    since = next((anchor.commit for anchor in lesson.anchors if anchor.commit), "")
    if not since:
        return False
    history = services.workspace.history(location)
    names = [name for name in read(lesson.insight).names if LEAST_NAME <= len(name) <= LONGEST_NAME and "/" not in name]
    return any(history.list_touching(".", since, name) for name in names[:NAMES_LOOKED_FOR])
