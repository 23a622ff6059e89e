"""Explain: shows why a lesson is believed: its origin, the state of its code, and its outcomes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from math import inf

from holdfast.capture.sessionevents import session_events
from holdfast.domain.event import Event
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.project import Location
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import Freshness
from holdfast.freshness.check import FreshnessCheck, worst
from holdfast.freshness.compare import changing_commit
from holdfast.freshness.verify import STALE
from holdfast.lessons.lookup import LessonHistory, history, resolve
from holdfast.outcomes.standing import Standing, standing_now
from holdfast.ports.services import Services
from holdfast.ranking.multipliers import multipliers


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorState:
    """An anchor of a lesson and the state of its code."""

    anchor: Anchor
    verdict: Verdict
    commit: str = ""
    """The commit that changed the code; `-` while the change is uncommitted; empty if the code is fresh or it is
    unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """How far a lesson has aged, and the effect on its score."""

    age_days: float
    """Since its current version."""
    half_life_days: float
    """Days until half of its recency is gone; 0 for a pinned lesson, which does not age."""
    factor: float
    """The factor of its score in an explicit query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything that is known about one lesson."""

    lesson: Lesson
    freshness: Freshness
    caveat: str
    subjects: tuple[AnchorState, ...]
    history: LessonHistory
    standing: Standing = field(default_factory=Standing)
    """The sum of its outcomes."""
    decay: Decay


def explain(services: Services, location: Location, ref: str) -> Explanation:
    """Return provenance, anchors with verdicts and commits, deliveries and outcomes; raises as `lookup.resolve`."""
    lesson = resolve(services, location, ref)
    anchor_verdicts = FreshnessCheck(services, location, within_s=inf).anchor_verdicts(lesson)
    freshness, caveat = worst(anchor_verdicts)
    return Explanation(
        lesson=lesson,
        freshness=freshness,
        caveat=caveat,
        subjects=tuple(_subject(services, location, *look) for look in anchor_verdicts),
        history=history(services, lesson.id),
        standing=standing_now(services.store, lesson),
        decay=_decay(lesson, services.clock.now()),
    )


def _decay(lesson: Lesson, now: datetime) -> Decay:
    factor = dict(multipliers(lesson, "unanchored", now))["recency"]
    age_days = max(0.0, (now - lesson.recorded_at).total_seconds() / 86_400)
    return Decay(
        age_days=age_days,
        half_life_days=0.0 if lesson.pinned else profile_of(lesson.kind).half_life_days,
        factor=factor,
    )


def _subject(services: Services, location: Location, anchor: Anchor, verdict: Verdict) -> AnchorState:
    commit = changing_commit(services, location, anchor, verdict) if verdict.freshness in STALE else ""
    return AnchorState(anchor=anchor, verdict=verdict, commit=commit)


# Surrounding: the conversation around the words that a lesson rests on, for the person who decides about it


SPOKEN = ("prompt", "reply")


def find_surrounding(services: Services, location: Location, lesson: Lesson) -> list[Event]:
    """Return prompt and reply before the lesson's first evidence, and those after it, in order; at most four.

    The answer is empty where the session is unknown or its texts were erased. Evidence itself counts as before.
    """
    source = lesson.provenance
    if not source.session or not source.evidence:
        return []
    events = session_events(services, location.project.id, source.session)
    evidence = {span.event for span in source.evidence}
    at = next((index for index, event in enumerate(events) if event.id in evidence), -1)
    if at < 0:
        return []
    before = [_nearest(events[at::-1], kind) for kind in SPOKEN]
    after = [_nearest(events[at + 1 :], kind) for kind in SPOKEN]
    chosen = {event.id: event for event in (*before, *after) if event is not None}
    return sorted(chosen.values(), key=lambda event: event.at)


def _nearest(events: list[Event], kind: str) -> Event | None:
    return next((event for event in events if event.kind == kind and event.text.strip()), None)
