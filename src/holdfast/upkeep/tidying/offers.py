"""Offers: what tidying proposes as items of the review queue, each to be accepted or refused alone.

They need no model: the rules find them, and what a model proposed earlier and still waits is among them. A step that a
person refused is not offered again while its lessons say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import LessonId
from holdfast.lean.texts import short_id
from holdfast.ports.services import Services
from holdfast.publishing.sync import shared_lessons
from holdfast.reports.reviewqueue import (
    DiffLine,
    QueueItem,
    ReviewItem,
    in_order,
    make_item,
    place_in_queue,
    reviewed,
    word_lines,
)
from holdfast.reports.tuning import TEXT_SHOWN
from holdfast.text.window import clip
from holdfast.upkeep.tidying.checks import check
from holdfast.upkeep.tidying.proposal import Step
from holdfast.upkeep.tidying.refusals import digest_of, refused_digests
from holdfast.upkeep.tidying.tidy import lessons_of, living, outcome, pending, propose


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A step with its item of the queue."""

    item: QueueItem
    step: Step


def collect_offers(services: Services, location: Location, tellings: Mapping[LessonId, int]) -> list[Offer]:
    """Return what is proposed for the memory now, without asking a model. Takes seconds in a large memory."""
    waits = pending(services, location)
    proposed = propose(services, location)
    lessons = {lesson.id: lesson for lesson in living(services, location)}
    stored = waits.steps if waits is not None else ()
    steps, _ = check([*stored, *proposed.steps], lessons, shared_lessons(services, location))
    offers = {offer.item: offer for offer in (_make_offer(step, lessons, tellings) for step in steps)}
    return [offers[item] for item in in_order(offers)]


def look_at_offers(
    services: Services,
    location: Location,
    offers: Sequence[Offer],
    *,
    sees: Callable[[Lesson], bool] = lambda lesson: True,
) -> dict[str, ReviewItem]:
    """Return those of the offers that can still be accepted, by their keys, with their lessons as they are now."""
    shared = shared_lessons(services, location)
    refused = refused_digests(services, location)
    ids = dict.fromkeys(id_ for offer in offers for id_ in offer.step.ids)
    lessons = {lesson.id: lesson for lesson in lessons_of(services, location, list(ids)) if sees(lesson)}
    looks: dict[str, ReviewItem] = {}
    for offer in offers:
        steps, _ = check([offer.step], lessons, shared)
        if steps and offer.item.digest not in refused:
            looks[offer.item.key] = _look(services, offer, lessons)
    return looks


def _make_offer(step: Step, lessons: Mapping[LessonId, Lesson], tellings: Mapping[LessonId, int]) -> Offer:
    named = [lessons[id_] for id_ in step.ids]
    area, session = place_in_queue(named[0])
    item = QueueItem(
        kind="tidy", lessons=step.ids, at=max(lesson.recorded_at for lesson in named), reason=step.reason,
        told=max(tellings.get(lesson.id, 0) for lesson in named), digest=digest_of(step), area=area, session=session,
    )  # fmt: skip
    return Offer(item=item, step=step)


def _look(services: Services, offer: Offer, lessons: Mapping[LessonId, Lesson]) -> ReviewItem:
    step = offer.step
    stays = lessons[step.lesson]
    result = outcome(services, step, lessons)[step.lesson]
    look = make_item(offer.item, [reviewed(lessons[id_]) for id_ in step.ids])
    if step.verb == "retire":
        return replace(look, diff=tuple(_gone(stays)))
    lines = [line for id_ in step.replaces for line in _gone(lessons[id_])]
    return replace(look, diff=(*lines, *word_lines(stays, result)), replaces=", ".join(map(short_id, step.replaces)))


def _gone(lesson: Lesson) -> list[DiffLine]:
    return [
        DiffLine(mark="-", text=clip(text, TEXT_SHOWN)) for text in (lesson.insight, lesson.why, lesson.how) if text
    ]
